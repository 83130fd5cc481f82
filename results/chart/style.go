package chart

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"dlbench/results"
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
	detailText   = letters(12, muted)
	groupText    = bold(labelText)
	tickText     = letters(11.5, ink)
	captionText  = letters(11, muted)
)

// dashes are line patterns that can be distinguished; the first is solid.
var dashes = [][]vg.Length{
	nil, {9 * px, 3 * px}, {6 * px, 3 * px, 1.5 * px, 3 * px}, {4 * px, 3 * px}, {1.5 * px, 2.5 * px},
	{12 * px, 3 * px, 3 * px, 3 * px},
}

// seriesColor are the colours of machines, devices and lines: those of Okabe and Ito, which
// colour-blind readers can distinguish, without the yellow, which is lost on white.
var seriesColor = []color.Color{
	color.RGBA{0x00, 0x72, 0xB2, 255},
	color.RGBA{0xD5, 0x5E, 0x00, 255},
	color.RGBA{0x00, 0x9E, 0x73, 255},
	color.RGBA{0xCC, 0x79, 0xA7, 255},
	color.RGBA{0xE6, 0x9F, 0x00, 255},
	color.RGBA{0x56, 0xB4, 0xE9, 255},
	color.RGBA{0x00, 0x00, 0x00, 255},
	color.RGBA{0x8C, 0x6D, 0x31, 255},
}

// memColor is the colour of a kind of memory. Bars are also named next to them and
// lines differ in their dashes, for greyscale.
var memColor = map[string]color.Color{
	"pinned":       seriesColor[0],
	"registered":   seriesColor[5],
	results.Staged: seriesColor[4],
	"pageable":     seriesColor[1],
	results.Bounce: seriesColor[3],
}

// memDashes are the line patterns of the kinds of memory; pinned is solid.
var memDashes = map[string][]vg.Length{"registered": dashes[1], results.Staged: dashes[2], "pageable": dashes[3],
	results.Bounce: dashes[4]}

func line(c color.Color, width float64, dashes ...vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: vg.Length(width) * px, Dashes: dashes}
}

// Strokes that charts share.
var (
	lineRateStroke = line(ink, 2)
	gridStroke     = line(rule, 1)
	bracketStroke  = line(muted, 1.5) // what others published
	whiskerStroke  = line(ink, 1.2)
	hintStroke     = line(muted, 0.8, 1*px, 2*px)
	demandStroke   = line(ink, 1.2, 8*px, 3*px)
	dottedStroke   = line(muted, 1.2, 2*px, 3*px)
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
		a.Tick.Label.Font, a.Tick.Label.Color = tickText.Font, ink
		a.Label.TextStyle.Font, a.Label.TextStyle.Color = labelText.Font, ink
		a.Label.Padding = 5 * px
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

// marker is a closed outline around the origin, about one unit in radius.
type marker []vg.Point

// polygon has its first corner at angle start, a share of the circle, and every second
// one at the inner radius.
func polygon(corners int, start, inner float64) marker {
	m := make(marker, corners)
	for i := range m {
		r := 1.0
		if i%2 == 1 {
			r = inner
		}
		sin, cos := math.Sincos(2 * math.Pi * (start + float64(i)/float64(corners)))
		m[i] = vg.Point{X: vg.Length(r * cos), Y: vg.Length(r * sin)}
	}
	return m
}

// Outlines that can be filled or hollow and can be distinguished when small.
var (
	circle    = polygon(20, 0, 1)
	square    = marker{{X: -0.85, Y: -0.85}, {X: 0.85, Y: -0.85}, {X: 0.85, Y: 0.85}, {X: -0.85, Y: 0.85}}
	pyramid   = marker{{X: -1, Y: -0.8}, {X: 1, Y: -0.8}, {X: 0, Y: 1}}
	diamond   = marker{{X: 0, Y: -1.2}, {X: 0.9, Y: 0}, {X: 0, Y: 1.2}, {X: -0.9, Y: 0}}
	funnel    = marker{{X: -1, Y: 0.8}, {X: 0, Y: -1}, {X: 1, Y: 0.8}}
	star      = polygon(10, 0.25, 0.45)
	hourglass = marker{{X: -0.9, Y: -1}, {X: 0.9, Y: -1}, {X: -0.9, Y: 1}, {X: 0.9, Y: 1}}
	cross     = marker{
		{X: -0.35, Y: -1}, {X: 0.35, Y: -1}, {X: 0.35, Y: -0.35}, {X: 1, Y: -0.35}, {X: 1, Y: 0.35}, {X: 0.35, Y: 0.35},
		{X: 0.35, Y: 1}, {X: -0.35, Y: 1}, {X: -0.35, Y: 0.35}, {X: -1, Y: 0.35}, {X: -1, Y: -0.35},
		{X: -0.35, Y: -0.35},
	}
)

// seriesMarker goes with seriesColor.
var seriesMarker = []marker{circle, square, pyramid, diamond, funnel, star, cross, hourglass}

// at draws m around p, filled with fill and outlined with stroke.
func (m marker) at(c draw.Canvas, p vg.Point, radius vg.Length, fill, stroke color.Color) {
	var path vg.Path
	for i, q := range m {
		q = vg.Point{X: p.X + radius*q.X, Y: p.Y + radius*q.Y}
		if i == 0 {
			path.Move(q)
		} else {
			path.Line(q)
		}
	}
	path.Close()
	c.SetColor(fill)
	c.Fill(path)
	c.SetLineStyle(line(stroke, 1.4))
	c.Stroke(path)
}

// series is how one machine, device or line is distinguished from others: by the colour and the
// marker of its number.
type series struct {
	Source int
	Hollow bool // for what is assumed
}

func (s series) color() color.Color { return seriesColor[s.Source%len(seriesColor)] }

// mark draws the marker at p, crossed out for what is unproven.
func (s series) mark(c draw.Canvas, p vg.Point, unproven bool) {
	fill := s.color()
	if s.Hollow || unproven {
		fill = paper
	}
	seriesMarker[s.Source%len(seriesMarker)].at(c, p, 4*px, fill, s.color())
	if unproven {
		drawCross(c, p)
	}
}

func drawCross(c draw.Canvas, p vg.Point) {
	const r = 5 * px
	c.StrokeLine2(whiskerStroke, p.X-r, p.Y-r, p.X+r, p.Y+r)
	c.StrokeLine2(whiskerStroke, p.X-r, p.Y+r, p.X+r, p.Y-r)
}
