package pcie

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"dlbench/bench/benchtest"
	"dlbench/bench/theory"
	"dlbench/cuda"
	"dlbench/results"
)

// gpu is a real device, for what follows from its numbers.
func gpu(number int) cuda.Device {
	return tampered{info: &cuda.Info{Spec: fmt.Sprintf("cuda:%d", number), Name: "Test GPU"}}
}

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
		at := point{params: params{Dir: "h2d", Mem: mem, Bytes: bytes}, batch: b}
		r.References = (&copier{point: at}).references(l)
	}
	return r
}

// wantResult checks the status, and parts of the reason and the warnings.
func wantResult(t *testing.T, r results.Result, status string, parts ...string) {
	t.Helper()
	text := strings.Join(append(r.Warnings, r.Reason), ";")
	for _, part := range append(parts, "") {
		if r.Status != status || !strings.Contains(text, part) {
			t.Errorf("%s: %s %q, want %s and %q", r.Name, r.Status, text, status, part)
		}
	}
}

// wantWarning checks that there is a warning with that part, or none for "".
func wantWarning(t *testing.T, name string, r results.Result, part string) {
	t.Helper()
	benchtest.Says(t, name, strings.Join(r.Warnings, "; "), part)
}

// finding is that on a claim about copies of devices.
func finding(t *testing.T, claim string, devices []cuda.Device, rs ...results.Result) results.Finding {
	t.Helper()
	f := benchtest.Finding(Suite.Findings(benchtest.Env(devices...), rs), claim)
	if f.Claim == "" {
		t.Fatalf("no finding on %s", claim)
	}
	return f
}

// batch is a copy of the article's batch over Gen3 x16 as float32.
func batch(mem string, metrics map[string][3]float64) results.Result {
	return copied("gen3x16", mem, "float32", benchtest.BatchBytes, metrics)
}

// timed is a metric time alone, known within a share of it.
func timed(seconds, within float64) map[string][3]float64 {
	return map[string][3]float64{"time": benchtest.Around(seconds, within)}
}

func TestFindingsOnOneDevice(t *testing.T) {
	lanes := func(link string, seconds, within float64) []results.Result {
		return []results.Result{copied(link, "pinned", "float32", benchtest.BatchBytes, timed(seconds, within))}
	}
	submit := func(seconds, within float64) []results.Result {
		pinned, pageable := timed(1.5e-3, 0.01), timed(3.4e-3, 0.01)
		pinned["submit"], pageable["submit"] = benchtest.Around(4e-6, 0.1), benchtest.Around(seconds, within)
		return []results.Result{batch("pinned", pinned), batch("pageable", pageable)}
	}
	latency := func(seconds float64) []results.Result {
		least := timed(1e-6, 0.1)
		least["latency"] = benchtest.Around(seconds, 0.1)
		return []results.Result{batch("pinned", timed(1.5e-3, 0.01)),
			copied("gen3x16", "pinned", "float32", smallest, least)}
	}
	half := func(seconds, within float64) []results.Result {
		return []results.Result{batch("pinned", timed(1.5e-3, 0.002)),
			copied("gen3x16", "pinned", "float16", benchtest.BatchBytes/2, timed(seconds, within))}
	}
	for _, c := range []struct {
		claim, name string
		rs          []results.Result
		verdict     string
	}{
		{"A1", "between theory and practice", lanes("gen3x16", 1.6e-3, 0.01), results.Holds},
		{"A1", "slower than practice", lanes("gen3x16", 2.5e-3, 0.01), results.Fails},
		{"A1", "across the bound", lanes("gen3x16", 2e-3, 0.1), results.Inconclusive},
		{"A1", "another link", lanes("gen4x16", 0.8e-3, 0.01), results.NotMeasured},
		{"A1", "unknown link", lanes("", 1.6e-3, 0.01), results.NotMeasured},
		{"A1", "nothing measured", nil, results.NotMeasured},
		{"A4", "the caller waits", submit(3.3e-3, 0.01), results.Holds},
		{"A4", "the caller goes on", submit(0.1e-3, 0.01), results.Fails},
		{"A4", "half of the time", submit(1.7e-3, 0.3), results.Inconclusive},
		{"A15", "little", latency(9e-6), results.Holds},
		{"A15", "much", latency(40e-6), results.Fails},
		{"A15", "about 1 %", latency(14.8e-6), results.Inconclusive},
		{"A17", "half the time", half(0.75e-3, 0.002), results.Holds},
		{"A17", "more", half(0.9e-3, 0.002), results.Fails},
		{"A17", "equal, but the interval is wide", half(0.75e-3, 0.05), results.Inconclusive},
	} {
		f := finding(t, c.claim, []cuda.Device{gpu(0)}, c.rs...)
		if f.Verdict != c.verdict || len(f.Assumed) > 0 || (f.Value == nil) != (c.rs == nil) {
			t.Errorf("%s: %s: %+v, want %s", c.claim, c.name, f, c.verdict)
		}
		if c.claim == "A1" && c.rs != nil && *f.Value != c.rs[0].Metric("time").Median {
			t.Errorf("A1: %s: %v s", c.name, *f.Value)
		}
	}
}

