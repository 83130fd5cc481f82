package bench_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dlbench/bench"
	"dlbench/bench/benchtest"
	"dlbench/cuda"
	"dlbench/results"
)

// gpu is a stand-in that passes for a GPU.
type gpu struct{ cuda.Device }

func (d gpu) Info() cuda.Info {
	i := d.Device.Info()
	i.Assumed, i.PCI = false, "0000:65:00.0"
	return i
}

// reading is one at a temperature, with reasons for lower clocks as NVML has them.
func reading(celsius, slowedBy float64) (r cuda.Reading) {
	r.At = time.Now()
	for i := range r.Values {
		r.Values[i] = math.NaN()
	}
	r.Values[cuda.Temperature], r.Values[cuda.SlowedBy] = celsius, slowedBy
	return r
}

// sleeper's samples last a time, which the fake clock keeps exactly.
type sleeper struct{ each time.Duration }

func (s sleeper) Sample(_ context.Context, n int, r *bench.Recorder) error {
	time.Sleep(s.each)
	r.Add(s.each, 1, 1)
	return nil
}

func (sleeper) Close() error { return nil }

// Report makes the room that what the GPU told has in a proof.
func (sleeper) Report(r *results.Result) { r.Proof = results.RecordOf(&results.PCIeProof{}) }

// measureWatched measures a case of samples of 70 ms over a device while gauge reads it.
func measureWatched(t *testing.T, d cuda.Device, gauge cuda.Gauge, lacks string, least time.Duration) *results.Result {
	t.Helper()
	cfg := benchtest.Config(3)
	cfg.Env = benchtest.Env(d)
	cfg.Visit = 20
	cfg.Gauge = func(string) (cuda.Gauge, string) { return gauge, lacks }
	c := bench.Case{Device: d.Info().Spec, Least: least, Metrics: []bench.MetricDef{bench.MetricTime},
		Open: func(context.Context, bench.Env) (bench.Runner, error) { return sleeper{70 * time.Millisecond}, nil }}
	for _, r := range benchtest.Measure(t, cfg, c) {
		return r
	}
	return nil
}

// A GPU that throttles in the middle of a case: its samples are flagged, the others are not, and
// the proof has the extremes.
func TestThrottledSamplesAreFlagged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var first time.Time
		gauge := func() cuda.Reading {
			if first.IsZero() {
				first = time.Now()
			}
			if at := time.Since(first); at >= 500*time.Millisecond && at < 800*time.Millisecond {
				return reading(81, 0x21)
			}
			return reading(60, 0x2)
		}
		r := measureWatched(t, gpu{benchtest.Sim(t, "sim:gen3x16")}, gauge, "", 0)
		samples := r.Metric("time").Samples
		for i, s := range samples { // readings at 500, 600 and 700 ms are hot and hold until 800
			begin := time.Duration(i) * 70 * time.Millisecond
			want := begin+70*time.Millisecond >= 500*time.Millisecond && begin < 800*time.Millisecond
			if s.Throttled() != want {
				t.Errorf("the sample from %v on: throttled %t", begin, s.Throttled())
			}
		}
		g := results.As[results.PCIeProof](r.Proof).GPU
		if len(samples) != 20 || g == nil || g.Readings != 16 || g.Throttled != 3 || *g.From != 81 ||
			*g.Temperature != (results.Range{Min: 60, Max: 81}) || g.Power != nil ||
			!slices.Equal(g.Reasons, []string{"a setting of the clocks", "idleness", "heat"}) {
			t.Errorf("%d samples, the GPU told %+v", len(samples), g)
		}
		if !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "the GPU was throttled") }) {
			t.Errorf("warnings %q", r.Warnings)
		}
	})
}

// What cannot be read fails nothing, and is said; nobody reads a stand-in.
func TestUnreadableGPUs(t *testing.T) {
	real, stands := gpu{benchtest.Sim(t, "sim:gen3x16")}, benchtest.Sim(t, "sim:gen3x16")
	for _, c := range []struct {
		device cuda.Device
		gauge  cuda.Gauge
		lacks  string
		want   string // what is lacking in the proof; "-" for no word of a GPU
	}{
		{real, nil, "NVML: no permission", "NVML: no permission"},
		{real, func() cuda.Reading { return reading(60, math.NaN()) }, "power (no permission)", "power (no permission)"},
		{stands, func() cuda.Reading { panic("a stand-in was read") }, "", "-"},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := measureWatched(t, c.device, c.gauge, c.lacks, 0)
			g := results.As[results.PCIeProof](r.Proof).GPU
			if r.Status != results.OK || len(r.Warnings) > 0 || (g == nil) != (c.want == "-") ||
				g != nil && g.Lacks != c.want {
				t.Errorf("%s %s, warnings %q, the GPU told %+v, want %q", r.Status, r.Reason, r.Warnings, g, c.want)
			}
		})
	}
}

// A library that hangs is left alone, and the case is measured.
func TestHangingGauge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		never := make(chan struct{})
		defer close(never)
		r := measureWatched(t, gpu{benchtest.Sim(t, "sim:gen3x16")},
			func() cuda.Reading { <-never; return reading(60, 0) }, "", 0)
		g := results.As[results.PCIeProof](r.Proof).GPU
		if r.Status != results.OK || g == nil || g.Lacks != "NVML did not answer" || len(r.Metric("time").Samples) != 20 {
			t.Errorf("%s %s, the GPU told %+v", r.Status, r.Reason, g)
		}
	})
}

// A case that must last a time takes samples without a pause until then, whatever is enough.
func TestLeastTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := measureWatched(t, gpu{benchtest.Sim(t, "sim:gen3x16")}, nil, "", 10*time.Second)
		samples := r.Metric("time").Samples
		if len(samples) != 143 { // the last begins before 10 s
			t.Errorf("%d samples of 70 ms", len(samples))
		}
		for i, s := range samples[1:] {
			if pause := s.T - samples[i].T - 0.07; math.Abs(pause) > 1e-9 {
				t.Errorf("a pause of %v s", pause)
			}
		}
	})
}
