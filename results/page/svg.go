package page

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"dlbench/results"
	"dlbench/results/chart"
)

// picture is a chart as it was drawn.
type picture struct {
	Name  string // pcie-batch-time: what stands before the first dash is its suite
	Title string
	SVG   []byte // paths and texts in groups
}

// draw adds drawings of the charts, as far as ctx does not end, and sentences on those
// that cannot be drawn.
func (o *options) draw(ctx context.Context, charts []chart.Chart) {
	drawings, errs := make([]bytes.Buffer, len(charts)), make([]error, len(charts))
	var work sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, c := range charts {
		slots <- struct{}{}
		work.Go(func() {
			defer func() { <-slots }()
			if errs[i] = ctx.Err(); errs[i] == nil {
				errs[i] = c.Write(&drawings[i], chart.SVG)
			}
		})
	}
	work.Wait()
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
		svg, texts, err := inline(p.SVG, g.ID, &c)
		if err != nil {
			left = append(left, fmt.Sprintf("The chart %s is no plain drawing (%v).", p.Name, err))
			c = before
			continue
		}
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

// drawn are the elements of a drawing, and plainValue what their attributes may hold.
// Neither can name anything outside of the drawing, nor an id in the page.
var (
	drawn      = []string{"g", "path", "text"}
	kept       = []string{"x", "y", "d", "transform", "viewBox", "width", "height"}
	plainValue = regexp.MustCompile(`^[A-Za-z0-9 ,.()+-]*$`)
)

// inline writes the SVG document as an element for the body of a page, and returns
// the texts in it. It takes the elements and attributes above and refuses others; the
// XML declaration, ids and comments go, and styles become classes.
func inline(doc []byte, id int, c *classes) (svg []byte, texts []string, err error) {
	var b bytes.Buffer
	d := xml.NewDecoder(bytes.NewReader(doc))
	var open []string
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			name := tok.Name.Local
			switch {
			case name == "svg" && len(open) == 0:
				fmt.Fprintf(&b, `<svg role="img" aria-labelledby="chart-%d-title" aria-describedby="chart-%d-text"`,
					id, id)
			case len(open) == 0:
				return nil, nil, fmt.Errorf("it is a %.20q", name)
			case name == "title" || name == "desc": // the page has its own
				if err := d.Skip(); err != nil {
					return nil, nil, err
				}
				continue
			case !slices.Contains(drawn, name):
				return nil, nil, fmt.Errorf("it has a %.20q in it", name)
			default:
				b.WriteString("<" + name)
			}
			attributes(&b, tok.Attr, c)
			b.WriteByte('>')
			if name == "svg" {
				b.WriteByte('\n')
			}
			open = append(open, name)
		case xml.EndElement:
			b.WriteString("</" + open[len(open)-1] + ">")
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 && open[len(open)-1] == "text" {
				s := results.Plain(string(tok))
				texts = append(texts, s)
				template.HTMLEscape(&b, []byte(s))
			}
		}
	}
	if b.Len() == 0 {
		return nil, nil, errors.New("it is empty")
	}
	return b.Bytes(), texts, nil
}

// attributes writes those that a drawing needs.
func attributes(b *bytes.Buffer, attrs []xml.Attr, c *classes) {
	for _, a := range attrs {
		switch {
		case a.Name.Local == "style":
			if class := c.of(a.Value); class != "" {
				fmt.Fprintf(b, ` class="%s"`, class)
			}
		case slices.Contains(kept, a.Name.Local) && plainValue.MatchString(a.Value):
			fmt.Fprintf(b, ` %s="%s"`, a.Name.Local, a.Value)
		}
	}
}

// classes are the styles of all drawings, each once: as attributes they would be most
// of a page. The class of styles[i] is "di".
type classes struct{ styles []string }

// of returns the class for a style attribute, "" when nothing of it is kept.
func (c *classes) of(style string) string {
	var kept []string
	for declaration := range strings.SplitSeq(style, ";") {
		if m := declarationOf.FindString(declaration); m != "" && !strings.HasSuffix(m, ":normal") {
			kept = append(kept, m)
		}
	}
	if len(kept) == 0 {
		return ""
	}
	s := strings.Join(kept, ";")
	c.styles = results.AppendNew(slices.Clip(c.styles), s)
	return fmt.Sprintf("d%d", slices.Index(c.styles, s))
}

// declarationOf are the properties of a drawing with values that name nothing else.
var declarationOf = regexp.MustCompile(`^(fill|stroke|font|opacity)[a-z-]*:[A-Za-z0-9#.,' -]+$`)

func (c *classes) css() string {
	var b strings.Builder
	for i, s := range c.styles {
		fmt.Fprintf(&b, ".d%d{%s}\n", i, s)
	}
	return b.String()
}
