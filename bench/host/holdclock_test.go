package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The limits are set while a clock is held, and are as before afterwards; where there
// is no cpufreq, the error says so.
func TestHoldClock(t *testing.T) {
	const dir = "sys/devices/system/cpu/cpu1/cpufreq/"
	for _, hz := range []float64{2e9, 4.5e9, 1e9} {
		root := plant(t, files{dir + "scaling_min_freq": "1500000\n", dir + "scaling_max_freq": "3900000\n"})
		read := func(name string) string {
			text, err := os.ReadFile(filepath.Join(root, dir, name))
			if err != nil {
				t.Fatal(err)
			}
			return strings.TrimSpace(string(text))
		}
		// The files are written in place, as those of sysfs: what is shorter leaves a rest.
		for _, name := range []string{"scaling_min_freq", "scaling_max_freq"} {
			if err := os.Truncate(filepath.Join(root, dir, name), 7); err != nil {
				t.Fatal(err)
			}
		}
		restore, err := HoldClock(root, 1, hz)
		if err != nil {
			t.Fatal(err)
		}
		want := map[float64]string{2e9: "2000000", 4.5e9: "4500000", 1e9: "1000000"}[hz]
		if lo, hi := read("scaling_min_freq"), read("scaling_max_freq"); lo != want || hi != want {
			t.Errorf("%g: %s to %s, want %s", hz, lo, hi, want)
		}
		restore()
		if lo, hi := read("scaling_min_freq"), read("scaling_max_freq"); lo != "1500000" || hi != "3900000" {
			t.Errorf("%g: restored to %s to %s", hz, lo, hi)
		}
	}
	if _, err := HoldClock(t.TempDir(), 0, 2e9); err == nil || !strings.Contains(err.Error(), "no cpufreq here") {
		t.Errorf("without cpufreq: %v", err)
	}
	if os.Getuid() == 0 {
		return // who may write everything
	}
	root := plant(t, files{dir + "scaling_min_freq": "1500000\n", dir + "scaling_max_freq": "3900000\n"})
	for _, name := range []string{"scaling_min_freq", "scaling_max_freq"} {
		if err := os.Chmod(filepath.Join(root, dir, name), 0o444); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := HoldClock(root, 1, 2e9); err == nil || !strings.Contains(err.Error(), "only root may") {
		t.Errorf("without permission: %v", err)
	}
}
