package chart

import (
	"cmp"
	"html"
	"image"
	"image/png"
	"io"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
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
	x, y     string    // what the axes show; gonum's own labels are misplaced on a logarithmic axis
	data     vg.Length // height of the data area
	left     vg.Length // strips next to and above the axes, in which plotters label their data
	right    vg.Length //
	top      vg.Length //
	reports  []*results.Report
}

// Distances between the parts of a figure.
const (
	margin = 16 * px
	gap    = 10 * px
)

// draw fills the canvas from its top and returns the height that it took.
func (f *figure) draw(whole draw.Canvas) vg.Length {
	c := draw.Crop(whole, margin, -margin, 0, -margin)
	paragraph := func(sty text.Style, parts []string, sep string) {
		for _, s := range wrap(sty, parts, sep, c.Max.X-c.Min.X) {
			write(c, sty, c.Min.X, c.Max.Y-sty.FontExtents().Ascent, s)
			c.Max.Y -= lineHeight(sty)
		}
	}
	paragraph(titleText, strings.Fields(f.title), " ")
	paragraph(subtitleText, strings.Fields(f.subtitle), " ")
	c.Max.Y -= gap
	c.Max.Y -= drawLegend(c, f.legend) + gap
	if f.y != "" {
		paragraph(labelText, []string{f.y}, "")
	}
	area := draw.Crop(c, f.left, -f.right, 0, -f.top)
	tall := draw.Canvas{Rectangle: vg.Rectangle{Max: vg.Point{X: 1000 * px, Y: 1000 * px}}}
	area.Min.Y = area.Max.Y - f.data - f.plot.DataCanvas(tall).Min.Y // of which ticks take that
	f.plot.Draw(area)
	c.Max.Y = area.Min.Y - lineHeight(labelText)
	data := f.plot.DataCanvas(area)
	write(c, labelText, data.Center().X-width(labelText, f.x)/2, c.Max.Y+0.25*labelText.Font.Size, f.x)
	c.StrokeLine2(line(rule, 1), c.Min.X, c.Max.Y-2*gap/3, c.Max.X, c.Max.Y-2*gap/3)
	c.Max.Y -= gap
	for _, parts := range captions(f.reports) {
		paragraph(captionText, parts, " · ")
	}
	return whole.Max.Y - c.Max.Y + margin
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

// drawLegend draws entries in rows from the top left of c and returns the height that it used.
func drawLegend(c draw.Canvas, entries []entry) vg.Length {
	x, mid := c.Min.X, c.Max.Y-entryHeight/2
	for _, e := range entries {
		s := fit(labelText, e.text, c.Max.X-c.Min.X-sampleWidth-sampleGap)
		end := x + sampleWidth + sampleGap + width(labelText, s)
		if end > c.Max.X && x > c.Min.X {
			end -= x - c.Min.X
			x, mid = c.Min.X, mid-entryHeight
		}
		e.sample(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: x, Y: mid - sampleHeight/2},
			Max: vg.Point{X: x + sampleWidth, Y: mid + sampleHeight/2},
		}})
		write(c, labelText, x+sampleWidth+sampleGap, mid-0.35*labelText.Font.Size, s)
		x = end + entryGap
	}
	if entries == nil {
		return 0
	}
	return c.Max.Y - mid + entryHeight/2
}

// strokeEntry explains a line.
func strokeEntry(text string, sty draw.LineStyle) entry {
	return entry{text, func(c draw.Canvas) { c.StrokeLine2(sty, c.Min.X, c.Center().Y, c.Max.X, c.Center().Y) }}
}

// glyphEntry explains what is drawn at a point.
func glyphEntry(text string, glyph func(draw.Canvas, vg.Point)) entry {
	return entry{text, func(c draw.Canvas) { glyph(c, c.Center()) }}
}

// explain adds to f what points show besides their medians: in the title machines and what was simulated,
// in the legend hollow marks as sample draws them, and what whiskers are, spread or as usual.
func (f *figure) explain(all []point, spread string, sample func(c draw.Canvas, hollow bool)) {
	if len(f.reports) > 1 {
		f.title += ", by machine"
	}
	parts, n := simulated(all)
	f.title = simulatedTitle(f.title, parts, n < len(all))
	if n > 0 && n < len(all) {
		f.legend = append(f.legend, entry{"measured", func(c draw.Canvas) { sample(c, false) }})
	}
	if n > 0 {
		f.legend = append(f.legend, entry{"simulated", func(c draw.Canvas) { sample(c, true) }})
	}
	if slices.ContainsFunc(all, func(p point) bool { return p.Spread != span{} }) {
		text := cmp.Or(spread, "95 % interval of the median, or range of few samples")
		f.legend = append(f.legend, entry{text, func(c draw.Canvas) {
			drawWhisker(c, c.Min.X+4*px, c.Max.X-4*px, c.Center().Y)
		}})
	}
}

