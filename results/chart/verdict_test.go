package chart

import (
	"fmt"
	"slices"
	"testing"

	"dlbench/results"
)

// verdictReport is a machine with checks of the model and what it says of changes.
func verdictReport(label string, assumed ...string) *results.Report {
	rep := newReport(label)
	rep.Verdict = &results.Verdict{Bottleneck: "preprocess", Needs: new(919.5), NeedsFrom: "ResNet-50 on A100"}
	add := func(change, kind, cost string, base, value float64, beyond bool) {
		rep.Predictions = append(rep.Predictions,
			results.Prediction{Change: change, Kind: kind, Metric: "throughput", Unit: results.PerSecond, Cost: cost,
				Base: new(base), Value: new(value), Lo: new(0.9 * value), Hi: new(1.1 * value), Extrapolated: beyond,
				Assumed: assumed})
	}
	add("16 cores instead of 2", "cores", results.Purchase, 240, 1900, true)
	add("pinned memory", "memory", results.Free, 240, 252, false)
	add("strategy 2", "strategy", results.Free, 240, 5000, false)
	add("data larger than RAM", "read", "", 240, 80, true)
	check := func(change, kind, metric, unit string, predicted, measured float64, assumed ...string) {
		rep.Predictions = append(rep.Predictions,
			results.Prediction{Change: change, Kind: kind, Metric: metric, Unit: unit,
				Value: new(predicted), Lo: new(0.95 * predicted), Hi: new(1.05 * predicted), Measured: new(measured),
				Assumed: assumed})
	}
	check("no copies", "parts", "throughput", results.PerSecond, 250, 245)
	check("another link", "link", "throughput", results.PerSecond, 500, 400, "link")
	check("a step of 216 ms", "step", "step_time", results.Seconds, 0.218, 0.2161, "link", "step")
	return rep
}

// oddChanges is a machine of whose changes some cannot be drawn.
func oddChanges() []*results.Report {
	rep := verdictReport("")
	rep.Predictions = append(rep.Predictions,
		results.Prediction{Change: "no value", Metric: "throughput", Unit: results.PerSecond},
		results.Prediction{Change: "not positive", Metric: "throughput", Unit: results.PerSecond, Value: new(-1.0)},
		results.Prediction{Change: "another metric", Metric: "wait", Unit: results.Seconds, Value: new(1.0)})
	return one(rep)
}

func TestPredictionsOf(t *testing.T) {
	rep := verdictReport("")
	for i := range 10 {
		p := rep.Predictions[4]
		p.Kind = fmt.Sprint("kind ", i)
		rep.Predictions = append(rep.Predictions, p)
	}
	all := predictionsOf([]*results.Report{rep})
	if len(all) != 2 || len(all[0].Points) != 12 || len(all[1].Points) != 1 {
		t.Fatalf("have %+v, want checks of two metrics", all)
	}
	d := all[0]
	if len(d.Names) != len(seriesColor) || d.Names[7] != "others" || d.Points[11].Source != 7 {
		t.Errorf("kinds %q, the last of %d, want eight with the rest together", d.Names, d.Points[11].Source)
	}
	if have, want := d.curve(1).Name, "link: 1 check, off by 25 %"; have != want {
		t.Errorf("have %q, want %q", have, want)
	}
	if have, want := d.curve(7).Name, "others: 5 checks, off by up to 2 %"; have != want {
		t.Errorf("have %q, want %q", have, want)
	}
	worst := d.worst(5)
	if len(worst) != 1 || worst[0].Name != "another link" || worst[0].error() != 0.25 ||
		!slices.Equal(worst[0].Assumed, []string{"link"}) {
		t.Errorf("far off: %+v, want the link alone", worst)
	}
	several := predictionsOf([]*results.Report{verdictReport("a"), verdictReport("b")})
	if !slices.Equal(several[0].Names, []string{"a", "b"}) || several[0].Points[2].Source != 1 {
		t.Errorf("have %+v, want points by machine", several[0])
	}
}

func TestSigned(t *testing.T) {
	for x, want := range map[float64]string{0: "±0 %", 0.0004: "±0 %", 0.051: "+5.1 %", -0.041: "−4.1 %",
		2.3: "+230 %", 1234: "+123400 %", 1e6: "+1e+08 %", -1: "−100 %"} {
		if have := signed(x); have != want {
			t.Errorf("%g: have %s, want %s", x, have, want)
		}
	}
}
