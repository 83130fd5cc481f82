package chart

import (
	"slices"

	"gonum.org/v1/plot/vg/draw"

	"dlbench/results"
)

// cacheTexts say what was measured in each state of the page cache.
var cacheTexts = map[string]string{
	"cold-data": "evicted from the page cache",
	"cold-all":  "all caches dropped",
	"direct":    "past the page cache",
	"warm":      "from the page cache, in memory",
}

// Meanings of bars and markers.
const (
	unprovenMeaning = "unproven: the state of the cache could not be shown"
	assumedMeaning  = "assumed disk: paced reads from memory, not a measurement"
)

// legend explains what is drawn, and nothing else.
func (d diskTimes) legend() []entry {
	var all []entry
	intervals := d.any(func(b diskBar) bool { return b.Spread != span{} && !b.Range })
	ranges := d.any(func(b diskBar) bool { return b.Range })
	for _, cache := range cacheOrder {
		if d.any(func(b diskBar) bool { return b.Cache == cache && !b.Failed }) {
			all = append(all, entry{cache + ": " + cacheTexts[cache], barSample(diskBar{Cache: cache})})
		}
	}
	if d.any(func(b diskBar) bool { return b.Unproven }) {
		all = append(all, entry{unprovenMeaning, barSample(diskBar{Cache: "cold-data", Unproven: true})})
	}
	if d.any(func(b diskBar) bool { return b.Assumed }) {
		all = append(all, entry{assumedMeaning, barSample(diskBar{Cache: paced, Assumed: true})})
	}
	if text := spreadText(intervals, ranges); text != "" {
		all = append(all, entry{text, func(c draw.Canvas) { drawWhisker(c, c.Min.X+4*px, c.Max.X-4*px, c.Center().Y) }})
	}
	for i, p := range diskPeaks {
		if rates := d.rates(i); len(rates) > 0 {
			text := p.title
			if len(rates) == 1 && rates[0] > 0 {
				text += ", " + results.FormatExact(rates[0], results.BytesPerSecond)
			}
			all = append(all, entry{text, func(c draw.Canvas) { peakMark[i](c, c.Center()) }})
		}
	}
	for _, g := range d.Groups {
		if g.Article > 0 {
			text := "article's hard disk: " + timeLabel(g.Article) + " (100 MiB/s)"
			return append(all, entry{text, func(c draw.Canvas) { drawTheory(c, c.Center()) }})
		}
	}
	return all
}

// rates are the different rates behind a peak, 0 among them where it is known as a
// time alone.
func (d diskTimes) rates(peak int) []float64 {
	var all []float64
	for _, g := range d.Groups {
		if g.Peaks[peak] > 0 && !slices.Contains(all, g.rates[peak]) {
			all = append(all, g.rates[peak])
		}
	}
	return all
}

func barSample(b diskBar) func(draw.Canvas) {
	return func(c draw.Canvas) { drawDiskBar(c, b, c.Min.X, c.Min.Y, c.Max.X, c.Max.Y) }
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
