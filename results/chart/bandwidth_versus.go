package chart

import (
	"slices"

	"gonum.org/v1/plot/vg"

	"dlbench/results"
)

// bandwidthVersusCharts shows how bandwidth grows with the size of a copy on each
// machine.
func bandwidthVersusCharts(reports []*results.Report) []Chart {
	var figures []func() *figure
	for _, s := range sweepsVersus(reports) {
		figures = append(figures, s.figure)
	}
	return numbered("pcie-bandwidth-size", figures)
}

// sweepsVersus has an element for each kind of memory, with a line for each device of
// each machine: dashes tell the devices of one machine apart.
func sweepsVersus(reports []*results.Report) []sweep {
	names := machines(reports)
	devices := sweptCopies(reports)
	var all []sweep
	for part := range slices.Chunk(devices, maxDevices) {
		s := sweep{Versus: true, Links: linksOf(part), Batch: oneBatch(reports), reports: reports}
		for i, c := range part {
			_, link := c.title(reports[c.report])
			name := names[c.report] + ", " + c.detail(reports, devices)
			if slices.ContainsFunc(c.Results, func(r *results.Result) bool { return len(r.Assumed) > 0 }) && link != "" {
				name += ", assumed"
			}
			s.Devices = append(s.Devices, name)
			nth := slices.IndexFunc(devices, func(o copies) bool { return o.report == c.report })
			nth = slices.IndexFunc(devices, func(o copies) bool { return o.report == c.report && o.Spec == c.Spec }) - nth
			for _, l := range linesOf(c, i) {
				l.Source, l.dashes = c.report, feedDashes(nth)
				s.Lines = append(s.Lines, l)
			}
		}
		all = append(all, s.split()...)
	}
	return all
}

// deviceDashes are those of a device where dashes tell devices apart.
func (s sweep) deviceDashes(l sweepLine) []vg.Length {
	if s.Versus {
		return l.dashes
	}
	return nil
}
