package chart

import "gonum.org/v1/plot/vg/draw"

// legend explains what is drawn, and nothing else.
func (d batchTimes) legend() []entry {
	var all []entry
	add := func(meaning string, is func(batchGroup, batchBar) bool, sample func(draw.Canvas)) {
		if d.any(is) {
			all = append(all, entry{meaning, sample})
		}
	}
	intervals := d.any(func(_ batchGroup, b batchBar) bool { return b.Spread != span{} && !b.Range })
	ranges := d.any(func(_ batchGroup, b batchBar) bool { return b.Range })
	measured := "measured"
	switch {
	case intervals && ranges:
		measured += ", whisker: 95 % interval of the median, or range of few samples"
	case intervals:
		measured += ", whisker: 95 % interval of the median"
	case ranges:
		measured += ", whisker: range of few samples"
	}
	add(measured, func(_ batchGroup, b batchBar) bool { return !b.Assumed }, func(c draw.Canvas) {
		drawBar(c, memColor["pinned"], false, c.Min.X, c.Min.Y+1*px, c.Max.X-5*px, c.Max.Y-1*px)
		if intervals || ranges {
			drawWhisker(c, c.Max.X-9*px, c.Max.X-1*px, c.Center().Y)
		}
	})
	add("assumed link: a paced stand-in, not a measurement", func(_ batchGroup, b batchBar) bool { return b.Assumed }, func(c draw.Canvas) {
		drawBar(c, memColor["pinned"], true, c.Min.X, c.Min.Y+1*px, c.Max.X, c.Max.Y-1*px)
	})
	add("line rate of the link", func(g batchGroup, _ batchBar) bool { return g.LineRate > 0 }, func(c draw.Canvas) {
		c.StrokeLine2(lineRateStroke, c.Center().X, c.Min.Y, c.Center().X, c.Max.Y)
	})
	add("protocol band: packets of 64 to 256 B", func(g batchGroup, _ batchBar) bool { return g.Protocol != span{} }, func(c draw.Canvas) {
		fillBox(c, shade, c.Min.X, c.Min.Y, c.Max.X, c.Max.Y)
	})
	add("article's theory (1 GiB/s a lane: 9 % faster than the line)", func(g batchGroup, _ batchBar) bool { return g.Theory > 0 }, func(c draw.Canvas) {
		drawTheory(c, c.Center())
	})
	add("article's practice (its rule of thumb: twice the theory)", func(g batchGroup, _ batchBar) bool { return g.Practice > 0 }, func(c draw.Canvas) {
		drawPractice(c, c.Center())
	})
	add("published by others for that link and memory", func(_ batchGroup, b batchBar) bool { return b.Published != span{} }, func(c draw.Canvas) {
		drawBracket(c, c.Min.X, c.Max.X, c.Center().Y)
	})
	return all
}
