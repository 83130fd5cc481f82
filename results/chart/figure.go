package chart

import (
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
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
	fillBox(c, paper, c.Min.X, c.Min.Y, c.Max.X, c.Max.Y)
	c = draw.Crop(c, margin, -margin, margin, -margin)
	title, subtitle, caption := f.text(c.Max.X - c.Min.X)
	y := c.Max.Y
	for _, s := range title {
		write(c, titleText, c.Min.X, y-titleText.FontExtents().Ascent, s)
		y -= lineHeight(titleText)
	}
	for _, s := range subtitle {
		write(c, subtitleText, c.Min.X, y-subtitleText.FontExtents().Ascent, s)
		y -= lineHeight(subtitleText)
	}
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
	for _, s := range caption {
		write(c, captionText, c.Min.X, y-captionText.FontExtents().Ascent, s)
		y -= lineHeight(captionText)
	}
}
