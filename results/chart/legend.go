package chart

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"dlbench/results"
)

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

// barEntry explains a kind of bars.
func barEntry(text string, kind barKind) entry {
	return entry{text, func(c draw.Canvas) { kind.draw(c, muted, c.Min.X, c.Min.Y+1*px, c.Max.X, c.Max.Y-1*px) }}
}

// strokeEntry explains a line.
func strokeEntry(text string, sty draw.LineStyle) entry {
	return entry{text, func(c draw.Canvas) { c.StrokeLine2(sty, c.Min.X, c.Center().Y, c.Max.X, c.Center().Y) }}
}

// glyphEntry explains what is drawn at a point.
func glyphEntry(text string, glyph func(draw.Canvas, vg.Point)) entry {
	return entry{text, func(c draw.Canvas) { glyph(c, c.Center()) }}
}

// unprovenMeaning explains the hatched bars and the markers of unproven cases.
const unprovenMeaning = "unproven: the state of the cache could not be shown"

// assumedText says which parts stand-ins produced.
func assumedText(parts []string) string {
	return "assumed " + results.AssumedText(parts) + ": paced stand-ins, not a measurement"
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

// assumedTitle adds to the title of a chart what stand-ins produced; mark distinguishes it from
// what was measured where there is both.
func assumedTitle(title string, parts []string, measured bool, mark string) string {
	switch {
	case len(parts) == 0:
		return title
	case measured:
		return title + ", assumed " + results.AssumedText(parts) + " where " + mark
	}
	return title + ", assumed " + results.AssumedText(parts)
}
