package chart

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	"dlbench/results"
)

// whatIfCharts shows what changes are predicted to bring: a chart for each metric.
func whatIfCharts(reports []*results.Report) []Chart {
	var figures []func() *figure
	for _, m := range predictedMetrics {
		for _, v := range whatIfs(reports, m).charts() {
			figures = append(figures, func() *figure {
				f := &figure{
					title:    v.titled("What changes would bring: " + m.text),
					subtitle: "Predicted, free changes before purchases; in brackets against the loader as it is; " + m.better,
					caption:  shared(v.shown(pipeCaptions(reports))),
				}
				if v.names == nil {
					f.caption = pipeCaptions(reports)
				}
				return v.fill(f, m.axis)
			})
		}
	}
	return numbered("verdict-whatifs", figures)
}

// predictedMetric is one of the metrics that predictions are of.
type predictedMetric struct {
	name, unit   string // of the prediction
	text, better string
	axis         axis
}

var predictedMetrics = []predictedMetric{
	{"throughput", results.PerSecond, "throughput of the loader", "longer is better", imagesAxis},
	{"step_time", results.Seconds, "time of a training step", "shorter is better", timeAxis("time per step")},
}

// value is v in words.
func (m predictedMetric) value(v float64) string { return m.axis.unit(v).text(v) }

// costs are the costs of changes in the order in which they are shown.
var costs = []struct {
	cost, title string
	fill        color.Color
}{
	{results.Free, "free: a setting, or work to be done once", color.RGBA{0x00, 0x9E, 0x73, 255}},
	{results.Purchase, "purchases", color.RGBA{0x00, 0x72, 0xB2, 255}},
	{"", "no advice: what other circumstances would bring", color.Gray{120}},
}

// whatIfKey is what changes have in common that are shown together: of one machine
// their cost, of several the change.
type whatIfKey struct {
	cost            int
	change, assumed string
}

// whatIfs has a group for each cost of changes of one machine, and for each change of
// several machines. A prediction that was measured is a check, and not among them.
func whatIfs(reports []*results.Report, m predictedMetric) versus {
	v := versus{spread: "interval of the prediction", whole: "predicted from what was measured"}
	if len(reports) > 1 {
		v.names = machines(reports)
	}
	for i, rep := range reports {
		for _, p := range rep.Predictions {
			if p.Metric != m.name || p.Unit != m.unit || p.Measured != nil || p.Value == nil || !positive(*p.Value) || *p.Value < tiny {
				continue
			}
			change := cmp.Or(clean(p.Change), "unnamed change")
			k := whatIfKey{cost: len(costs) - 1}
			for n, c := range costs {
				if c.cost == p.Cost {
					k.cost = n
				}
			}
			g := versusGroup{Title: costs[k.cost].title, fill: costs[k.cost].fill}
			if v.names != nil {
				k.change = change
				g.Title = change
				if p.Cost != "" {
					g.Title += " (" + results.Clip(clean(p.Cost), maxDevice) + ")"
				}
			}
			for _, a := range p.Assumed {
				g.Assumed = append(g.Assumed, results.Clip(clean(a), maxDevice))
			}
			k.assumed = inWords(g.Assumed)
			g.key = k
			v.add(g, whatIfRow(i, p, change, m, v.names != nil))
		}
		v.Demands = append(v.Demands, demandOf(rep, m)...)
	}
	var titles []string
	for _, g := range v.Groups {
		titles = append(titles, g.Title)
	}
	slices.SortStableFunc(v.Groups, func(a, b versusGroup) int { // measured and assumed side by side
		return cmp.Or(cmp.Compare(a.key.(whatIfKey).cost, b.key.(whatIfKey).cost),
			cmp.Compare(slices.Index(titles, a.Title), slices.Index(titles, b.Title)), cmp.Compare(len(a.Assumed), len(b.Assumed)))
	})
	slices.SortStableFunc(v.Demands, func(a, b versusMark) int { return cmp.Compare(a.At, b.At) })
	v.Demands = slices.CompactFunc(v.Demands, func(a, b versusMark) bool { return a.Text == b.Text })
	return v
}

func whatIfRow(machine int, p results.Prediction, change string, m predictedMetric, several bool) versusRow {
	row := versusRow{Machine: machine, point: point{Median: *p.Value}, Value: m.value(*p.Value)}
	if !several {
		row.Detail = change
	}
	if p.Lo != nil && p.Hi != nil && positive(*p.Lo) && positive(*p.Hi) && *p.Lo <= *p.Value && *p.Value <= *p.Hi {
		row.Spread = span{*p.Lo, *p.Hi}
	}
	if p.Base != nil && positive(*p.Base) {
		row.Marks = markOf(*p.Base, "the loader as it is, measured", drawRate)
		row.Value += " (" + signed(*p.Value / *p.Base - 1) + ")"
	}
	if p.Extrapolated {
		row.Doubt = doubtExtrapolated
	}
	return row
}

// signed is a change as a share: +23 %, −4.1 %, ±0 %.
func signed(x float64) string {
	digits := 2
	if a := math.Abs(x); a >= 1 && a < 1e4 {
		digits = 3 + int(math.Log10(a))
	}
	s := shares.digits(math.Abs(x), digits) + " %"
	switch {
	case math.Abs(x) < 0.0005:
		return "±0 %"
	case x < 0:
		return "−" + s
	}
	return "+" + s
}

// demandOf is what the GPU of a report's verdict takes in, in the metric.
func demandOf(rep *results.Report, m predictedMetric) []versusMark {
	if rep.Verdict == nil || rep.Verdict.Demand == nil || !positive(*rep.Verdict.Demand) {
		return nil
	}
	rate := *rep.Verdict.Demand
	at := rate
	if m.unit == results.Seconds {
		at = float64(rep.Config.Batch) / rate
	}
	name := results.Clip(cmp.Or(clean(rep.Verdict.DemandName), "demand"), maxDevice)
	return markOf(at, fmt.Sprintf("%s: %s", name, m.value(at)), nil)
}
