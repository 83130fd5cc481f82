package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"dlbench/results"
)

// predictions are what a model said of cases, and what was then measured, in the base
// unit of the metric.
type predictions struct {
	metric  predictedMetric
	Names   []string // of machines, or of kinds of changes where there is one machine
	Points  []prediction
	reports []*results.Report
}

// prediction is one case.
type prediction struct {
	Source    int // index of Names
	Name      string
	Predicted float64
	Spread    span // told before anything was measured
	Measured  float64
	Assumed   []string
}

// maxPredictions bounds what one chart shows.
const maxPredictions = 400

// accurate is the error within which the band around the diagonal lies.
const accurate = 0.10

// error is how far the prediction is off, as a share of what was measured.
func (p prediction) error() float64 { return p.Predicted/p.Measured - 1 }

// predictionsOf extracts the charts' data: an element for each metric with a
// prediction that was measured.
func predictionsOf(reports []*results.Report) []predictions {
	var all []predictions
	for _, m := range predictedMetrics {
		d := predictions{metric: m, reports: reports}
		if len(reports) > 1 {
			d.Names = machines(reports)
		}
		for i, rep := range reports {
			for _, p := range rep.Predictions {
				if p.Metric != m.name || p.Unit != m.unit || !drawable(p.Measured) || !drawable(p.Value) || len(d.Points) == maxPredictions {
					continue
				}
				x := prediction{Source: i, Name: cmp.Or(clean(p.Change), "unnamed"), Predicted: *p.Value, Measured: *p.Measured}
				if len(reports) < 2 {
					x.Source = d.kind(cmp.Or(results.Clip(clean(p.Kind), maxDevice), "unnamed kind"))
				}
				if drawable(p.Lo) && drawable(p.Hi) && *p.Lo <= *p.Value && *p.Value <= *p.Hi {
					x.Spread = span{*p.Lo, *p.Hi}
				}
				for _, a := range p.Assumed {
					x.Assumed = append(x.Assumed, results.Clip(clean(a), maxDevice))
				}
				d.Points = append(d.Points, x)
			}
		}
		if len(d.Points) > 0 {
			all = append(all, d)
		}
	}
	return all
}

func drawable(v *float64) bool { return v != nil && positive(*v) && *v >= tiny }

// kind is the index of a kind of changes; those beyond the colours share the last.
func (d *predictions) kind(name string) int {
	last := len(deviceColor) - 1
	switch i := slices.Index(d.Names, name); {
	case i >= 0:
		return i
	case len(d.Names) > last:
		return last
	case len(d.Names) == last:
		name = "others"
	}
	d.Names = append(d.Names, name)
	return len(d.Names) - 1
}

// bounds are the range of what is drawn, of both axes.
func (d predictions) bounds() (least, most float64) {
	least = math.Inf(1)
	for _, p := range d.Points {
		least, most = min(least, p.Predicted, p.Measured), max(most, p.Predicted, p.Measured, p.Spread.Hi)
		if p.Spread != (span{}) {
			least = min(least, p.Spread.Lo)
		}
	}
	return least, most
}

// worst are the points outside of the band, at most n, from the one furthest off.
func (d predictions) worst(n int) []prediction {
	all := slices.DeleteFunc(slices.Clone(d.Points), func(p prediction) bool { return math.Abs(p.error()) <= accurate })
	slices.SortStableFunc(all, func(a, b prediction) int { return cmp.Compare(math.Abs(b.error()), math.Abs(a.error())) })
	return all[:min(n, len(all))]
}

// summary says of a source how many points it has and how far they are off.
func (d predictions) summary(source int) string {
	var n int
	var most float64
	for _, p := range d.Points {
		if p.Source == source {
			n++
			most = max(most, math.Abs(p.error()))
		}
	}
	if n == 1 {
		return fmt.Sprintf("%s: 1 check, off by %s %%", d.Names[source], shares.digits(most, 2))
	}
	return fmt.Sprintf("%s: %d checks, off by up to %s %%", d.Names[source], n, shares.digits(most, 2))
}
