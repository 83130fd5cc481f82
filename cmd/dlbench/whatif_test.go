package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"dlbench/results"
)

// savedReport saves a report of a loader that takes 40 ms for a batch, over an assumed
// link, on two cores of which the step keeps one busy.
func savedReport(t *testing.T) string {
	t.Helper()
	p := results.Params{{Key: "device", Value: "sim:gen3x16"}, {Key: "mem", Value: "pinned"}, {Key: "prefetch",
		Value: int64(2)}, {Key: "workers", Value: int64(1)},
		{Key: "strategy", Value: "online"}, {Key: "free", Value: "nothing", Implied: true}, {Key: "step",
			Value: "0s"}, {Key: "step-cpu", Value: int64(1), Implied: true}}
	m := results.Metric{Name: "step_time", Unit: results.Seconds}
	rate := results.Metric{Name: "throughput", Unit: results.PerSecond}
	for range 6 {
		m.Samples = append(m.Samples, results.Sample{Value: 0.04, N: 4})
		rate.Samples = append(rate.Samples, results.Sample{Value: 800, N: 4})
	}
	results.Summarize(&m, results.SummaryOptions{})
	results.Summarize(&rate, results.SummaryOptions{})
	rep := &results.Report{SchemaVersion: results.SchemaVersion, Status: results.Complete,
		Tool:   results.Tool{Name: "dlbench"},
		Config: results.Config{Suites: []string{"pipeline"}, Batch: 32, Shape: []int{225, 225, 3}, DType: "float32"},
		Results: []results.Result{{Suite: "pipeline", Name: p.Name("pipeline"), Params: p, Assumed: []string{"link"},
			Status: results.OK, Metrics: []results.Metric{m, rate}}}}
	rep.Host.CPU.Usable = 2
	path := filepath.Join(t.TempDir(), "report.json")
	if err := results.Save(path, rep); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWhatIf(t *testing.T) {
	path := savedReport(t)
	code, stdout, stderr := dlbench(t, "whatif", path, "--cores", "3", "--link", "gen4x8")
	if code != exitOK || stderr != "" {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	for _, want := range []string{"3 cores instead of 2", "1600 /s", "link Gen4 x8 and 3 cores", "extrapolated",
		"purchase", "assumed, not measured: link"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	code, stdout, _ = dlbench(t, "whatif", path, "--prefetch", "0", "--gpu", "a100", "--format", "json")
	var all []results.Prediction
	if err := json.Unmarshal([]byte(stdout), &all); err != nil || code != exitOK || len(all) != 1 {
		t.Fatalf("exit %d, %v: %s", code, err, stdout)
	}
	// 0.435 s for 400 images are 34.8 ms for 32, and 40 ms of loading and 1.54 ms of copying come on top.
	if p := all[0]; p.Metric != "step_time" || p.Value == nil || *p.Value < 0.0762 || *p.Value > 0.0766 ||
		p.Cost != results.Free {
		t.Errorf("%+v", p)
	}
}

func TestWhatIfNeedsSuites(t *testing.T) {
	path := savedReport(t)
	for want, args := range map[string][]string{
		"needs the disk suite: dlbench run --suite disk,pipeline": {"--cold"},
		"strategy 2, on data with a raw store: needs":             {"--prepared"},
	} {
		refuses(t, exitFailed, append([]string{"whatif", path}, args...), want)
	}
}
