package results

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// report wraps results with what every report has.
func report(rs ...Result) *Report {
	return &Report{SchemaVersion: SchemaVersion, Status: Complete, Tool: Tool{Name: "dlbench", Version: "v1"},
		Results: rs}
}

// measured is a case of the suite pcie with one metric.
func measured(m Metric, key, value string) Result {
	res := newResult("pcie", Params{{Key: key, Value: value}})
	res.Metrics = []Metric{m}
	return res
}

// runs is a time around center, of 20 samples a run.
func runs(n int, center float64) Metric {
	m := Metric{Name: "time", Unit: Seconds, Better: Lower}
	for i := range 20 * n {
		m.Samples = append(m.Samples, Sample{Value: center * (1 + float64(i*7%20)/1e4), N: 1, T: float64(i), Run: i / 20})
	}
	Summarize(&m, SummaryOptions{})
	return m
}

// runsOfOne are reports of runs of one machine: quiet runs at center.
func runsOfOne(n int, center float64) (rs []*Report) {
	for i := range n {
		r := report(measured(runs(1, center+float64(i)/100), "mem", "pinned"))
		r.Host.CPU.Model = "EPYC"
		r.Started = time.Unix(int64(1000-i), 0)
		rs = append(rs, r)
	}
	return rs
}

func mustMerge(t *testing.T, reports ...*Report) *Report {
	t.Helper()
	r, err := Merge(reports...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestMerge(t *testing.T) {
	in := runsOfOne(3, 1)
	in[1] = report(measured(runs(2, 1), "mem", "pinned"), measured(runs(1, 2), "mem", "pageable"))
	in[1].Host.CPU.Model = "EPYC"
	in[0].Findings = []Finding{{Claim: "A1"}}
	in[2].Warnings = []string{"busy"}
	before := len(in[0].Results[0].Metrics[0].Samples)
	got := mustMerge(t, in...)
	m := got.Results[0].Metric("time")
	var runs []int
	for _, s := range m.Samples {
		runs = AppendNew(runs, s.Run)
	}
	if !slices.Equal(runs, []int{0, 1, 2, 3}) || len(m.Samples) != 80 || m.Runs == nil || m.Runs.N != 4 {
		t.Errorf("runs %v, %d samples, %+v; want 4 runs of 20", runs, len(m.Samples), m.Runs)
	}
	if len(got.Results) != 2 || got.Results[1].Name != "pcie/mem=pageable" ||
		got.Results[1].Metrics[0].Samples[0].Run != 1 {
		t.Errorf("results %+v, want the second's own case with its run counted on", got.Results)
	}
	if got.Merged != 3 || got.Config.Repeat != 4 || got.Findings != nil ||
		!slices.Equal(got.Warnings, []string{"busy"}) {
		t.Errorf("merged %d, repeat %d, findings %v, warnings %v", got.Merged, got.Config.Repeat, got.Findings,
			got.Warnings)
	}
	if len(in[0].Results[0].Metrics[0].Samples) != before || in[0].Findings == nil {
		t.Error("Merge changed what it was given")
	}
	if one := mustMerge(t, in[0]); one != in[0] {
		t.Errorf("one report: %v", one)
	}
}

func TestMergeStatus(t *testing.T) {
	in := runsOfOne(3, 1)
	in[0].Results[0].Status, in[0].Results[0].Reason = Skipped, "no memory"
	in[2].Results[0].Status, in[2].Results[0].Reason = Failed, "self-check"
	in[2].Status = Interrupted
	in[1].Results[0].Proof = RecordOf(map[string]any{"proven": true})
	in[1].Results[0].References = []Reference{{Name: "line-rate", Metric: "time"}}
	got := mustMerge(t, in...)
	res := got.Results[0]
	want := []string{"skipped in another run: no memory", "failed in another run: self-check"}
	if res.Status != OK || !slices.Equal(res.Warnings, want) || len(res.Metrics[0].Samples) != 20 ||
		got.Status != Interrupted {
		t.Errorf("%s, %q, %d samples, report %s", res.Status, res.Warnings, len(res.Metrics[0].Samples), got.Status)
	}
	if proven, _ := res.Proven(); !proven || res.Reference("line-rate", "time") == nil {
		t.Errorf("proof %v, references %v, want those of the run that finished", res.Proof, res.References)
	}
	if res := mustMerge(t, in[0], in[2]).Results[0]; res.Status != Failed || res.Reason != "self-check" {
		t.Errorf("%+v; want failed", res)
	}
}

func TestMergeDerivedAndAssumed(t *testing.T) {
	in := runsOfOne(2, 1)
	for i, r := range in {
		res := &r.Results[0]
		res.Assumed = []string{"link"}
		Summarize(&res.Metrics[0], SummaryOptions{NoInterval: true})
		res.Metrics = append(res.Metrics, Metric{Name: "efficiency", Unit: Ratio, Median: 0.5 + float64(i)/10, Min: 0.4,
			Max: 0.7})
		res.Proof = RecordOf(map[string]any{"proven": i == 0})
	}
	res := mustMerge(t, in...).Results[0]
	if m := res.Metric("efficiency"); math.Abs(m.Median-0.55) > 1e-9 || len(m.Samples) != 2 {
		t.Errorf("efficiency %+v, want the median of both", m)
	}
	if m := res.Metric("time"); m.Lo != nil || m.Reason != ReasonAssumed || m.Runs == nil || m.Runs.Lo != nil {
		t.Errorf("assumed time %+v, want no interval", m)
	}
	if proven, known := res.Proven(); proven || !known {
		t.Error("one run without proof was forgotten")
	}
}

func TestMergeRefuses(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*Report)
		want   string
	}{
		{"CPU", func(r *Report) { r.Host.CPU.Model = "Xeon" }, "CPU is EPYC and Xeon"},
		{"batch", func(r *Report) { r.Config.Batch = 64 }, "batch is unknown and 64"},
		{"dtype", func(r *Report) { r.Config.DType = "uint8" }, "dtype is unknown and uint8"},
		{"driver", func(r *Report) { r.Software.Driver = "12.4" }, "driver is"},
		{"GPU", func(r *Report) { r.Host.GPUs = []GPU{{Name: "T4"}} }, "GPUs is unknown and T4"},
		{"version", func(r *Report) { r.Tool.Version = "v2" }, "dlbench is v1 and v2"},
		{"data", func(r *Report) { r.Dataset = &Dataset{Store: "raw", Images: 7} }, "data is unknown and raw 7 images"},
		{"assumed", func(r *Report) { r.Results[0].Assumed = []string{"link"} },
			"pcie/mem=pinned: measured and simulated link are not merged"},
		{"unit", func(r *Report) { r.Results[0].Metrics[0].Unit = "ms" },
			"pcie/mem=pinned: the reports disagree on the unit of time"},
		{"direction", func(r *Report) { r.Results[0].Metrics[0].Better = Higher },
			"pcie/mem=pinned: the reports disagree on the unit of time, or on which way it is better"},
		{"names", func(r *Report) { r.Results = append(r.Results, r.Results[0]) }, "two results are named"},
	} {
		in := runsOfOne(2, 1)
		test.change(in[1])
		if _, err := Merge(in...); err == nil || !strings.Contains(err.Error(), test.want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want one line with %q", test.name, err, test.want)
		}
	}
	one := runsOfOne(1, 1)[0]
	if _, err := Merge(one, one); err == nil || !strings.Contains(err.Error(), "same run twice") {
		t.Errorf("a report and itself: %v", err)
	}
}

