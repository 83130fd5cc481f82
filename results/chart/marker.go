package chart

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// marker is a closed outline around the origin, about one unit in radius.
type marker []vg.Point

// polygon has its first corner at angle start, in turns, and every second one at
// the inner radius.
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

// Outlines that can be filled or hollow and are told apart when small.
var (
	circle    = polygon(20, 0, 1)
	square    = marker{{X: -0.85, Y: -0.85}, {X: 0.85, Y: -0.85}, {X: 0.85, Y: 0.85}, {X: -0.85, Y: 0.85}}
	pyramid   = marker{{X: -1, Y: -0.8}, {X: 1, Y: -0.8}, {X: 0, Y: 1}}
	diamond   = marker{{X: 0, Y: -1.2}, {X: 0.9, Y: 0}, {X: 0, Y: 1.2}, {X: -0.9, Y: 0}}
	funnel    = marker{{X: -1, Y: 0.8}, {X: 0, Y: -1}, {X: 1, Y: 0.8}}
	star      = polygon(10, 0.25, 0.45)
	hourglass = marker{{X: -0.9, Y: -1}, {X: 0.9, Y: -1}, {X: -0.9, Y: 1}, {X: 0.9, Y: 1}}
	cross     = marker{{X: -0.35, Y: -1}, {X: 0.35, Y: -1}, {X: 0.35, Y: -0.35}, {X: 1, Y: -0.35}, {X: 1, Y: 0.35},
		{X: 0.35, Y: 0.35}, {X: 0.35, Y: 1}, {X: -0.35, Y: 1}, {X: -0.35, Y: 0.35}, {X: -1, Y: 0.35}, {X: -1, Y: -0.35}, {X: -0.35, Y: -0.35}}
)

// deviceMarker goes with deviceColor.
var deviceMarker = []marker{circle, square, pyramid, diamond, funnel, star, cross, hourglass}

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
