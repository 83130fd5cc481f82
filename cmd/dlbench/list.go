package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"dlbench/bench"
	"dlbench/bench/external"
	"dlbench/bench/suites"
	"dlbench/bench/theory"
	"dlbench/cuda"
	"dlbench/results"
	"dlbench/results/encode"
)

// listing is what `dlbench list --format json` prints.
type listing struct {
	Suites  []listedSuite  `json:"suites"`
	Devices []listedDevice `json:"devices"`
	Missing string         `json:"missing,omitempty"` // why there is no CUDA device
	GPUs    []theory.GPU   `json:"gpus"`              // that --gpu knows
	Loaders []string       `json:"loaders"`           // that --loader knows
}

type listedSuite struct {
	Name string           `json:"name"`
	Doc  string           `json:"doc"`
	Axes []bench.AxisInfo `json:"axes"`
}

type listedDevice struct {
	Spec    string `json:"spec"`
	Name    string `json:"name"`
	Assumed bool   `json:"assumed"`
	Source  string `json:"source,omitempty"`
}

func newList() *cobra.Command {
	c := &cobra.Command{Use: "list"}
	c.RunE = func(c *cobra.Command, _ []string) error {
		l, err := list()
		if err != nil {
			return err
		}
		text := func(w io.Writer) error { return encode.WriteText(w, textWidth(c), l.tables()...) }
		return forms{"text": text, "json": jsonOf(l)}.print(c)
	}
	addFormat(c, "text", "json")
	return c
}

func list() (listing, error) {
	devices, missing, err := cuda.Open([]theory.Device{{Text: "auto", Auto: true}})
	if err != nil {
		return listing{}, err
	}
	l := listing{Devices: []listedDevice{}, GPUs: theory.GPUs, Loaders: external.Adapters()}
	for _, s := range suites.All {
		l.Suites = append(l.Suites, listedSuite{s.Name, s.Doc, s.Axes})
	}
	for _, d := range devices {
		info := d.Info()
		l.Devices = append(l.Devices, listedDevice{info.Spec, info.Name, info.Assumed, info.Source})
		d.Close()
	}
	if missing != nil {
		l.Missing = missing.Error()
	}
	return l, nil
}

func (l listing) tables() (ts []encode.Table) {
	for _, s := range l.Suites {
		t := encode.NewTable("suite " + s.Name + ": " + s.Doc)
		for _, a := range s.Axes {
			t.Row("-a "+a.Name+"=", strings.Join(a.Values, ", "), a.Doc)
		}
		ts = append(ts, t)
	}
	t := encode.NewTable("devices that --device auto uses here")
	for _, d := range l.Devices {
		t.Row(d.Spec, d.Name)
		if d.Source != "" {
			t.Sources = []string{d.Source}
		}
	}
	if l.Missing != "" {
		t.AddNote("", "", "no GPU here, links are simulated ("+l.Missing+")")
	}
	loaders := "loaders that --loader knows: " + strings.Join(l.Loaders, ", ") + " (dlbench help loaders)"
	return append(ts, t, gpuTable(), encode.Section("", loaders))
}

// gpuTable has the GPUs whose need is published, with where each figure is from.
func gpuTable() encode.Table {
	gpus := encode.NewTable("GPUs that --gpu knows, and the images/s that one and eight of them need",
		"name", "GPU", "model", "precision", "one", "eight", "source")
	var sources []string
	for i := range gpus.Columns {
		gpus.Columns[i].Number = i == 4 || i == 5
	}
	for _, g := range theory.GPUs {
		eight := results.NoValue
		if g.Rate8 > 0 {
			eight = fmt.Sprintf("%.0f", g.Rate8)
		}
		sources = results.AppendNew(sources, g.Source)
		source := slices.Index(sources, g.Source) + 1
		gpus.Row(g.Name, g.Title, g.Model, g.Precision, fmt.Sprintf("%.0f", g.Rate), eight, strconv.Itoa(source))
	}
	for i, s := range sources {
		gpus.Sources = append(gpus.Sources, fmt.Sprintf("source %d: %s", i+1, s))
	}
	return gpus
}
