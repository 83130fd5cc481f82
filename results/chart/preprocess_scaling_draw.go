package chart

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"dlbench/results"
)

// scalingCharts shows what more threads bring.
func scalingCharts(reports []*results.Report) []Chart {
	var figures []func() *figure
	for _, d := range scalingsOf(reports) {
		figures = append(figures, d.figure)
	}
	return numbered("preprocess-scaling", figures)
}

// linearThreads is the most threads that are shown on linear axes.
const linearThreads = 16

// demandStrip is the space right of the data area, for the names of demands.
const demandStrip = 126 * px

func (d scaling) figure() *figure {
	least, most := d.bounds()
	counts := d.counts()
	f := &figure{
		title:    "Preprocessing by number of threads, " + results.Clip(d.Strategy, maxDevice),
		subtitle: "Median, higher is better",
		legend:   d.legend(),
		plot:     newPlot(),
		x:        "threads",
		data:     360 * px,
		left:     lineHeight(labelText) + 4*px,
		right:    8 * px,
		top:      8 * px,
		caption:  append(preprocessCaptions(d.reports), d.demandCaptions()...),
	}
	if s, ok := strategyTexts[d.Strategy]; ok {
		f.subtitle = upper(s) + "; median, higher is better"
	}
	if d.What != "" {
		f.title = "Preprocessing by number of threads and machine, " + d.What
		f.caption = append(shared(preprocessCaptions(d.reports)), d.demandCaptions()...)
	}
	if !d.full() {
		f.subtitle += fmt.Sprintf("; without linear scaling, controls and fits, as there are more than %d lines", maxFull)
	}
	low, high := least, most
	within := d.demands().Drawn
	for _, x := range within {
		low, high = min(low, x.Rate), max(high, x.Rate)
	}
	if len(within) > 0 {
		f.right = demandStrip
	}
	if n := len(d.joins()); n > 0 {
		f.top = vg.Length(n) * (lineHeight(tickText) + 2*px)
	}
	p := f.plot
	label := "throughput (images/s)"
	if d.logarithmic() {
		f.x = "threads (logarithmic)"
		label = "throughput (images/s, logarithmic)"
		p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
		p.X.Min, p.X.Max = float64(counts[0])/1.25, float64(counts[len(counts)-1])*1.25
		p.Y.Min, p.Y.Max = low/1.5, max(high, min(d.linear(), 3*most))*1.3
		p.Y.Tick.Marker = logTicks(12, imagesLabel)
	} else {
		p.X.Min, p.X.Max = 0, float64(counts[len(counts)-1])*1.06
		p.Y.Min, p.Y.Max = 0, max(high, min(d.linear(), 1.3*most))*1.06
		p.Y.Tick.Marker = images.ticks(7)
	}
	p.X.Tick.Marker = threadTicks(p.X.Scale, counts, 0.05)
	p.Add(scalingJoins{d}, grid(true, true), upright{label}, scalingPlot{d})
	return f
}

// upper makes the first letter of s, an ASCII one, upper case.
func upper(s string) string { return string(s[0]-'a'+'A') + s[1:] }

// threadTicks marks those counts, with labels that keep at least gap, a share of the
// axis, apart.
func threadTicks(scale plot.Normalizer, counts []int64, gap float64) plot.Ticker {
	return plot.TickerFunc(func(min, max float64) []plot.Tick {
		var all []plot.Tick
		last := math.Inf(-1)
		for _, n := range counts {
			t := plot.Tick{Value: float64(n)}
			if at := scale.Normalize(min, max, t.Value); at-last >= gap {
				t.Label, last = thousands(strconv.FormatInt(n, 10)), at
			}
			all = append(all, t)
		}
		return all
	})
}

// bounds are the range of the rates that were measured, controls among them where
// they are drawn.
func (d scaling) bounds() (least, most float64) {
	least = math.Inf(1)
	for _, l := range d.Lines {
		points := l.Points
		if d.full() {
			points = slices.Concat(points, l.Control)
		}
		for _, p := range points {
			least, most = min(least, p.Median), max(most, p.Median, p.Spread.Hi)
			if p.Spread != (span{}) {
				least = min(least, p.Spread.Lo)
			}
		}
	}
	return least, most
}

// linear is the highest rate that linear scaling reaches, 0 where it is not drawn.
func (d scaling) linear() (most float64) {
	if !d.full() {
		return 0
	}
	for _, l := range d.Lines {
		if n := len(l.Points); n > 0 {
			most = max(most, l.Points[0].Median*float64(l.Points[n-1].Threads)/float64(l.Points[0].Threads))
		}
	}
	return most
}

// counts are the numbers of threads of all lines.
func (d scaling) counts() []int64 {
	var all []int64
	for _, l := range d.Lines {
		for _, p := range l.Points {
			all = append(all, p.Threads)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// logarithmic says whether threads or rates are too different for linear axes.
func (d scaling) logarithmic() bool {
	least, most := d.bounds()
	counts := d.counts()
	return counts[len(counts)-1] > linearThreads || most > logFrom*least
}
