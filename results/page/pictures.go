package page

import (
	"bytes"
	"context"
	"encoding/base64"
	"html/template"
	"runtime"
	"slices"
	"strings"

	"dlbench/results"
	"dlbench/results/chart"
)

// picture is a chart as it was drawn.
type picture struct {
	Name  string // pcie-batch-time: what stands before the first dash is its suite
	Title string
	SVG   []byte
}

// draw adds drawings of the charts, as far as ctx does not end, and sentences on those
// that are left out: what cannot be drawn, and what shows mainly a simulation.
func (o *options) draw(ctx context.Context, charts []chart.Chart) {
	charts = slices.DeleteFunc(charts, func(c chart.Chart) bool {
		if c.Simulated {
			o.Simulated = append(o.Simulated, c.Name)
		}
		return c.Simulated
	})
	drawings := make([]bytes.Buffer, len(charts))
	errs := results.InParallel(len(charts), runtime.GOMAXPROCS(0), func(i int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return charts[i].Write(&drawings[i], chart.SVG)
	})
	for i, c := range charts {
		if err := errs[i]; err != nil {
			o.Notes = append(o.Notes, strings.ToUpper(err.Error()[:1])+err.Error()[1:]+".")
			continue
		}
		o.Charts = append(o.Charts, picture{c.Name, c.Title, drawings[i].Bytes()})
	}
}

// drawing is a picture made ready to stand in a page.
type drawing struct {
	Title string
	Src   template.URL
}

// addCharts adds the charts to where they stand.
func (d *document) addCharts(charts []picture) {
	for _, p := range charts {
		to := d.chartsOf(p.Name)
		*to = append(*to, drawing{results.Plain(p.Title),
			template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(p.SVG))})
	}
}

// chartsOf is where the chart of that name stands: on top, with the checks, or with its
// suite.
func (d *document) chartsOf(name string) *[]drawing {
	kind, _, _ := strings.Cut(name, "-")
	switch {
	case name == "pipeline-time" || name == "verdict-whatifs":
		return &d.Top
	case kind == "loaders":
		kind = "external"
	}
	for i := range d.Suites {
		if d.Suites[i].Name == kind {
			return &d.Suites[i].Charts
		}
	}
	return &d.Checks
}
