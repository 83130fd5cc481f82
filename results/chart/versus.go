package chart

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// versus compares machines: groups of what can be held against each other, and in
// each a row for every machine that did it. Measured and assumed are groups of their
// own. Values are in the base unit of the chart's metric.
type versus struct {
	Groups  []versusGroup
	Demands []versusMark // lines through all groups, from the lowest; Text stands above
	parts   []stepPart
	names   []string // of the machines, all that are compared; nil where rows have names of their own
	spread  string   // what whiskers are; "" for those of medians
	whole   string   // what filled bars are; "" for measured
}

// versusGroup is one thing that machines do.
type versusGroup struct {
	Title   string
	Assumed []string     // what of it a stand-in produced
	Marks   []versusMark // what every row is held against
	Rows    []versusRow
	fill    color.Color // of rows without a machine
	key     any         // comparable: rows with equal keys are of one group
}

// versusRow is what one machine does.
type versusRow struct {
	Machine int    // index of color, marker and name
	Detail  string // what tells it from other rows of the machine: the link; its name where there is no machine
	point
	Parts  []float64    // that Median is made of, as versus.parts; nil for a plain bar
	Value  string       // in words
	Marks  []versusMark // what this row is held against
	Band   span         // of the protocol
	Others span         // what others published
	Failed bool         // no bar, but a row that says so
	Doubt  string       // unproven or extrapolated; hatched
}

// versusMark is a reference.
type versusMark struct {
	At   float64
	Text string // for the legend
	draw func(draw.Canvas, vg.Point)
}

// maxRows is how many rows one chart shows; groups beyond them go to another.
const maxRows = 64

// charts are v in as few charts of at most maxRows rows as there must be, of about one
// length; a group with more is cut. What failed everywhere is left out.
func (v versus) charts() []versus {
	total := 0
	for _, g := range v.Groups {
		total += len(g.Rows)
	}
	most := total
	if n := (total + maxRows - 1) / maxRows; n > 1 {
		most = (total + n - 1) / n
	}
	var all []versus
	rows := total
	for _, g := range v.Groups {
		if !slices.ContainsFunc(g.Rows, func(r versusRow) bool { return !r.Failed }) {
			continue
		}
		for part := range slices.Chunk(g.Rows, maxRows) {
			if rows += len(part); rows > most {
				all = append(all, versus{Demands: v.Demands, parts: v.parts, names: v.names, spread: v.spread, whole: v.whole})
				rows = len(part)
			}
			one := g
			one.Rows = part
			last := &all[len(all)-1]
			last.Groups = append(last.Groups, one)
		}
	}
	return all
}

// add puts r into the group with the key of g, or else into g, a new one.
func (v *versus) add(g versusGroup, r versusRow) {
	i := slices.IndexFunc(v.Groups, func(o versusGroup) bool { return o.key == g.key })
	if i < 0 {
		i = len(v.Groups)
		v.Groups = append(v.Groups, g)
	}
	v.Groups[i].Rows = append(v.Groups[i].Rows, r)
}

func (v versus) any(is func(versusGroup, versusRow) bool) bool {
	return slices.ContainsFunc(v.Groups, func(g versusGroup) bool {
		return slices.ContainsFunc(g.Rows, func(r versusRow) bool { return is(g, r) })
	})
}

// kinds says whether assumed and measured things are shown.
func (v versus) kinds() (assumed, measured bool) {
	return v.any(func(g versusGroup, _ versusRow) bool { return len(g.Assumed) > 0 }),
		v.any(func(g versusGroup, _ versusRow) bool { return len(g.Assumed) == 0 })
}

// shown picks what belongs to the machines that v has rows of.
func (v versus) shown(captions [][]string) [][]string {
	var all [][]string
	for i, c := range captions {
		if v.any(func(_ versusGroup, r versusRow) bool { return r.Machine == i }) {
			all = append(all, c)
		}
	}
	return all
}

// bounds are the least and the greatest value that is drawn.
func (v versus) bounds() (least, most float64) {
	least = math.Inf(1)
	see := func(values ...float64) {
		for _, x := range values {
			if x >= tiny {
				least, most = min(least, x), max(most, x)
			}
		}
	}
	for _, d := range v.Demands {
		see(d.At)
	}
	for _, g := range v.Groups {
		for _, m := range g.Marks {
			see(m.At)
		}
		for _, r := range g.Rows {
			see(r.Median, r.Spread.Lo, r.Spread.Hi, r.Band.Lo, r.Band.Hi, r.Others.Lo, r.Others.Hi)
			for _, m := range r.Marks {
				see(m.At)
			}
		}
	}
	return least, most
}

// machineColor is the colour of a machine in every chart that compares it.
func machineColor(machine int) color.Color { return deviceColor[machine%len(deviceColor)] }

// machineMark draws the marker of a machine: hollow for what is assumed.
func machineMark(c draw.Canvas, machine int, p vg.Point, assumed bool) {
	diskStroke{Source: machine, Assumed: assumed}.mark(c, p, false)
}

// markOf is a reference at v in the way of the legend; none for what cannot be drawn.
func markOf(v float64, text string, draw func(draw.Canvas, vg.Point)) []versusMark {
	if !positive(v) || v < tiny {
		return nil
	}
	return []versusMark{{v, text, draw}}
}
