package pcie

import (
	"errors"
	"math"
	"strings"
	"testing"

	"dlbench/bench/benchtest"
	"dlbench/bench/theory"
	"dlbench/cuda"
	"dlbench/results"
)

// gpu is a real device, for what follows from its numbers.
type gpu struct{ cuda.Device }

func (gpu) Info() cuda.Info { return cuda.Info{Spec: "cuda:0", Name: "Test GPU"} }

// copied is a result of the pcie suite; each metric is its median and interval.
func copied(link, mem, dtype string, bytes int64, metrics map[string][3]float64) results.Result {
	r := results.Result{Suite: "pcie", Status: results.OK, Proof: results.RecordOf(map[string]any{"link": link}),
		Params: results.Params{{Key: "device", Value: "cuda:0"}, {Key: "dir", Value: "h2d"}, {Key: "mem", Value: mem},
			{Key: "dtype", Value: dtype}, {Key: "source", Value: "warm"}, {Key: "bytes", Value: bytes}}}
	for name, v := range metrics {
		m := results.Metric{Name: name, Unit: "s", Median: v[0], Min: v[1], Max: v[2], Lo: &v[1], Hi: &v[2]}
		r.Metrics = append(r.Metrics, m)
	}
	if l, err := theory.ParseLink(link); err == nil {
		b := theory.ArticleBatch
		b.DType = dtype
		r.References = (&copier{point: point{params: params{Dir: "h2d", Mem: mem, Bytes: bytes}, batch: b}}).references(l)
	}
	return r
}

func finding(t *testing.T, claim string, rs ...results.Result) results.Finding {
	t.Helper()
	for _, f := range findingsOf(benchtest.Env(gpu{}), rs) {
		if f.Claim == claim {
			return f
		}
	}
	t.Fatalf("no finding on %s", claim)
	return results.Finding{}
}

func TestFindingsOnLanes(t *testing.T) {
	for _, c := range []struct {
		name, link string
		time       [3]float64
		verdict    string
	}{
		{"between theory and practice", "gen3x16", benchtest.Around(1.6e-3, 0.01), results.Holds},
		{"slower than practice", "gen3x16", benchtest.Around(2.5e-3, 0.01), results.Fails},
		{"across the bound", "gen3x16", benchtest.Around(2e-3, 0.1), results.Inconclusive},
		{"another link", "gen4x16", benchtest.Around(0.8e-3, 0.01), results.NotMeasured},
		{"unknown link", "", benchtest.Around(1.6e-3, 0.01), results.NotMeasured},
	} {
		f := finding(t, "A1", copied(c.link, "pinned", "float32", benchtest.BatchBytes, map[string][3]float64{"time": c.time}))
		if f.Verdict != c.verdict || len(f.Assumed) > 0 || f.Value == nil || *f.Value != c.time[0] {
			t.Errorf("%s: %+v, want %s", c.name, f, c.verdict)
		}
	}
	if f := finding(t, "A1"); f.Verdict != results.NotMeasured {
		t.Errorf("nothing measured: %+v", f)
	}
}

func TestFindingsOnTheCPUsShare(t *testing.T) {
	pinned := copied("gen3x16", "pinned", "float32", benchtest.BatchBytes, map[string][3]float64{"time": benchtest.Around(1.5e-3, 0.01), "submit": benchtest.Around(4e-6, 0.1)})
	for _, c := range []struct {
		submit  [3]float64
		verdict string
	}{
		{benchtest.Around(3.3e-3, 0.01), results.Holds},
		{benchtest.Around(0.1e-3, 0.01), results.Fails},
		{benchtest.Around(1.7e-3, 0.3), results.Inconclusive},
	} {
		pageable := copied("gen3x16", "pageable", "float32", benchtest.BatchBytes, map[string][3]float64{"time": benchtest.Around(3.4e-3, 0.01), "submit": c.submit})
		if f := finding(t, "A4", pinned, pageable); f.Verdict != c.verdict {
			t.Errorf("caller held for %.2g s: %+v, want %s", c.submit[0], f, c.verdict)
		}
	}
}

