package chart

import (
	"math"
	"strings"
	"testing"

	"dlbench/results"
)

// verdictReport is a machine with an answer and checks of the model.
func verdictReport(label string, assumed ...string) *results.Report {
	rep := newReport(label)
	rep.Verdict = &results.Verdict{Answer: results.AnswerNo, Loader: results.OwnLoader, Bottleneck: "preprocess",
		Feeds: new(697.0), FeedsLo: new(680.0), FeedsHi: new(713.0), Needs: new(2470.0), NeedsFrom: "ResNet-50, A100",
		Assumed: assumed, NoEffect: []string{"faster disk", "more lanes"},
		Parts: []results.PartTime{{Name: "preprocess", Time: 44.4e-3}, {Name: "read", Time: 1.8e-3},
			{Name: "copy", Time: 1.5e-3}},
		Changes: []results.Change{
			{Name: "4 cores", Value: 2100, Lo: 1880, Hi: 2595, Enough: "perhaps", Evidence: "extrapolated"},
			{Name: "JPEGs at 256 px", Value: 1200, Lo: 922, Hi: 1579, Enough: "no", Evidence: "estimate"},
			{Name: "prepared tensors", Value: 7000, Lo: 5620, Hi: 9452, Enough: "yes", Evidence: "measured"},
		}}
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
	rep.Verdict.Changes = append(rep.Verdict.Changes, results.Change{Name: "no value"},
		results.Change{Name: "not positive", Value: -1, Lo: -2, Hi: 3},
		results.Change{Value: 900, Lo: 1000, Hi: math.Inf(1)})
	return one(rep)
}

// loadersReport is a machine on which two loaders of the user's were measured.
func loadersReport(label string) *results.Report {
	rep := newReport(label)
	for i, loader := range []string{"torchvision", results.OwnLoader, "dali"} {
		for _, workers := range []int64{1, 2} {
			r := caseOf("external", "loader", loader, "workers", workers, "step", "0s")
			r.Metrics = []results.Metric{sampled("throughput", results.PerSecond, float64(workers)*float64(300+200*i),
				0.97, 1.04)}
			rep.Results = append(rep.Results, r)
		}
	}
	rep.Results[5] = failing(rep.Results[5])
	rep.Results[0].Params = rep.Results[0].Params.With("loader", "torchvision")
	for _, inTraining := range []string{results.WrapLoader, results.ProbeLoader} { // no place in any chart: something waited
		r := caseOf("external", "loader", inTraining, "workers", int64(1), "step", "0s")
		r.Metrics = []results.Metric{sampled("throughput", results.PerSecond, 50, 0.97, 1.04)}
		rep.Results = append(rep.Results, r)
	}
	return rep
}

// On a telephone a need keeps its unit, in short where there is no room for it.
func TestNeedOnATelephone(t *testing.T) {
	rep := verdictReport("")
	rep.Verdict.Changes = []results.Change{{Name: "a loader as fast as dlbench", Value: 684, Lo: 475, Hi: 893}}
	rep.Verdict.NeedsFrom = "8 x ResNet-50, A100 80 GB, mixed precision (NVIDIA)"
	for need, want := range map[float64]string{148: ">needed: 148 images/s,", 16621: ">needed: 16621/s,"} {
		rep.Verdict.Needs = &need
		var svg strings.Builder
		if err := (Chart{figure: whatIfs(one(rep))[0].figure}).Write(&svg, Narrow); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(svg.String(), want) {
			t.Errorf("no %q in\n%s", want, svg.String())
		}
	}
}