func TestBreakEvenOfPinning(t *testing.T) {
	pinned := func(seconds float64) results.Result {
		metrics := timed(seconds, 0.01)
		metrics["pin"] = benchtest.Around(15e-3, 0.1)
		return batch("pinned", metrics)
	}
	rs := []results.Result{batch("pageable", timed(3.5e-3, 0.01)), pinned(1.5e-3)}
	Suite.Findings(benchtest.Env(gpu(0)), rs)
	if m := rs[1].Metric("pin_break_even"); m == nil || math.Abs(m.Median-7.5) > 1e-9 { // 15 ms over 2 ms saved a batch
		t.Errorf("break-even %+v, want 7.5 batches", m)
	}
	rs[1] = pinned(3.6e-3)
	Suite.Findings(benchtest.Env(gpu(0)), rs)
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
		r := copied(d.Info().Link.String(), "pinned", "float32", benchtest.BatchBytes, timed(1.6e-3, 0))
		r.Params = r.Params.With("device", d.Info().Spec)
		rs = append(rs, r)
	}
	fs := Suite.Findings(env, rs)
	if len(fs) != 4 || fs[2].Claim != "A4" || fs[3].Claim != "A6" || fs[3].Verdict != results.NotMeasured {
		t.Fatalf("%+v, want A1 twice, A4 and A6", fs)
	}
	for _, f := range fs[:3] {
		if f.Verdict != results.NotMeasured || len(f.Assumed) != 1 || f.Assumed[0] != "link" {
			t.Errorf("%+v", f)
		}
	}
	benchtest.WantFinding(t, fs[0], results.NotMeasured, "Gen3 x4", "4.5 ms in theory, about 9 ms in practice")
}

// but is r with other parameters, given as name, value.
func but(r results.Result, params ...string) results.Result {
	for i := 0; i < len(params); i += 2 {
		r.Params = r.Params.With(params[i], params[i+1])
	}
	return r
}

// What was measured while the others stood still shows no more than how fast it may be.
func TestSeveralGPUs(t *testing.T) {
	for _, c := range []struct {
		name    string
		n       int
		link    string
		time    float64
		gapped  int // of 10 samples
		verdict string
		text    string
	}{
		{"side by side", 2, "gen3x16", 2e-3, 0, results.Holds, ""},
		{"a gap now and then", 2, "gen3x16", 2e-3, 1, results.Holds, ""},
		{"stood still", 2, "gen3x16", 2e-3, 2, results.Inconclusive, "may be less"},
		{"too slow even so", 2, "gen3x16", 1, 10, results.Fails, "may be less"},
		{"four", 4, "gen3x8", 2e-3, 0, results.Holds, ""},
		{"four over unknown links", 4, "", 2e-3, 0, results.Inconclusive, "how many lanes each has is not known"},
		{"three over unknown links", 3, "", 2e-3, 0, results.Holds, ""},
		{"three, too slow", 3, "gen3x16", 1, 0, results.Fails, ""},
		{"three stood still", 3, "gen3x16", 2e-3, 2, results.Inconclusive, "may be less"},
		{"four need no x8", 4, "gen3x4", 2e-3, 0, results.Fails, ""},
		{"four need more than x4", 4, "gen3x4", 1, 0, results.Holds, ""},
		{"x8 is not enough for four", 4, "gen3x8", 1, 0, results.Fails, ""},
	} {
		var devices []cuda.Device
		var rs []results.Result
		for i := range c.n {
			d := gpu(i)
			devices = append(devices, d)
			at := func(seconds float64, params ...string) results.Result {
				metrics := timed(seconds, 0.01)
				metrics["bandwidth"] = benchtest.Around(benchtest.BatchBytes/seconds, 0.01)
				r := copied(c.link, "pinned", "float32", benchtest.BatchBytes, metrics)
				return but(r, append(params, "device", d.Info().Spec)...)
			}
			solo, under := at(1.5e-3), at(c.time, "concurrent", results.ConcurrentDevices)
			afar := at(5, "concurrent", results.ConcurrentDevices, "numa", results.NUMARemote)
			proof := results.As[results.PCIeProof](under.Proof)
			proof.SamplesWithGap = &c.gapped
			under.Proof = results.RecordOf(proof)
			under.Metric("time").Samples = make([]results.Sample, 10)
			rs = append(rs, afar, solo, under)
		}
		f := finding(t, "A6", devices, rs...)
		benchtest.WantFinding(t, f, c.verdict, c.text)
		if strings.Contains(f.Text, "may be less") != (c.text == "may be less") {
			t.Errorf("%s: %s", c.name, f.Text)
		}
	}
}

// Copies from afar that differ in more than that are not held against those from near by.
func TestNUMAFindingComparesLikeWithLike(t *testing.T) {
	at := func(seconds float64, params ...string) results.Result {
		return but(batch("pinned", timed(seconds, 0.001)), append(params, "concurrent", results.ConcurrentNone)...)
	}
	near, far := at(1.5e-3, "numa", results.NUMALocal), at(1.8e-3, "numa", results.NUMARemote)
	cold := at(9e-3, "numa", results.NUMARemote, "source", results.SourceCold)
	opposite := but(far, "concurrent", results.ConcurrentOpposite)
	opposite.Metrics = cold.Metrics
	for _, rs := range [][]results.Result{{near, far, cold, opposite}, {cold, opposite, far, near}} {
		f := finding(t, "numa", []cuda.Device{gpu(0)}, rs...)
		if f.Verdict != results.Holds || *f.Value < 1.19 || *f.Value > 1.21 {
			t.Errorf("%+v", f)
		}
	}
	fs := Suite.Findings(benchtest.Env(gpu(0)), []results.Result{near, cold, opposite})
	if len(fs) != len(Suite.Findings(benchtest.Env(gpu(0)), []results.Result{near})) {
		t.Errorf("a finding without a copy from afar: %+v", fs)
	}
}
