package chart

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"

	"dlbench/results"
)

// sweep is the bandwidth of copies of different sizes from host to device, warm
// source. Bandwidths are in bytes per second.
type sweep struct {
	Devices []string // as the legend names them
	Lines   []sweepLine
	Links   []sweepLink // without those that are not known
	Mem     string      // the one kind of memory shown, "" for all that there are
	Versus  bool        // machines are compared
	Batch   int64       // bytes of the reports' batch, 0 if they differ
	reports []*results.Report
}

// sweepLine is one device and kind of memory.
type sweepLine struct {
	Device  int // index in Devices
	Source  int // of color and marker
	Mem     string
	dashes  []vg.Length
	Assumed bool
	Points  []sweepPoint // by size
}

// sweepPoint is one size of copy.
type sweepPoint struct {
	Bytes int64
	point
}

// sweepLink is what links of one line rate allow.
type sweepLink struct {
	Titles   []string // Gen3 x8, Gen4 x4
	LineRate float64
	Protocol span
}

// Limits of one chart; what goes beyond them goes to further charts.
const (
	minSizes   = 3 // of a line
	maxDevices = 8
	maxLines   = 12 // above, each kind of memory has its own chart
)

// sweepsOf extracts the charts' data.
func sweepsOf(reports []*results.Report) []sweep {
	var all []sweep
	for part := range slices.Chunk(sweptCopies(reports), maxDevices) {
		s := sweep{Links: linksOf(part), Batch: oneBatch(reports), reports: reports}
		for i, c := range part {
			device, link := c.title(reports[c.report])
			name := results.Clip(device, maxDevice)
			if link != "" {
				name += ", " + results.Clip(link, maxDevice)
			}
			s.Devices = append(s.Devices, name)
			s.Lines = append(s.Lines, linesOf(c, i)...)
		}
		all = append(all, s.split()...)
	}
	return all
}

// sweptCopies gathers the devices to which enough sizes are copied.
func sweptCopies(reports []*results.Report) []copies {
	return slices.DeleteFunc(pcieCopies(reports, func(rep *results.Report, r *results.Result) bool {
		_, ok := pointOf(r, "bandwidth")
		ok = ok && r.Status == results.OK
		dtype := cmp.Or(r.Params.Text("dtype"), "float32") // the run's own is what it sweeps
		return ok && r.Params.Text("dir") == "h2d" && r.Params.Int("bytes") > 0 && dtype == cmp.Or(rep.Config.DType, "float32")
	}), func(c copies) bool { return len(linesOf(c, 0)) == 0 })
}

// linesOf returns a line for each kind of memory with enough sizes.
func linesOf(c copies, device int) []sweepLine {
	var lines []sweepLine
	for _, r := range c.Results {
		mem := clean(r.Params.Text("mem"))
		i := slices.IndexFunc(lines, func(l sweepLine) bool { return l.Mem == mem })
		if i < 0 {
			i = len(lines)
			lines = append(lines, sweepLine{Device: device, Source: device, Mem: mem, dashes: memDashes[mem]})
		}
		l := &lines[i]
		bytes := r.Params.Int("bytes")
		if slices.ContainsFunc(l.Points, func(p sweepPoint) bool { return p.Bytes == bytes }) {
			continue // the same copy with other parameters; the first is the plain one
		}
		p, _ := pointOf(r, "bandwidth")
		l.Points = append(l.Points, sweepPoint{bytes, p})
		l.Assumed = l.Assumed || len(r.Assumed) > 0
	}
	lines = slices.DeleteFunc(lines, func(l sweepLine) bool { return len(l.Points) < minSizes })
	for _, l := range lines {
		slices.SortFunc(l.Points, func(a, b sweepPoint) int { return cmp.Compare(a.Bytes, b.Bytes) })
	}
	slices.SortStableFunc(lines, func(a, b sweepLine) int { return compareMem(a.Mem, b.Mem) })
	return lines
}

// linksOf lists the links of devices by line rate; links of one rate, such as
// Gen3 x8 and Gen4 x4, share an entry.
func linksOf(devices []copies) []sweepLink {
	var links []sweepLink
	for _, c := range devices {
		var l sweepLink
		for _, r := range c.Results {
			first(&l.LineRate, valueOf(r, "line-rate", "bandwidth"))
			first(&l.Protocol, spanOf(r, "protocol-band", "bandwidth"))
		}
		if l.LineRate == 0 {
			continue
		}
		i := slices.IndexFunc(links, func(have sweepLink) bool { return math.Abs(have.LineRate/l.LineRate-1) < 1e-3 })
		if i < 0 {
			i = len(links)
			links = append(links, l)
		}
		if c.Link != "" && !slices.Contains(links[i].Titles, c.Link) {
			links[i].Titles = append(links[i].Titles, c.Link)
		}
	}
	slices.SortStableFunc(links, func(a, b sweepLink) int { return cmp.Compare(a.LineRate, b.LineRate) })
	return links
}

// split returns s, or one sweep for each kind of memory when s has too many lines or
// compares machines.
func (s sweep) split() []sweep {
	if len(s.Lines) <= maxLines && !s.Versus {
		return []sweep{s}
	}
	var mems []string
	for _, l := range s.Lines {
		if !slices.Contains(mems, l.Mem) {
			mems = append(mems, l.Mem)
		}
	}
	slices.SortFunc(mems, compareMem)
	var all []sweep
	for _, mem := range mems {
		one := s
		one.Mem = mem
		one.Lines = slices.DeleteFunc(slices.Clone(s.Lines), func(l sweepLine) bool { return l.Mem != mem })
		all = append(all, one)
	}
	return all
}

// oneBatch is the size of the reports' float32 batch, 0 if they differ.
func oneBatch(reports []*results.Report) int64 {
	if b := batches(reports); len(b) == 1 {
		return b[0].Bytes()
	}
	return 0
}
