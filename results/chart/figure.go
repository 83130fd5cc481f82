package chart

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"dlbench/results"
)

// figure is a chart ready to draw, from top to bottom: title, subtitle, legend,
// axes with data, caption. All but the axes lie outside the data area.
type figure struct {
	title    string
	subtitle string
	legend   []entry
	plot     *plot.Plot
	x        string     // what the x axis shows; gonum's own label is misplaced on a logarithmic axis
	data     vg.Length  // height of the data area
	left     vg.Length  // strips next to and above the axes, in which plotters label their data
	right    vg.Length  //
	top      vg.Length  //
	caption  [][]string // a line or more for each report
}

// Distances between the parts of a figure.
const (
	margin = 16 * px
	gap    = 10 * px
)

// text returns the lines of title, subtitle and caption within width.
func (f *figure) text(width vg.Length) (title, subtitle, caption []string) {
	title = wrap(titleText, strings.Fields(f.title), " ", width)
	subtitle = wrap(subtitleText, strings.Fields(f.subtitle), " ", width)
	for _, parts := range f.caption {
		caption = append(caption, wrap(captionText, parts, " · ", width)...)
	}
	return title, subtitle, caption
}

// axes is the height that the x axis takes below the data area, without f.x.
func (f *figure) axes() vg.Length {
	c := draw.Canvas{Rectangle: vg.Rectangle{Max: vg.Point{X: 1000 * px, Y: 1000 * px}}}
	return f.plot.DataCanvas(c).Min.Y
}

// height of the whole figure when it is width wide.
func (f *figure) height(width vg.Length) vg.Length {
	width -= 2 * margin
	title, subtitle, caption := f.text(width)
	return margin + vg.Length(len(title))*lineHeight(titleText) + vg.Length(len(subtitle))*lineHeight(subtitleText) +
		gap + legendHeight(f.legend, width) +
		gap + f.top + f.data + f.axes() + lineHeight(labelText) +
		gap + vg.Length(len(caption))*lineHeight(captionText) + margin
}

// draw fills the canvas.
func (f *figure) draw(c draw.Canvas) {
	c = draw.Crop(c, margin, -margin, margin, -margin)
	title, subtitle, caption := f.text(c.Max.X - c.Min.X)
	y := c.Max.Y
	paragraph := func(sty text.Style, all []string) {
		for _, s := range all {
			write(c, sty, c.Min.X, y-sty.FontExtents().Ascent, s)
			y -= lineHeight(sty)
		}
	}
	paragraph(titleText, title)
	paragraph(subtitleText, subtitle)
	y -= gap
	y -= drawLegend(draw.Crop(c, 0, 0, 0, y-c.Max.Y), f.legend)
	y -= gap
	area := c
	area.Max.Y = y - f.top
	area.Min.Y = area.Max.Y - f.data - f.axes()
	area = draw.Crop(area, f.left, -f.right, 0, 0)
	f.plot.Draw(area)
	data := f.plot.DataCanvas(area)
	y = area.Min.Y - lineHeight(labelText)
	write(c, aligned(labelText, draw.XCenter), data.Center().X, y+0.25*labelText.Font.Size, f.x)
	y -= gap
	c.StrokeLine2(line(rule, 1), c.Min.X, y+gap/3, c.Max.X, y+gap/3)
	paragraph(captionText, caption)
}

// entry is one line of a legend: a sample of the stroke and what it means.
type entry struct {
	text   string
	sample func(c draw.Canvas) // fills the canvas that it is given
}

// Sizes of a legend's parts.
const (
	sampleWidth  = 26 * px
	sampleHeight = 12 * px
	sampleGap    = 6 * px
	entryGap     = 18 * px
	entryHeight  = 18 * px
)

// place is where an entry stands: its left end, from the legend's, and its row.
type place struct {
	x    vg.Length
	row  int
	text string // as it fits
}

// places sets entries in rows, from left to right.
func places(entries []entry, max vg.Length) (at []place, rows int) {
	x := vg.Length(0)
	for _, e := range entries {
		s := fit(labelText, e.text, max-sampleWidth-sampleGap)
		w := sampleWidth + sampleGap + width(labelText, s)
		if rows == 0 {
			rows = 1
		} else if x+w > max {
			x = 0
			rows++
		}
		at = append(at, place{x, rows - 1, s})
		x += w + entryGap
	}
	return at, rows
}

// legendHeight is the height that drawLegend takes of a canvas of that width.
func legendHeight(entries []entry, width vg.Length) vg.Length {
	_, rows := places(entries, width)
	return vg.Length(rows) * entryHeight
}

// drawLegend draws entries at the top of c and returns the height that it used.
func drawLegend(c draw.Canvas, entries []entry) vg.Length {
	at, rows := places(entries, c.Max.X-c.Min.X)
	for i, p := range at {
		x := c.Min.X + p.x
		mid := c.Max.Y - (vg.Length(p.row)+0.5)*entryHeight
		entries[i].sample(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: x, Y: mid - sampleHeight/2},
			Max: vg.Point{X: x + sampleWidth, Y: mid + sampleHeight/2},
		}})
		write(c, labelText, x+sampleWidth+sampleGap, mid-0.35*labelText.Font.Size, p.text)
	}
	return vg.Length(rows) * entryHeight
}

