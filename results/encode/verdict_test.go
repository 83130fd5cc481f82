package encode

import (
	"bytes"
	"strings"
	"testing"

	"dlbench/results"
)

func verdictReport() *results.Report {
	r := sampleReport()
	number := func(x float64) *float64 { return &x }
	r.Predictions = []results.Prediction{
		{Change: "prefetch 0, step 216ms", Kind: "prefetch", Metric: "step_time", Unit: results.Seconds, Value: number(0.2575), Lo: number(0.25), Hi: number(0.265), Measured: number(0.26), Error: number(-0.0096), Assumed: []string{"link", "step"}},
		{Change: "4 cores instead of 2", Kind: "cores", Metric: "throughput", Unit: results.PerSecond, Base: number(760), Value: number(2280), Lo: number(2000), Hi: number(2500), Error: number(0.04), Checks: 2, Extrapolated: true, Cost: results.Purchase},
	}
	r.Verdict = &results.Verdict{Status: results.Holds, Text: "the loader feeds 760 images/s, and preprocess bounds it", Bound: "preprocess", Loader: "preprocess", Feeds: number(760),
		Changes: []string{"purchase: 4 cores instead of 2: 2280 instead of 760 images/s"}, Notes: []string{"the link is assumed"}, Assumed: []string{"link"}}
	return r
}

func TestWriteVerdict(t *testing.T) {
	s := text(t, verdictReport(), 120)
	for _, want := range []string{
		"prefetch 0, step 216ms  step_time   257.5 ms  250.0..265.0 ms  260.0 ms  -1.0 %  link, step",
		"4 cores instead of 2  throughput  760.0 /s    2280 /s  2000..2500 /s  4.0 %, extrapolated  purchase",
		"verdict (assumed: link): the loader feeds 760 images/s, and preprocess bounds it\n1. purchase: 4 cores",
		"\n- the link is assumed\n",
	} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q in\n%s", want, s)
		}
	}
	for width := LeastWidth; width < 130; width++ {
		fits(t, text(t, verdictReport(), width), width)
	}
	var b bytes.Buffer
	if err := Markdown(&b, verdictReport()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"### Predicted, then measured\n\n| checked |", "### What if\n\n| change |", "### Verdict\n\nverdict (assumed: link): ", "\n1. purchase: 4 cores", "\n- the link is assumed\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestPredictions(t *testing.T) {
	all := verdictReport().Predictions[1:]
	all[0].Note, all[0].Assumed = "a note\x1b[2J", []string{"link"}
	var b bytes.Buffer
	if err := Predictions(&b, all, 100); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"change", "extrapolated", "4 cores instead of 2: a note[2J", "assumed, not measured: link"} {
		if !strings.Contains(strings.Join(strings.Fields(b.String()), " "), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "\x1b") {
		t.Error("a report's note can steer the terminal")
	}
}
