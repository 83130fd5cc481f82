package chart

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Colours of what is no data.
var (
	paper = color.Gray{255}
	ink   = color.Gray{26}
	muted = color.Gray{85}
	shade = color.Gray{218} // bands
	rule  = color.Gray{226} // grid lines
)

// Styles of text; sizes in pixels of a picture 800 wide, none below 11.
var (
	titleText    = bold(letters(18, ink))
	subtitleText = letters(12.5, muted)
	labelText    = letters(12, ink)
	groupText    = bold(labelText)
	tickText     = letters(11.5, ink)
	captionText  = letters(11, muted)
)

// memColor is the colour of a kind of memory, from the palette of Okabe and Ito,
// which colour-blind readers can tell apart. Bars are also named beside them and
// lines differ in their dashes, for greyscale.
var memColor = map[string]color.Color{
	"pinned":     color.RGBA{0x00, 0x72, 0xB2, 255},
	"registered": color.RGBA{0x56, 0xB4, 0xE9, 255},
	"staged":     color.RGBA{0xE6, 0x9F, 0x00, 255},
	"pageable":   color.RGBA{0xD5, 0x5E, 0x00, 255},
	"bounce":     color.RGBA{0xCC, 0x79, 0xA7, 255},
}

// memDashes are the line patterns of the kinds of memory; pinned is solid.
var memDashes = map[string][]vg.Length{
	"registered": {9 * px, 3 * px},
	"staged":     {7 * px, 3 * px, 1.5 * px, 3 * px},
	"pageable":   {4 * px, 3 * px},
	"bounce":     {1.5 * px, 2.5 * px},
}

// Colors of devices in a line chart, Okabe and Ito's without the yellow, which
// is lost on white.
var deviceColor = []color.Color{
	color.RGBA{0x00, 0x72, 0xB2, 255},
	color.RGBA{0xD5, 0x5E, 0x00, 255},
	color.RGBA{0x00, 0x9E, 0x73, 255},
	color.RGBA{0xCC, 0x79, 0xA7, 255},
	color.RGBA{0xE6, 0x9F, 0x00, 255},
	color.RGBA{0x56, 0xB4, 0xE9, 255},
	color.RGBA{0x00, 0x00, 0x00, 255},
	color.RGBA{0x8C, 0x6D, 0x31, 255},
}

func line(c color.Color, width float64, dashes ...vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: vg.Length(width) * px, Dashes: dashes}
}

// Strokes that charts share.
var (
	lineRateStroke = line(ink, 2)
	whiskerStroke  = line(ink, 1.2)
	hintStroke     = line(muted, 0.8, 1*px, 2*px)
)

// newPlot returns axes in the style of this package, without grid or ticks of y.
func newPlot() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Padding = 0
		a.LineStyle = line(muted, 1)
		a.Tick.LineStyle = line(muted, 1)
		a.Tick.Length = 4 * px
		font := tickText.Font
		a.Tick.Label.Font, a.Tick.Label.Color = font, ink
		a.Label.TextStyle.Font, a.Label.TextStyle.Color = labelText.Font, ink
		a.Label.Padding = 5 * px
	}
	return p
}

// grid draws lines at the ticks of x, y or both.
func grid(x, y bool) *plotter.Grid {
	g := &plotter.Grid{}
	if x {
		g.Vertical = line(rule, 1)
	}
	if y {
		g.Horizontal = line(rule, 1)
	}
	return g
}

// box is the path of a rectangle.
func box(x0, y0, x1, y1 vg.Length) vg.Path {
	return vg.Rectangle{Min: vg.Point{X: x0, Y: y0}, Max: vg.Point{X: x1, Y: y1}}.Path()
}

// fillBox fills a rectangle.
func fillBox(c draw.Canvas, fill color.Color, x0, y0, x1, y1 vg.Length) {
	c.SetColor(fill)
	c.Fill(box(x0, y0, x1, y1))
}
