package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"dlbench/bench"
	"dlbench/bench/external"
	"dlbench/bench/suites"
	"dlbench/bench/theory"
	"dlbench/cuda"
)

// listing is what `dlbench list --format json` prints.
type listing struct {
	Suites  []listedSuite  `json:"suites"`
	Devices []listedDevice `json:"devices"`
	Missing string         `json:"missing,omitempty"` // why there is no CUDA device
	GPUs    []listedGPU    `json:"gpus"`              // that --gpu knows
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

// listedGPU is a GPU with what it takes in, images/s.
type listedGPU struct {
	Name      string  `json:"name"`
	Title     string  `json:"title"`
	Model     string  `json:"model"`
	Precision string  `json:"precision"`
	Rate      float64 `json:"rate"`
	Rate8     float64 `json:"rate_8,omitempty"` // of eight together
	Source    string  `json:"source"`
	Emulated  bool    `json:"emulated,omitempty"`
}

func newList() *cobra.Command {
	c := &cobra.Command{Use: "list"}
	c.RunE = func(c *cobra.Command, _ []string) error {
		l, err := list()
		if err != nil {
			return err
		}
		return forms{"text": l.write, "json": jsonOf(l)}.print(c)
	}
	addFormat(c, "text", "json")
	return c
}

func list() (listing, error) {
	devices, missing, err := cuda.Open([]theory.Device{{Text: "auto", Auto: true}})
	if err != nil {
		return listing{}, err
	}
	l := listing{Suites: []listedSuite{}, Devices: []listedDevice{}, Loaders: external.Adapters()}
	for _, s := range suites.All {
		l.Suites = append(l.Suites, listedSuite{s.Name, s.Doc, s.Axes})
	}
	for _, d := range devices {
		info := d.Info()
		l.Devices = append(l.Devices, listedDevice{info.Spec, info.Name, info.Assumed, info.Source})
		d.Close()
	}
	for _, g := range theory.GPUs {
		l.GPUs = append(l.GPUs,
			listedGPU{g.Name, g.Title, g.Model, g.Precision, g.Rate, g.Rate8, g.Source, g.Emulated})
	}
	if missing != nil {
		l.Missing = missing.Error()
	}
	return l, nil
}

func (l listing) write(w io.Writer) error {
	for _, s := range l.Suites {
		fmt.Fprintf(w, "suite %s: %s\n", s.Name, s.Doc)
		lines := newColumns(w, 0)
		for _, a := range s.Axes {
			if len(a.Values) > 0 {
				lines.row("  -a %s=\t%s", a.Name, strings.Join(a.Values, ", "))
				lines.row("\t  %s", a.Doc)
			} else {
				lines.row("  -a %s=\t%s", a.Name, a.Doc)
			}
		}
		lines.Flush()
	}
	fmt.Fprintln(w, "\ndevices that --device auto uses here")
	lines := newColumns(w, 0)
	source := ""
	for _, d := range l.Devices {
		lines.row("  %s\t%s", d.Spec, d.Name)
		source = d.Source
	}
	lines.Flush()
	if source != "" {
		fmt.Fprintln(w, source)
	}
	if l.Missing != "" {
		fmt.Fprintf(w, "no GPU here, links are assumed (%s)\n", l.Missing)
	}
	fmt.Fprintln(w, "\nGPUs that --gpu knows, and images/s that one and eight of them take in")
	lines = newColumns(w, 0)
	for _, g := range l.GPUs {
		eight := "-"
		if g.Rate8 > 0 {
			eight = fmt.Sprintf("%.0f", g.Rate8)
		}
		lines.row("  %s\t%s\t%s\t%s\t%.0f\t%s\t%s", g.Name, g.Title, g.Model, g.Precision, g.Rate, eight, g.Source)
	}
	lines.Flush()
	fmt.Fprintf(w, "\nloaders that --loader knows: %s (dlbench help loaders)\n", strings.Join(l.Loaders, ", "))
	return nil
}
