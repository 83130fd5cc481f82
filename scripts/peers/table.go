//go:build linux

package main

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/template"

	"github.com/dustin/go-humanize"

	"dlbench/results"
)

//go:embed table.md.tmpl
var tableText string

var tableTemplate = template.Must(template.New("table").Parse(tableText))

// page is what the table is made of.
type page struct {
	*report
	Machine, Software, Size, Base string
	Least                         int // rounds for an interval
	Rows                          []row
	Decoding, Interrupted         bool
}

// row is what the table says of a peer.
type row struct {
	Name, Does                              string
	Cores                                   int
	Measured, Whole                         bool
	Rate, CPURate, Ratio, CPURatio, Verdict string
}

// table writes the report as Markdown.
func (r *report) table(w io.Writer) error {
	p := page{report: r, Machine: r.machine(), Software: r.software(), Size: humanize.Bytes(uint64(r.Dataset.Bytes)),
		Base: "dlbench", Least: results.MinSamples, Interrupted: r.Status != results.Complete}
	for i, c := range r.cases {
		row := c.row(&r.Results[i])
		p.Rows = append(p.Rows, row)
		p.Decoding = p.Decoding || row.Measured && !row.Whole
		if strings.HasPrefix(c.name, own) && len(c.passes) > 0 && baseline(r.cases, c) == nil {
			p.Base = c.name
		}
	}
	return tableTemplate.Execute(w, p)
}

// row is what res, the case's result, says.
func (c *measuredCase) row(res *results.Result) row {
	w := row{Name: c.name, Cores: c.cores, Whole: c.whole(), Measured: res.Status == results.OK}
	if !w.Measured {
		w.Does = res.Status + ": " + res.Reason
		return w
	}
	w.Does = c.hello.Does
	if v := c.hello.Software["libjpeg-turbo"]; v != "" {
		w.Does += "; libjpeg-turbo " + v
	}
	ratio := res.Metric(cpuRatio)
	w.Rate, w.CPURate = number(res.Metric(throughput), 0), number(inverse(res.Metric(cpu)), 0)
	w.Ratio, w.CPURatio, w.Verdict = number(res.Metric(throughputRatio), 3), number(ratio, 3), verdict(ratio)
	return w
}

// machine is the CPU and the memory.
func (r *report) machine() string {
	model := cmp.Or(r.Host.CPU.Model, "unknown CPU")
	if v := r.Host.Virtualization; v != "" && v != "none" && v != "unknown" {
		model += ", a virtual machine"
	}
	return model + ", " + humanize.IBytes(uint64(r.Host.Memory.Total))
}

// software names the versions of all peers; the libjpeg-turbo of each is its own.
func (r *report) software() string {
	versions := map[string]bool{}
	for _, c := range r.cases {
		for name, v := range c.hello.Software {
			if name != "libjpeg-turbo" {
				versions[name+" "+v] = true
			}
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(versions)), ", ")
}

// number is a metric's median and interval, or its range in parentheses.
func number(m *results.Metric, decimals int) string {
	switch {
	case m == nil:
		return "-"
	case m.Lo == nil:
		return fmt.Sprintf("%.[4]*[1]f (%.[4]*[2]f, %.[4]*[3]f)", m.Median, m.Min, m.Max, decimals)
	}
	return fmt.Sprintf("%.[4]*[1]f [%.[4]*[2]f, %.[4]*[3]f]", m.Median, *m.Lo, *m.Hi, decimals)
}

// inverse is a metric's reciprocal: images per second of seconds per image.
func inverse(m *results.Metric) *results.Metric {
	n := &results.Metric{Median: 1 / m.Median, Min: 1 / m.Max, Max: 1 / m.Min}
	if m.Lo != nil {
		lo, hi := 1 / *m.Hi, 1 / *m.Lo
		n.Lo, n.Hi = &lo, &hi
	}
	return n
}

// verdict says which is faster only where the whole interval does.
func verdict(ratio *results.Metric) string {
	switch {
	case ratio == nil:
		return "-"
	case ratio.Lo == nil:
	case *ratio.Lo > 1:
		return "ahead"
	case *ratio.Hi < 1:
		return "behind"
	}
	return "inconclusive"
}