func TestRunsOfAMetric(t *testing.T) {
	m := Metric{Name: "time", Unit: Seconds}
	for run, level := range []float64{1, 1.1, 0.9} {
		for _, d := range []float64{-0.01, 0, 0.01} {
			m.Samples = append(m.Samples, Sample{Value: level + d, Run: run})
		}
	}
	Summarize(&m, SummaryOptions{})
	r := m.Runs
	if r == nil || r.N != 3 || r.Min != 0.9 || r.Max != 1.1 || r.Lo == nil {
		t.Fatalf("%+v", r)
	}
	// The logarithms of 1, 1.1 and 0.9 have mean -0.003350 and deviation 0.10033, Student's
	// t of 2 degrees of freedom is 4.3027: -0.003350 -+ 4.3027 x 0.10033 / sqrt(3).
	if math.Abs(*r.Lo-0.7767) > 5e-4 || math.Abs(*r.Hi-1.2788) > 5e-4 {
		t.Errorf("interval %g to %g, want 0.7767 to 1.2788", *r.Lo, *r.Hi)
	}
	two, one := Metric{Samples: m.Samples[:6]}, Metric{Samples: m.Samples[:3], Runs: &Runs{N: 9}}
	Summarize(&two, SummaryOptions{})
	Summarize(&one, SummaryOptions{})
	if two.Runs == nil || two.Runs.N != 2 || two.Runs.Lo != nil || one.Runs != nil {
		t.Errorf("two runs: %+v, want minimum and maximum alone; one: %+v", two.Runs, one.Runs)
	}
	if got, err := Read(strings.NewReader(string(encode(t, report(measured(m, "mem", "pinned")))))); err != nil ||
		!reflect.DeepEqual(got.Results[0].Metrics[0].Runs, r) {
		t.Errorf("read back %+v, %v", got, err)
	}
}
