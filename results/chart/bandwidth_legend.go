package chart

import (
	"slices"

	"gonum.org/v1/plot/vg/draw"

	"dlbench/results"
)

// legend explains colours and markers by device, dashes by kind of memory.
func (s sweep) legend() []entry {
	var all []entry
	var mems []string
	var assumed, intervals, ranges bool
	for i, name := range s.Devices {
		j := slices.IndexFunc(s.Lines, func(l sweepLine) bool { return l.Device == i })
		if j < 0 {
			continue
		}
		l := s.Lines[j]
		all = append(all, entry{name, func(c draw.Canvas) {
			y := c.Center().Y
			c.StrokeLine2(line(deviceColor[l.Source], 2, s.deviceDashes(l)...), c.Min.X, y, c.Max.X, y)
			l.mark(c, c.Center())
		}})
	}
	for _, l := range s.Lines {
		if !s.Versus && !slices.Contains(mems, l.Mem) {
			mems = append(mems, l.Mem)
		}
		assumed = assumed || l.Assumed
		for _, p := range l.Points {
			intervals, ranges = intervals || p.Spread != span{} && !p.Range, ranges || p.Range
		}
	}
	slices.SortFunc(mems, compareMem)
	for _, m := range mems {
		all = append(all, entry{results.Clip(m, maxDevice), func(c draw.Canvas) {
			c.StrokeLine2(line(muted, 2, memDashes[m]...), c.Min.X, c.Center().Y, c.Max.X, c.Center().Y)
			circle.at(c, c.Center(), 3*px, muted, muted)
		}})
	}
	if assumed {
		all = append(all, entry{"assumed link: a paced stand-in, not a measurement", func(c draw.Canvas) {
			circle.at(c, c.Center(), 4*px, paper, ink)
		}})
	}
	if intervals || ranges {
		text := "95 % interval of the median"
		if !intervals {
			text = "range of few samples"
		} else if ranges {
			text += ", or range of few samples"
		}
		all = append(all, entry{text, func(c draw.Canvas) {
			drawInterval(c, c.Center().X, c.Min.Y, c.Max.Y)
		}})
	}
	if len(s.Links) > 0 {
		all = append(all, entry{"line rate of the link", func(c draw.Canvas) {
			c.StrokeLine2(lineRateStroke, c.Min.X, c.Center().Y, c.Max.X, c.Center().Y)
		}})
	}
	if slices.ContainsFunc(s.Links, func(l sweepLink) bool { return l.Protocol != span{} }) {
		all = append(all, entry{"protocol band: packets of 64 to 256 B", func(c draw.Canvas) {
			fillBox(c, shade, c.Min.X, c.Min.Y, c.Max.X, c.Max.Y)
		}})
	}
	return all
}
