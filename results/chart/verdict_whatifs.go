package chart

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"

	"dlbench/results"
)

// allWhatIfs are the changes by each metric.
func allWhatIfs(reports []*results.Report) (all []bars) {
	for _, m := range predictedMetrics {
		all = append(all, whatIfs(reports, m))
	}
	return all
}

// predictedMetric is one of the metrics that predictions are of.
type predictedMetric struct {
	name, unit    string // of the prediction
	title, better string
	quantity
}

var predictedMetrics = []predictedMetric{
	{"throughput", results.PerSecond, "throughput of the loader", "longer is better", throughput},
	{"step_time", results.Seconds, "time of a training step", "shorter is better", timePerStep},
}

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
func whatIfs(reports []*results.Report, m predictedMetric) bars {
	v := bars{
		title:    "What changes would bring: " + m.title,
		subtitle: "Predicted, free changes before purchases; in brackets against the loader as it is; " + m.better,
		quantity: m.quantity,
		captions: captions(reports, gpuText),
		spread:   "interval of the prediction",
		whole:    "predicted from what was measured",
	}
	if len(reports) > 1 {
		v.machines = machines(reports)
	}
	for i, rep := range reports {
		for _, p := range rep.Predictions {
			if p.Metric != m.name || p.Unit != m.unit || p.Measured != nil || !drawable(p.Value) {
				continue
			}
			change := cmp.Or(clean(p.Change), "unnamed change")
			k := whatIfKey{cost: len(costs) - 1}
			for n, c := range costs {
				if c.cost == p.Cost {
					k.cost = n
				}
			}
			g := barGroup{Title: costs[k.cost].title, fill: costs[k.cost].fill}
			if v.machines != nil {
				k.change = change
				g.Title = change
				if p.Cost != "" {
					g.Title += " (" + short(p.Cost) + ")"
				}
			}
			for _, a := range p.Assumed {
				g.Assumed = append(g.Assumed, short(a))
			}
			k.assumed = results.AssumedText(g.Assumed)
			g.key = k
			v.add(g, whatIfRow(i, p, change, m, v.machines != nil))
		}
		v.Demands = append(v.Demands, demandOf(rep, m)...)
	}
	v.pair()
	slices.SortStableFunc(v.Groups, func(a, b barGroup) int {
		return cmp.Compare(a.key.(whatIfKey).cost, b.key.(whatIfKey).cost)
	})
	slices.SortStableFunc(v.Demands, func(a, b mark) int { return cmp.Compare(a.At, b.At) })
	v.Demands = slices.CompactFunc(v.Demands, func(a, b mark) bool { return a.Text == b.Text })
	return v
}

func whatIfRow(machine int, p results.Prediction, change string, m predictedMetric, several bool) barRow {
	row := barRow{Machine: machine, point: point{Median: *p.Value}, Value: m.value(*p.Value)}
	if !several {
		row.Detail = change
	}
	row.Spread = spanAround(*p.Value, p.Lo, p.Hi)
	if drawable(p.Base) {
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
	if math.Abs(x) < 0.0005 {
		return "±0 %"
	}
	s := strconv.FormatFloat(100*math.Abs(x), 'g', 3, 64)
	switch a := math.Abs(x); {
	case a < 0.1:
		s = strconv.FormatFloat(100*a, 'f', 1, 64)
	case a < 1e4:
		s = strconv.FormatFloat(100*a, 'f', 0, 64)
	}
	if x < 0 {
		return "−" + s + " %"
	}
	return "+" + s + " %"
}

// demandOf is what the GPU of a report's verdict takes in, in the metric.
func demandOf(rep *results.Report, m predictedMetric) []mark {
	if rep.Verdict == nil || !drawable(rep.Verdict.Needs) {
		return nil
	}
	rate := *rep.Verdict.Needs
	at := rate
	if m.unit == results.Seconds {
		at = float64(rep.Config.Batch) / rate
	}
	name := cmp.Or(short(rep.Verdict.NeedsFrom), "demand")
	return markOf(at, fmt.Sprintf("%s: %s", name, m.value(at)), nil)
}
