package pcie

import (
	"fmt"
	"strings"
	"testing"

	"dlbench/bench/benchtest"
	"dlbench/cuda"
	"dlbench/results"
)

// numbered is a real device of several.
type numbered struct {
	cuda.Device
	n int
}

func (d numbered) Info() cuda.Info {
	return cuda.Info{Spec: fmt.Sprintf("cuda:%d", d.n), Name: "Test GPU"}
}

// but is r with other parameters, given as name, value.
func but(r results.Result, params ...string) results.Result {
	var p results.Params
	for _, x := range r.Params {
		given := false
		for i := 0; i < len(params); i += 2 {
			given = given || params[i] == x.Key
		}
		if !given {
			p = append(p, x)
		}
	}
	for i := 0; i < len(params); i += 2 {
		p = append(p, results.Param{Key: params[i], Value: params[i+1]})
	}
	r.Params = p
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
	} {
		var devices []cuda.Device
		var rs []results.Result
		for i := range c.n {
			d := numbered{n: i}
			devices = append(devices, d)
			metrics := func(time float64) map[string][3]float64 {
				return map[string][3]float64{"time": benchtest.Around(time, 0.01), "bandwidth": benchtest.Around(benchtest.BatchBytes/time, 0.01)}
			}
			solo := but(copied(c.link, "pinned", "float32", benchtest.BatchBytes, metrics(1.5e-3)), "device", d.Info().Spec)
			under := but(copied(c.link, "pinned", "float32", benchtest.BatchBytes, metrics(c.time)), "device", d.Info().Spec, "concurrent", results.ConcurrentDevices)
			proof := results.As[results.PCIeProof](under.Proof)
			proof.SamplesWithGap = &c.gapped
			under.Proof = results.RecordOf(proof)
			under.Metric("time").Samples = make([]results.Sample, 10)
			afar := but(copied(c.link, "pinned", "float32", benchtest.BatchBytes, metrics(5)), "device", d.Info().Spec, "concurrent", results.ConcurrentDevices, "numa", results.NUMARemote)
			rs = append(rs, afar, solo, under)
		}
		f := severalGPUs(benchtest.Env(devices...), rs)
		if f.Verdict != c.verdict || !strings.Contains(f.Text, c.text) || strings.Contains(f.Text, "may be less") != (c.text == "may be less") {
			t.Errorf("%s: %+v, want %s, %q", c.name, f, c.verdict, c.text)
		}
	}
}

// Copies from afar that differ in more than that are not held against those from near by.
func TestNUMAFindingComparesLikeWithLike(t *testing.T) {
	at := func(time float64, params ...string) results.Result {
		return but(copied("gen3x16", "pinned", "float32", benchtest.BatchBytes, map[string][3]float64{"time": benchtest.Around(time, 0.001)}), append(params, "concurrent", results.ConcurrentNone)...)
	}
	near, far := at(1.5e-3, "numa", results.NUMALocal), at(1.8e-3, "numa", results.NUMARemote)
	cold, beside := at(9e-3, "numa", results.NUMARemote, "source", results.SourceCold), but(far, "concurrent", results.ConcurrentOpposite)
	beside.Metrics = cold.Metrics
	for _, rs := range [][]results.Result{{near, far, cold, beside}, {cold, beside, far, near}} {
		if f := finding(t, "numa", rs...); f.Verdict != results.Holds || *f.Value < 1.19 || *f.Value > 1.21 {
			t.Errorf("%+v", f)
		}
	}
	if fs := findingsOf(benchtest.Env(gpu{}), []results.Result{near, cold, beside}); len(fs) != len(findingsOf(benchtest.Env(gpu{}), []results.Result{near})) {
		t.Errorf("a finding without a copy from afar: %+v", fs)
	}
}
