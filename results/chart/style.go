package chart

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"dlbench/results"
)

// Colours of what is no data. In an SVG those of text, marks and lines of ink, grid and paper
// change with the colour scheme of who looks at it; all others can be seen on both grounds.
var (
	paper = color.Gray{255}
	ink   = color.Gray{26}
	soft  = color.Gray{85}  // of text
	muted = color.Gray{118} // of shapes
	rule  = color.Gray{226} // grid lines
)

// darkScheme are the colours of an SVG on a dark ground.
const darkScheme = `<style>@media (prefers-color-scheme:dark){text{fill:#dfe3e6!important}` +
	`[style*="stroke:#1A1A1A"]{stroke:#dfe3e6!important}[style*="stroke:#E2E2E2"]{stroke:#3a4148!important}` +
	`path[style*="fill:#1A1A1A"]{fill:#dfe3e6!important}path[style*="fill:#FFFFFF"]{fill:#15181b!important}` +
	`[style*="stroke:#FFFFFF"]{stroke:#15181b!important}}</style>
`

// Styles of text; sizes in pixels of the layout, none below 11.
var (
	titleText    = bold(letters(17, ink))
	subtitleText = letters(12.5, soft)
	labelText    = letters(12, ink)
	groupText    = bold(labelText)
	tickText     = letters(11.5, ink)
	captionText  = letters(11, soft)
)

// partColor has the one colour of each part of loading and training in all charts.
var partColor = map[string]color.Color{
	results.PartRead:       color.RGBA{0x00, 0x72, 0xB2, 255},
	results.PartPreprocess: color.RGBA{0xD5, 0x5E, 0x00, 255},
	"decode":               color.RGBA{0xD5, 0x5E, 0x00, 255},
	"resample":             color.RGBA{0x00, 0x9E, 0x73, 255},
	"collate":              color.RGBA{0xC2, 0x6A, 0x9B, 255},
	results.PartCopy:       color.RGBA{0xC9, 0x85, 0x00, 255},
	"step":                 color.RGBA{0x7A, 0x5F, 0xB5, 255},
	"wait":                 muted,
	otherStage:             color.Gray{160},
}

// seriesColor are the colours of machines, loaders and lines, none of which is that of a
// part. They differ in lightness too, and have a marker each.
var seriesColor = []color.Color{
	color.RGBA{0x44, 0x77, 0xAA, 255},
	color.RGBA{0xEE, 0x66, 0x77, 255},
	color.RGBA{0x22, 0x88, 0x33, 255},
	color.RGBA{0xAA, 0x33, 0x77, 255},
	color.RGBA{0x99, 0x99, 0x33, 255},
	color.RGBA{0x3A, 0xA5, 0xA5, 255},
	color.RGBA{0x88, 0x66, 0xCC, 255},
	color.RGBA{0x7A, 0x5A, 0x3A, 255},
}

func line(c color.Color, width float64) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: vg.Length(width) * px}
}

// Strokes that charts share.
var (
	lineRateStroke = line(ink, 2)
	gridStroke     = line(rule, 1)
	whiskerStroke  = line(ink, 1.2)
	needStroke     = line(ink, 1.4)
	thinStroke     = line(muted, 1)
)

// filled is fill, or that of what is hollow.
func filled(fill color.Color, is bool) color.Color {
	if is {
		return fill
	}
	return paper
}

// newPlot returns axes in the style of this package, without grid or ticks of y.
func newPlot() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Padding = 0
		a.LineStyle = line(muted, 1)
		a.Tick.LineStyle = line(muted, 1)
		a.Tick.Length = 4 * px
		a.Tick.Label.Font, a.Tick.Label.Color = tickText.Font, ink
	}
	return p
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

// marker is an outline of so many corners, the first at angle start, a share of the circle, and
// every second one at the inner radius. They can be filled or hollow, and distinguished when small.
type marker struct {
	corners      int
	start, inner float64
}

var (
	circle  = marker{20, 0, 1}
	square  = marker{4, 0.125, 1}
	pyramid = marker{3, 0.25, 1}
	diamond = marker{4, 0, 1}
	funnel  = marker{3, 0.75, 1}
	star    = marker{10, 0.25, 0.45}
	cross   = marker{8, 0, 0.4}
	hexagon = marker{6, 0, 1}
)

// seriesMarker goes with seriesColor.
var seriesMarker = []marker{circle, square, pyramid, diamond, funnel, star, cross, hexagon}

// at draws m around p, filled with fill, if any, and outlined with stroke.
func (m marker) at(c draw.Canvas, p vg.Point, radius vg.Length, fill, stroke color.Color) {
	path := make(vg.Path, m.corners, m.corners+1)
	for i := range path {
		r := radius
		if i%2 == 1 {
			r *= vg.Length(m.inner)
		}
		sin, cos := math.Sincos(2 * math.Pi * (m.start + float64(i)/float64(m.corners)))
		corner := vg.Point{X: r * vg.Length(cos), Y: r * vg.Length(sin)}
		path[i] = vg.PathComp{Type: vg.LineComp, Pos: p.Add(corner)}
	}
	path[0].Type = vg.MoveComp
	path.Close()
	if fill != nil {
		c.SetColor(fill)
		c.Fill(path)
	}
	c.SetLineStyle(line(stroke, 1.4))
	c.Stroke(path)
}

// seriesFill is the colour of the machine, device or line of that number.
func seriesFill(number int) color.Color { return seriesColor[number%len(seriesColor)] }

// drawSeries draws the marker of that number at p, hollow for what is simulated and crossed out for what is unproven.
func drawSeries(c draw.Canvas, p vg.Point, number int, hollow, unproven bool) {
	fill := seriesFill(number)
	seriesMarker[number%len(seriesMarker)].at(c, p, 4*px, filled(fill, !hollow && !unproven), fill)
	if unproven {
		drawCross(c, p)
	}
}

func drawCross(c draw.Canvas, p vg.Point) {
	const r = 5 * px
	c.StrokeLine2(whiskerStroke, p.X-r, p.Y-r, p.X+r, p.Y+r)
	c.StrokeLine2(whiskerStroke, p.X-r, p.Y+r, p.X+r, p.Y-r)
}