func TestFindingsOnLatency(t *testing.T) {
	whole := copied("gen3x16", "pinned", "float32", benchtest.BatchBytes, map[string][3]float64{"time": benchtest.Around(1.5e-3, 0.01)})
	for _, c := range []struct {
		latency [3]float64
		verdict string
	}{
		{benchtest.Around(9e-6, 0.1), results.Holds},
		{benchtest.Around(40e-6, 0.1), results.Fails},
		{benchtest.Around(14.8e-6, 0.1), results.Inconclusive},
	} {
		least := copied("gen3x16", "pinned", "float32", smallest, map[string][3]float64{"time": benchtest.Around(1e-6, 0.1), "latency": c.latency})
		if f := finding(t, "A15", whole, least); f.Verdict != c.verdict {
			t.Errorf("%.2g s: %+v, want %s", c.latency[0], f, c.verdict)
		}
	}
}

func TestFindingsOnHalfTheBytes(t *testing.T) {
	full := copied("gen3x16", "pinned", "float32", benchtest.BatchBytes, map[string][3]float64{"time": benchtest.Around(1.5e-3, 0.002)})
	for _, c := range []struct {
		half    [3]float64
		verdict string
	}{
		{benchtest.Around(0.75e-3, 0.002), results.Holds},
		{benchtest.Around(0.9e-3, 0.002), results.Fails},
		{benchtest.Around(0.75e-3, 0.05), results.Inconclusive}, // equal, but the interval is wide
	} {
		half := copied("gen3x16", "pinned", "float16", benchtest.BatchBytes/2, map[string][3]float64{"time": c.half})
		if f := finding(t, "A17", full, half); f.Verdict != c.verdict {
			t.Errorf("%.3g s: %+v, want %s", c.half[0], f, c.verdict)
		}
	}
}

func TestBreakEvenOfPinning(t *testing.T) {
	pageable := copied("gen3x16", "pageable", "float32", benchtest.BatchBytes, map[string][3]float64{"time": benchtest.Around(3.5e-3, 0.01)})
	rs := []results.Result{pageable, copied("gen3x16", "pinned", "float32", benchtest.BatchBytes, map[string][3]float64{"time": benchtest.Around(1.5e-3, 0.01), "pin": benchtest.Around(15e-3, 0.1)})}
	findingsOf(benchtest.Env(gpu{}), rs)
	if m := rs[1].Metric("pin_break_even"); m == nil || math.Abs(m.Median-7.5) > 1e-9 { // 15 ms over 2 ms saved a batch
		t.Errorf("break-even %+v, want 7.5 batches", m)
	}
	rs[1] = copied("gen3x16", "pinned", "float32", benchtest.BatchBytes, map[string][3]float64{"time": benchtest.Around(3.6e-3, 0.01), "pin": benchtest.Around(15e-3, 0.1)})
	findingsOf(benchtest.Env(gpu{}), rs)
	if m := rs[1].Metric("pin_break_even"); m != nil || len(rs[1].Warnings) == 0 {
		t.Errorf("pinning that gains nothing breaks even after %+v, warnings %v", m, rs[1].Warnings)
	}
}

// Without a GPU nothing may be said of links, whatever the assumed times are.
func TestFindingsOverAssumedLinks(t *testing.T) {
	env := benchtest.Env(benchtest.Sim(t, "sim:gen3x4"), benchtest.Sim(t, "sim:gen3x16"))
	env.Missing = errors.New("no driver")
	var rs []results.Result
	for _, d := range env.Devices {
		r := copied(d.Info().Link.String(), "pinned", "float32", benchtest.BatchBytes, map[string][3]float64{"time": benchtest.Around(1.6e-3, 0)})
		r.Params = r.Params.With("device", d.Info().Spec)
		rs = append(rs, r)
	}
	fs := findingsOf(env, rs)
	if len(fs) != 3 || fs[2].Claim != "A6" || fs[2].Verdict != results.NotMeasured {
		t.Fatalf("%+v, want A1, A4 and A6", fs)
	}
	for _, f := range fs[:2] {
		if f.Verdict != results.NotMeasured || len(f.Assumed) != 1 || f.Assumed[0] != "link" {
			t.Errorf("%+v", f)
		}
	}
	if !strings.Contains(fs[0].Text, "Gen3 x4") || !strings.Contains(fs[0].Text, "4.5 ms in theory, about 9 ms in practice") {
		t.Errorf("A1: %s", fs[0].Text)
	}
}