// simulatedTitle adds to a title what was simulated, or that it is what is hollow where
// there is also what was measured.
func simulatedTitle(title string, parts []string, measured bool) string {
	if len(parts) == 0 {
		return title
	}
	simulated := "simulated " + short(results.AssumedText(parts))
	if measured {
		return title + " (hollow: " + simulated + ")"
	}
	return results.List(title, simulated)
}

// drawWhisker draws a range along the x axis.
func drawWhisker(c draw.Canvas, lo, hi, y vg.Length) {
	c.StrokeLine2(whiskerStroke, lo, y, hi, y)
	for _, x := range []vg.Length{lo, hi} {
		c.StrokeLine2(whiskerStroke, x, y-3*px, x, y+3*px)
	}
}

// stopHeight is the height of the name of a line above the data area.
var stopHeight = lineHeight(tickText) + 1*px

// drawStops draws the beginnings of upright lines, in ascending order, with their names
// above the data area, of which right is the strip that follows: the leftmost highest, so
// that no line crosses a name.
func drawStops(c draw.Canvas, x func(float64) vg.Length, sty draw.LineStyle, all []mark, right vg.Length) {
	for i, m := range all {
		at, top := x(m.At), c.Max.Y+vg.Length(len(all)-i)*stopHeight
		c.StrokeLine2(sty, at, c.Max.Y, at, top)
		before, after := at-4*px-c.Min.X, c.Max.X+right-at-4*px // the room on both sides
		text := m.Text
		if value, _, _ := strings.Cut(text, ", "); width(tickText, value+",…") > max(before, after) {
			text = strings.Replace(text, " "+imagesUnit, "/s", 1)
		}
		name, left := fit(tickText, text, after), at+4*px
		if name != text && before > after {
			name = fit(tickText, text, before)
			left = at - 4*px - width(tickText, name)
		}
		write(c, tickText, left, top-tickText.FontExtents().Ascent, name)
	}
}

// Widths in pixels. Figures are laid out for layoutWidth, in which letters are at least 11
// pixels high, or for narrowWidth, that of a telephone; a PNG is enlarged to pictureWidth.
const (
	layoutWidth  = 640
	narrowWidth  = 380
	pictureWidth = 1000
)

// px is a pixel of a picture that is layoutWidth wide; SVG and PNG have 96 an inch.
const px = vg.Inch / 96

// size returns the width and height of a layout so many pixels wide, which it draws to see how high it is.
func (f *figure) size(pixels vg.Length) (w, h vg.Length) {
	var c recorder.Canvas
	w = pixels * px
	return w, f.draw(draw.NewCanvas(&c, w, 0))
}

// writePNG draws f as a PNG. Letters are drawn at the picture's own resolution.
func (f *figure) writePNG(w io.Writer) error {
	_, h := f.size(layoutWidth)
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

// FillString implements vg.Canvas. It draws each letter where it was laid out, and a box for what the font
// lacks, which would be a blank.
func (c raster) FillString(f font.Face, at vg.Point, s string) {
	for i, r := range s {
		letter := string(r)
		x := at.X + f.Width(s[:i]+letter) - f.Width(letter)
		if lacks(f, r) {
			letter = "□"
		}
		c.Canvas.FillString(f, vg.Point{X: x, Y: at.Y}, letter)
	}
}

func (f *figure) writeSVG(w io.Writer) error    { return f.writeSVGOf(layoutWidth, w) }
func (f *figure) writeNarrow(w io.Writer) error { return f.writeSVGOf(narrowWidth, w) }

// writeSVGOf draws f as an SVG document on no ground, which refers to nothing outside of itself.
// Arial and Helvetica have the same letter widths as Liberation Sans, the one family that vgsvg
// names, so the layout holds without it.
func (f *figure) writeSVGOf(pixels vg.Length, w io.Writer) error {
	c := vgsvg.New(f.size(pixels))
	f.draw(draw.New(c))
	var doc strings.Builder
	if _, err := c.WriteTo(&doc); err != nil {
		return err
	}
	const family, start = "font-family:Liberation Sans;", "xlink\">\n" // text that a report gives has no such quotes
	_, err := strings.NewReplacer(family, "font-family:'Liberation Sans',Arial,Helvetica,sans-serif;",
		start, start+"<title>"+html.EscapeString(f.title)+"</title>\n"+darkScheme).WriteString(w, doc.String())
	return err
}
