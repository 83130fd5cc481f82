package chart

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"dlbench/results"
)

// feeds say how busy loaders keep a device by the time that it works on a batch.
type feeds struct {
	Batch   int // images
	Curves  []feedCurve
	Demands []demand // images/s, from the highest: from the shortest step
	cases   []pipeCase
	reports []*results.Report
}

// feedCurve is a loader at top speed: with a device that works longer than Knee on
// a batch it keeps up.
type feedCurve struct {
	Name    string
	Rate    float64 // images/s
	Knee    float64 // s per batch
	Spread  span    // of Knee
	Range   bool    // Spread is minimum and maximum
	Assumed bool
	Points  []feedPoint // by step
}

// feedPoint is what was measured with a device that works.
type feedPoint struct {
	Step float64 // s
	point
	Assumed bool
}

// maxFeeds is how many curves one chart shows; more go to another.
const maxFeeds = 6

// feedsOf extracts the charts' data: an element for each number of images in a
// batch, more for more than maxFeeds curves.
func feedsOf(reports []*results.Report) []feeds {
	var sizes []int
	for _, r := range reports {
		if n := r.Config.Batch; n > 0 && !slices.Contains(sizes, n) {
			sizes = append(sizes, n)
		}
	}
	var all []feeds
	for _, n := range sizes {
		var those []*results.Report
		for _, r := range reports {
			if r.Config.Batch == n {
				those = append(those, r)
			}
		}
		top := pipeCases(those, func(c pipeCase) bool {
			p, ok := diskPoint(c.Result, "throughput")
			return c.Step == 0 && c.Free == nothing && !c.Failed() && ok && positive(float64(n)/p.Median)
		})
		busy := pipeCases(those, func(c pipeCase) bool {
			_, ok := utilisationOf(c.Result)
			return c.Step > 0 && c.Free == nothing && !c.Failed() && ok
		})
		for part := range slices.Chunk(top, maxFeeds) {
			d := feeds{Batch: n, cases: part, reports: those}
			names := pipeLines(those, part)
			for i, c := range part {
				d.Curves = append(d.Curves, feedCurveOf(c, names[i], n))
				d.addDemands(c.Result)
				for _, b := range busy {
					if b.pipe == c.pipe {
						p, _ := utilisationOf(b.Result)
						d.Curves[i].Points = append(d.Curves[i].Points, feedPoint{b.Step, p, b.Assumed()})
						d.cases = append(slices.Clip(d.cases), b)
					}
				}
				slices.SortFunc(d.Curves[i].Points, func(a, b feedPoint) int { return cmp.Compare(a.Step, b.Step) })
			}
			slices.SortStableFunc(d.Demands, func(a, b demand) int { return cmp.Compare(b.Rate, a.Rate) })
			all = append(all, d)
		}
	}
	return all
}

// utilisationOf reads the share of the time that the device works.
func utilisationOf(r *results.Result) (p point, ok bool) {
	p, ok = diskPoint(r, "utilisation")
	p.Spread.Hi = min(p.Spread.Hi, 1)
	return p, ok && p.Median <= 1
}

func feedCurveOf(c pipeCase, name string, images int) feedCurve {
	p, _ := diskPoint(c.Result, "throughput")
	f := feedCurve{Name: name, Rate: p.Median, Knee: float64(images) / p.Median, Assumed: c.Assumed()}
	if p.Spread != (span{}) {
		f.Spread, f.Range = span{float64(images) / p.Spread.Hi, float64(images) / p.Spread.Lo}, p.Range
	}
	return f
}

// addDemands adds the demands that r is held against.
func (d *feeds) addDemands(r *results.Result) {
	for _, ref := range r.References {
		title, ok := strings.CutPrefix(ref.Name, results.DemandPrefix)
		if !ok || ref.Metric != "throughput" || ref.Value == nil || !positive(*ref.Value) || *ref.Value < tiny || len(d.Demands) == maxDemands {
			continue
		}
		x := demand{results.Clip(cmp.Or(clean(title), "unnamed"), maxDevice), *ref.Value}
		if !slices.ContainsFunc(d.Demands, func(o demand) bool { return o.Title == x.Title && math.Abs(o.Rate/x.Rate-1) < 1e-3 }) {
			d.Demands = append(d.Demands, x)
		}
	}
}

// at is how busy the loader of f keeps a device that works so long on a batch.
func (f feedCurve) at(step float64) float64 { return min(1, step/f.Knee) }

// feedMark is something at a time, with a label above the chart.
type feedMark struct {
	Step  float64 // s
	Text  string
	Curve int // index, -1 for a demand
}

// marks are the knees and the steps of demands, from the shortest.
func (d feeds) marks() []feedMark {
	var all []feedMark
	for i, f := range d.Curves {
		u := secondsFor(f.Knee)
		all = append(all, feedMark{f.Knee, "keeps up from " + u.number(f.Knee) + " " + u.name + ", " + images.text(f.Rate), i})
	}
	for _, x := range d.Demands {
		step := float64(d.Batch) / x.Rate
		u := secondsFor(step)
		all = append(all, feedMark{step, x.Title + ": " + u.number(step) + " " + u.name + ", " + images.text(x.Rate), -1})
	}
	slices.SortStableFunc(all, func(a, b feedMark) int { return cmp.Compare(a.Step, b.Step) })
	return all
}
