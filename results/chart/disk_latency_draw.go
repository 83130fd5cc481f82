package chart

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"dlbench/results"
)

// diskLatencyCharts shows how the times of single reads are distributed.
func diskLatencyCharts(reports []*results.Report) []Chart {
	var figures []func() *figure
	for _, d := range diskLatenciesOf(reports) {
		figures = append(figures, d.figure)
	}
	return numbered("disk-latency", figures)
}

// shares is the unit of the y axis.
var shares = unit{"%", 0.01}

func (d diskLatencies) figure() *figure {
	f := &figure{
		title: "Latency of single reads from disk" + assumedWhere(
			slices.ContainsFunc(d.Lines, func(l latencyLine) bool { return l.Assumed }),
			slices.ContainsFunc(d.Lines, func(l latencyLine) bool { return !l.Assumed }), "hollow"),
		subtitle: "Share of the reads that took at most so long; one reader; the size of a read differs by store; further left is better",
		legend:   d.legend(),
		plot:     newPlot(),
		x:        "time of a read (logarithmic)",
		data:     360 * px,
		right:    8 * px,
		top:      8 * px,
		caption:  diskCaptions(d.reports),
	}
	if d.What != "" {
		f.title += ", by machine"
		f.subtitle = d.What + ". Share of the reads that took at most so long; one reader; further left is better"
		f.caption = shared(f.caption)
	}
	if d.LeftOut > 0 {
		f.subtitle += fmt.Sprintf("; %d of %d cases", len(d.Lines), len(d.Lines)+d.LeftOut)
	}
	p := f.plot
	p.X.Scale = plot.LogScale{}
	p.X.Min, p.X.Max = d.bounds()
	p.X.Tick.Marker = clearOfCorner(logTicks(12, timeLabel))
	p.Y.Min, p.Y.Max = 0, 1
	p.Y.Tick.Marker = shares.ticks(10)
	p.Y.Label.Text = "share of reads (" + shares.name + ")"
	p.Add(grid(true, true), latencyLines{d})
	return f
}

// clearOfCorner leaves out labels of a logarithmic axis that would meet the 0 of the
// other one.
func clearOfCorner(t plot.Ticker) plot.Ticker {
	return plot.TickerFunc(func(lo, hi float64) []plot.Tick {
		all := t.Ticks(lo, hi)
		for i := range all {
			if math.Log(all[i].Value/lo) < 0.012*math.Log(hi/lo) {
				all[i].Label = ""
			}
		}
		return all
	})
}

// latencyLines draws the distributions and marks their medians.
type latencyLines struct{ diskLatencies }

// Plot implements plot.Plotter.
func (d latencyLines) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	c.StrokeLine2(line(muted, 1.2, 2*px, 3*px), c.Min.X, y(0.5), c.Max.X, y(0.5))
	for _, l := range d.Lines {
		var pts []vg.Point
		for _, q := range l.Points {
			pts = append(pts, vg.Point{X: x(q.Value), Y: y(q.P)})
		}
		if len(pts) > 1 {
			c.StrokeLines(l.style(), pts)
		}
	}
	for _, l := range d.Lines {
		if m := l.at(0.5); m > 0 {
			l.mark(c, vg.Point{X: x(m), Y: y(0.5)}, l.Unproven)
		}
	}
}

// legendName is the name of l with its median and 99th percentile.
func (l latencyLine) legendName() string {
	if l.Failed {
		return l.Name + ": failed"
	}
	s, sep := l.Name, ": "
	for _, q := range []struct {
		p    float64
		name string
	}{{0.5, "median"}, {0.99, "99 %"}} {
		if v := l.at(q.p); v > 0 {
			u := secondsFor(v)
			s += fmt.Sprintf("%s%s %s %s", sep, q.name, u.number(v), u.name)
			sep = ", "
		}
	}
	return s
}

// legend names each line and explains its marks.
func (d diskLatencies) legend() []entry {
	var all []entry
	var assumed, unproven bool
	for _, l := range d.Lines {
		all = append(all, l.entry(l.legendName(), l.Unproven))
		assumed, unproven = assumed || l.Assumed, unproven || l.Unproven
	}
	all = append(all, entry{"marked: the medians", func(c draw.Canvas) {
		c.StrokeLine2(line(muted, 1.2, 2*px, 3*px), c.Min.X, c.Center().Y, c.Max.X, c.Center().Y)
	}})
	if assumed {
		all = append(all, hollowEntry)
	}
	if unproven {
		all = append(all, unprovenEntry)
	}
	return all
}
