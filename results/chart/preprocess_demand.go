package chart

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"dlbench/results"
)

// addDemands adds the demands that the results of w are held against to all, which
// are from the lowest.
func addDemands(all []demand, w wayCases) []demand {
	for _, c := range w.Cases {
		for _, r := range c.Result.References {
			title, ok := strings.CutPrefix(r.Name, "demand: ")
			if !ok || r.Metric != "throughput" || r.Value == nil || !positive(*r.Value) || *r.Value < tiny {
				continue
			}
			d := demand{cmp.Or(results.Clip(clean(title), maxDevice), "unnamed"), *r.Value}
			if !slices.ContainsFunc(all, func(o demand) bool { return o.Title == d.Title && math.Abs(o.Rate/d.Rate-1) < 1e-3 }) {
				all = append(all, d)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b demand) int { return cmp.Compare(a.Rate, b.Rate) })
	return all
}

// sortedDemands are the demands by where they stand in a chart.
type sortedDemands struct {
	Drawn     []demand
	Low, High []demand // outside of what the chart has room for
	Further   []demand // more than it can name
}

// demands sorts the demands, given the range of what was measured.
func (d scaling) demands() (s sortedDemands) {
	least, most := d.bounds()
	from, to := most/40, 1.5*most
	if d.logarithmic() {
		from, to = least/3, 3*most
	}
	for _, x := range d.Demands {
		switch {
		case x.Rate < from:
			s.Low = append(s.Low, x)
		case x.Rate > to:
			s.High = append(s.High, x)
		case len(s.Drawn) == maxDemands:
			s.Further = append(s.Further, x)
		default:
			s.Drawn = append(s.Drawn, x)
		}
	}
	return s
}

// demandCaptions list the demands that are not drawn.
func (d scaling) demandCaptions() [][]string {
	s := d.demands()
	var all [][]string
	for _, l := range []struct {
		what    string
		demands []demand
	}{{"demands above the chart ↑: ", s.High}, {"demands too low to draw ↓: ", s.Low}, {"further demands: ", s.Further}} {
		var parts []string
		for _, x := range l.demands[:min(len(l.demands), maxDemands)] {
			parts = append(parts, x.Title+" "+images.text(x.Rate))
		}
		if len(l.demands) > maxDemands {
			parts = append(parts, "…")
		}
		if len(parts) > 0 {
			parts[0] = l.what + parts[0]
			all = append(all, parts)
		}
	}
	return all
}
