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

// drawing is a chart as it stands in a page.
type drawing struct {
	Title string
	Src   template.URL
}

// draw adds drawings of the charts but those that show mainly a simulation, and sentences on
// what cannot be drawn.
func (d *document) draw(ctx context.Context, charts []chart.Chart) error {
	charts = slices.DeleteFunc(charts, func(c chart.Chart) bool {
		if c.Simulated {
			d.Simulated = append(d.Simulated, c.Name)
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
			d.Left = append(d.Left, strings.ToUpper(err.Error()[:1])+err.Error()[1:]+".")
			continue
		}
		d.add(c.Name, c.Title, drawings[i].Bytes())
	}
	return ctx.Err()
}

// add adds the chart of that name to where it stands: on top, with the checks, or with its
// suite, which its name begins with.
func (d *document) add(name, title string, svg []byte) {
	to := &d.Checks
	kind, _, _ := strings.Cut(name, "-")
	if kind == "loaders" {
		kind = "external"
	}
	if i := slices.IndexFunc(d.Suites, func(s suite) bool { return s.Name == kind }); i >= 0 {
		to = &d.Suites[i].Charts
	}
	if name == "pipeline-time" || name == "verdict-whatifs" {
		to = &d.Top
	}
	*to = append(*to, drawing{results.Plain(title),
		template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(svg))})
}
