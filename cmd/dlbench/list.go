package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"dlbench/bench/suites"
	"dlbench/cuda"
)

// listing is what `dlbench list --format json` prints.
type listing struct {
	Suites  []listedSuite  `json:"suites"`
	Devices []listedDevice `json:"devices"`
	Missing string         `json:"missing,omitempty"` // why there is no CUDA device
}

type listedSuite struct {
	Name string       `json:"name"`
	Doc  string       `json:"doc"`
	Axes []listedAxis `json:"axes"`
}

type listedAxis struct {
	Name   string   `json:"name"`
	Doc    string   `json:"doc"`
	Values []string `json:"values,omitempty"` // absent where values are free
}

type listedDevice struct {
	Spec    string `json:"spec"`
	Name    string `json:"name"`
	Assumed bool   `json:"assumed"`
	Source  string `json:"source,omitempty"`
}

func newList() *cobra.Command {
	var format *choiceFlag
	c := &cobra.Command{
		Use:   "list",
		Short: "Suites, their axes, and what can run here",
		RunE: func(c *cobra.Command, _ []string) error {
			l, err := list()
			if err != nil {
				return err
			}
			if format.value == "json" {
				return writeJSON(c.OutOrStdout(), l)
			}
			return buffered(c.OutOrStdout(), func(w io.Writer) error { return writeList(w, l) })
		},
	}
	format = choice(c, "format", "what to print", "text", "json")
	return c
}

func list() (listing, error) {
	devices, missing, err := cuda.Open([]cuda.Spec{{Text: "auto", Auto: true}})
	if err != nil {
		return listing{}, err
	}
	l := listing{Suites: []listedSuite{}, Devices: []listedDevice{}}
	for _, s := range suites.All {
		x := listedSuite{Name: s.Name, Doc: s.Doc}
		for _, a := range s.Axes {
			x.Axes = append(x.Axes, listedAxis{a.Name, a.Doc, a.Values})
		}
		l.Suites = append(l.Suites, x)
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

func writeList(w io.Writer, l listing) error {
	for _, s := range l.Suites {
		fmt.Fprintf(w, "suite %s: %s\n", s.Name, s.Doc)
		tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, a := range s.Axes {
			if len(a.Values) > 0 {
				fmt.Fprintf(tw, "  -a %s=\t%s\n", a.Name, strings.Join(a.Values, ", "))
				fmt.Fprintf(tw, "\t  %s\n", a.Doc)
			} else {
				fmt.Fprintf(tw, "  -a %s=\t%s\n", a.Name, a.Doc)
			}
		}
		tw.Flush()
	}
	fmt.Fprintln(w, "\ndevices that --device auto uses here")
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	source := ""
	for _, d := range l.Devices {
		fmt.Fprintf(tw, "  %s\t%s\n", d.Spec, d.Name)
		source = d.Source
	}
	tw.Flush()
	if source != "" {
		fmt.Fprintln(w, source)
	}
	if l.Missing != "" {
		fmt.Fprintf(w, "no GPU here, links are assumed (%s)\n", l.Missing)
	}
	return nil
}
