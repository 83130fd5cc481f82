package page

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"html/template"
	"regexp"
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
	SVG   []byte // as package chart draws it, with every text escaped
}

// draw adds drawings of the charts, as far as ctx does not end, and sentences on those
// that cannot be drawn.
func (o *options) draw(ctx context.Context, charts []chart.Chart) {
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
	ID          int // from 1
	Name, Title string
	Suite       *suite // whose tables hold its figures; nil where there are none
	Text        string // what is written in it, for who does not see it
	SVG         template.HTML
}

// drawingText bounds drawing.Text, in characters.
const drawingText = 1500

// addCharts adds the charts that fit into room bytes and lowers room. It returns a
// sentence for each that it left out.
func (d *document) addCharts(charts []picture, room *int) (left []string) {
	var c classes
	for _, p := range charts {
		before := c
		g := drawing{ID: len(d.Drawings) + 1, Name: p.Name, Title: results.Plain(p.Title)}
		svg, texts := inline(p.SVG, g.ID, &c)
		g.Text = results.Clip(strings.Join(texts, "; "), drawingText)
		// The title and a little around it stand twice.
		size := len(svg) + len(g.Text) + 3*len(g.Title) + 600 + len(c.css()) - len(before.css())
		if size > *room {
			left = append(left, fmt.Sprintf("The chart %s would not fit (%s): dlbench plot draws it.", p.Name,
				results.FormatValue(float64(size), results.Bytes)))
			c = before
			continue
		}
		*room -= size
		g.SVG = template.HTML(svg)
		name, _, _ := strings.Cut(p.Name, "-")
		if i := slices.IndexFunc(d.Suites, func(s suite) bool { return s.Name == name && len(s.Tables) > 0 }); i >= 0 {
			g.Suite = &d.Suites[i]
		}
		d.Drawings = append(d.Drawings, g)
	}
	d.Style += template.CSS(c.css())
	return left
}

// Parts of a drawing: what stands before its first shape, with its size, its texts, and
// the styles of its elements.
var (
	headOf  = regexp.MustCompile(`(?s)^.*?<svg [^>]*?(width=[^>]*) role="img">.*?</title>\n`)
	textOf  = regexp.MustCompile(`<text[^>]*>([^<]*)</text>`)
	styleOf = regexp.MustCompile(`\s+style="([^"]*)"`)
)

// inline makes a drawing an element for the body of a page, and returns the texts in it.
// Its styles become classes; the XML declaration and the title go, as the page has its own.
func inline(doc []byte, id int, c *classes) (svg []byte, texts []string) {
	for _, m := range textOf.FindAllSubmatch(doc, -1) {
		texts = append(texts, html.UnescapeString(string(m[1])))
	}
	head := fmt.Sprintf(`<svg role="img" aria-labelledby="chart-%d-title" aria-describedby="chart-%d-text" $1>`, id, id)
	svg = headOf.ReplaceAll(doc, []byte(head+"\n"))
	svg = styleOf.ReplaceAllFunc(svg, func(style []byte) []byte {
		return fmt.Appendf(nil, ` class="d%d"`, c.of(string(styleOf.FindSubmatch(style)[1])))
	})
	return svg, texts
}

// classes are the styles of all drawings, each once: as attributes they would be most
// of a page. The class of styles[i] is "di".
type classes struct{ styles []string }

// of returns the number of a style.
func (c *classes) of(style string) int {
	c.styles = results.AppendNew(slices.Clip(c.styles), style)
	return slices.Index(c.styles, style)
}

func (c *classes) css() string {
	var b strings.Builder
	for i, s := range c.styles {
		fmt.Fprintf(&b, ".d%d{%s}\n", i, s)
	}
	return b.String()
}
