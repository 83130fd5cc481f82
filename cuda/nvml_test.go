//go:build linux && (amd64 || arm64) && !nocuda && !gorgonia

package cuda

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"dlbench/cuda/fakecuda"
)

// A gauge tells what the library does, and why it does not tell the rest.
func TestGauge(t *testing.T) {
	hot := filepath.Join(t.TempDir(), "hot")
	t.Setenv("FAKE_NVML_HOT", hot)
	t.Setenv("FAKE_NVML_LINK", "4,8")
	nan := math.NaN()
	for _, c := range []struct {
		pci, deny string
		flags     []string
		cool, hot []float64 // nil where there is no gauge
		reasons   []string  // while it is hot
		lacks     string
	}{
		{pci: "0000:65:00.0", cool: []float64{61, 250, 1980e6, 2619e6, 4, 8, 7},
			hot: []float64{83, 300, 1410e6, 2619e6, 4, 8, 7}, reasons: []string{"heat"}},
		{pci: "0000:65:00.0", flags: []string{"-DFAKE_NVML_OLD"}, cool: []float64{61, 250, 1980e6, 2619e6, 4, 8, nan},
			hot:   []float64{83, 300, 1410e6, 2619e6, 4, 8, nan},
			lacks: "replays (not in this driver), throttle reasons (not in this driver)"},
		{pci: "0000:65:00.0", deny: "power", cool: []float64{61, nan, 1980e6, 2619e6, 4, 8, 7},
			hot: []float64{83, nan, 1410e6, 2619e6, 4, 8, 7}, reasons: []string{"heat"}, lacks: "power (no permission)"},
		{pci: "0000:65:00.0", deny: "1", lacks: "NVML: no permission"},
		{pci: "0000:66:00.0", lacks: "NVML: no such GPU"},
	} {
		t.Setenv("FAKE_NVML_DENY", c.deny)
		n, err := openNVML(fakecuda.BuildNVML(t, c.flags...))
		if err != nil {
			t.Fatal(err)
		}
		gauge, lacks := n.gauge(c.pci)
		if lacks != c.lacks || (gauge != nil) != (c.cool != nil) {
			t.Errorf("%+v: gauge %t, lacks %q", c, gauge != nil, lacks)
		}
		if gauge == nil {
			continue
		}
		same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
		if r := gauge(); !slices.EqualFunc(r.Values[:SlowedBy], c.cool, same) {
			t.Errorf("%+v: %v", c, r)
		}
		if err := os.WriteFile(hot, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		r := gauge()
		texts, throttled := r.Slowdowns()
		if !slices.EqualFunc(r.Values[:SlowedBy], c.hot, same) || !slices.Equal(texts, c.reasons) ||
			throttled != (c.reasons != nil) {
			t.Errorf("%+v: hot %v, %q, %t", c, r, texts, throttled)
		}
		if err := os.Remove(hot); err != nil {
			t.Fatal(err)
		}
	}
}

// Only heat and power throttle a GPU: not that it has nothing to do, or that its owner set a clock.
func TestWhatThrottles(t *testing.T) {
	for bits, want := range map[float64]bool{0: false, 0x1: false, 0x2: false, 0x103: false, 0x10: false,
		0x4: true, 0x8: true, 0x21: true, 0x40: true, 0x80: true, math.NaN(): false, 1 << 40: false} {
		var r Reading
		r.Values[SlowedBy] = bits
		if texts, throttled := r.Slowdowns(); throttled != want {
			t.Errorf("%v: %q, throttled %t", bits, texts, throttled)
		}
	}
}

// Whatever is wrong with the library, it is not there.
func TestNVMLIsOptional(t *testing.T) {
	t.Setenv("FAKE_NVML_INIT", "9") // driver not loaded
	missing := filepath.Join(t.TempDir(), "missing.so")
	for _, path := range []string{missing, "libdlbench-nothing.so.9", fakecuda.Build(t), fakecuda.BuildNVML(t)} {
		if _, err := openNVML(path); err == nil {
			t.Errorf("%s is of use", path)
		}
	}
}