// boxEntry explains a colour.
func boxEntry(text string, fill color.Color) entry {
	return entry{text, func(c draw.Canvas) { fillBox(c, fill, c.Min.X, c.Min.Y, c.Max.X, c.Max.Y) }}
}

// strokeEntry explains a line.
func strokeEntry(text string, sty draw.LineStyle) entry {
	return entry{text, func(c draw.Canvas) { c.StrokeLine2(sty, c.Min.X, c.Center().Y, c.Max.X, c.Center().Y) }}
}

// glyphEntry explains what is drawn at a point.
func glyphEntry(text string, glyph func(draw.Canvas, vg.Point)) entry {
	return entry{text, func(c draw.Canvas) { glyph(c, c.Center()) }}
}

// spreadText says what whiskers are, "" where there are none.
func spreadText(intervals, ranges bool) string {
	switch {
	case intervals && ranges:
		return "95 % interval of the median, or range of few samples"
	case intervals:
		return "95 % interval of the median"
	case ranges:
		return "range of few samples"
	}
	return ""
}

// simulatedTitle adds to a title what was simulated, or that it is what is hollow where
// there is also what was measured.
func simulatedTitle(title string, parts []string, measured bool) string {
	if len(parts) == 0 {
		return title
	}
	s := results.List(title, "simulated "+results.AssumedText(parts))
	if measured {
		s += " where hollow"
	}
	return s
}

// Widths in pixels. Figures are laid out for layoutWidth, in which letters are at least 11
// pixels high, and drawn enlarged to pictureWidth.
const (
	layoutWidth  = 640
	pictureWidth = 1000
)

// maxHeight bounds a picture, in pixels of a layoutWidth picture: what a report
// holds must not decide how much memory its chart takes.
const maxHeight = 8000

// px is a pixel of a picture that is layoutWidth wide; SVG and PNG have 96 an inch.
const px = vg.Inch / 96

// size returns the width and height of the layout.
func (f *figure) size() (w, h vg.Length, err error) {
	w = layoutWidth * px
	h = f.height(w)
	if h > maxHeight*px {
		return 0, 0, fmt.Errorf("%.0f pixels high: more data than one picture can show", float64(h/px))
	}
	return w, h, nil
}

// writePNG draws f as a PNG. Letters are drawn at the picture's own resolution.
func (f *figure) writePNG(w io.Writer) error {
	_, h, err := f.size()
	if err != nil {
		return err
	}
	const dpi = 96 * pictureWidth / layoutWidth
	height := int(h.Dots(dpi) + 0.5)
	c := vgimg.NewWith(vgimg.UseImage(image.NewRGBA(image.Rect(0, 0, pictureWidth, height))), vgimg.UseDPI(dpi))
	all := draw.New(raster{c})
	fillBox(all, paper, all.Min.X, all.Min.Y, all.Max.X, all.Max.Y)
	f.draw(all)
	return (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(w, c.Image())
}

// raster draws text with the kerning for which it was laid out: the face that
// vgimg draws with scales kerning by the font's units instead of its size, which
// at 11 pixels closes the gap before an A.
type raster struct{ *vgimg.Canvas }

// FillString implements vg.Canvas. It draws s in parts, cut where letters are
// kerned, and a box for what the font lacks, which would be a blank.
func (c raster) FillString(f font.Face, pt vg.Point, s string) {
	s = strings.Map(func(r rune) rune {
		if lacks(f, r) {
			return '□'
		}
		return r
	}, s)
	start, prev := 0, ""
	fill := func(end int) {
		at := vg.Point{X: pt.X + f.Width(s[:end]) - f.Width(s[start:end]), Y: pt.Y}
		c.Canvas.FillString(f, at, s[start:end])
		start = end
	}
	for i, r := range s {
		if prev != "" && f.Width(prev+string(r)) != f.Width(prev)+f.Width(string(r)) {
			fill(i)
		}
		prev = string(r)
	}
	fill(len(s))
}

// fontFamily replaces the one family that vgsvg names. Arial and Helvetica have
// the same letter widths as Liberation Sans, so the layout holds without it.
var fontFamily = [2][]byte{
	[]byte("font-family:Liberation Sans;"),
	[]byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;"),
}

// writeSVG draws f as an SVG document on no ground, which refers to nothing outside of itself.
func (f *figure) writeSVG(w io.Writer) error {
	lw, lh, err := f.size()
	if err != nil {
		return err
	}
	c := vgsvg.New(lw, lh)
	f.draw(draw.New(c))
	var doc bytes.Buffer
	if _, err := c.WriteTo(&doc); err != nil {
		return err
	}
	// vgsvg's own element gives the size in points and has no title.
	_, body, ok := bytes.Cut(doc.Bytes(), []byte("xlink\">\n"))
	if !ok {
		return fmt.Errorf("no svg element at the start of the drawing")
	}
	body = bytes.ReplaceAll(body, fontFamily[0], fontFamily[1])
	var title bytes.Buffer
	if err := xml.EscapeText(&title, []byte(f.title)); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%.0f" viewBox="0 0 %.5g %.5g" role="img">
<title>%s</title>
%s%s`, pictureWidth, lh.Points()/lw.Points()*pictureWidth, lw.Points(), lh.Points(), title.Bytes(), darkScheme, body)
	return err
}
