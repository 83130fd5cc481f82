package chart

import (
	"image/color"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// diskStroke is how a line of a disk chart is drawn: colour and marker by its
// source, dashes by its cache.
type diskStroke struct {
	Source  int // index of color and marker
	Cache   string
	Assumed bool
}

// cacheDashes are the line patterns of the states of the page cache; cold-data is
// solid.
var cacheDashes = map[string][]vg.Length{
	"cold-all": {9 * px, 3 * px},
	"direct":   {6 * px, 3 * px, 1.5 * px, 3 * px},
	"warm":     {1.5 * px, 2.5 * px},
	paced:      {4 * px, 3 * px},
}

func (s diskStroke) style() draw.LineStyle {
	return line(deviceColor[s.Source%len(deviceColor)], 2, cacheDashes[s.Cache]...)
}

// mark draws a marker at p: hollow for what is assumed, crossed out for what is
// unproven.
func (s diskStroke) mark(c draw.Canvas, p vg.Point, unproven bool) {
	col := deviceColor[s.Source%len(deviceColor)]
	fill := col
	if s.Assumed || unproven {
		fill = paper
	}
	deviceMarker[s.Source%len(deviceMarker)].at(c, p, 4*px, fill, col)
	if unproven {
		drawCross(c, p)
	}
}

// interval is drawInterval in the colour of s.
func (s diskStroke) interval(c draw.Canvas, x, lo, hi vg.Length) {
	sty := line(deviceColor[s.Source%len(deviceColor)], 1.2)
	c.StrokeLine2(sty, x, lo, x, hi)
	for _, y := range []vg.Length{lo, hi} {
		c.StrokeLine2(sty, x-3*px, y, x+3*px, y)
	}
}

func drawCross(c draw.Canvas, p vg.Point) {
	const r = 5 * px
	c.StrokeLine2(line(ink, 1.2), p.X-r, p.Y-r, p.X+r, p.Y+r)
	c.StrokeLine2(line(ink, 1.2), p.X-r, p.Y+r, p.X+r, p.Y-r)
}

// entry is the line of a legend for s.
func (s diskStroke) entry(name string, unproven bool) entry {
	return entry{name, func(c draw.Canvas) {
		y := c.Center().Y
		c.StrokeLine2(s.style(), c.Min.X, y, c.Max.X, y)
		s.mark(c, c.Center(), unproven)
	}}
}

// Entries of legends for markers.
var (
	hollowEntry   = entry{assumedMeaning, func(c draw.Canvas) { circle.at(c, c.Center(), 4*px, paper, ink) }}
	unprovenEntry = entry{unprovenMeaning, func(c draw.Canvas) {
		circle.at(c, c.Center(), 4*px, paper, color.Gray{130})
		drawCross(c, c.Center())
	}}
)

// sourcesOf lists the sources of cases in their order.
func sourcesOf(cases []diskCase) []source {
	var all []source
	for _, c := range cases {
		if !slices.Contains(all, c.source) {
			all = append(all, c.source)
		}
	}
	return all
}
