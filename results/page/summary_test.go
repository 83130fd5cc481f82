package page

import (
	"testing"
	"time"

	"dlbench/results"
)

func TestCommand(t *testing.T) {
	for _, c := range []struct {
		config results.Config
		want   string
	}{
		{results.Config{Batch: 32, Shape: []int{225, 225, 3}, DType: "float32", Repeat: 1, Seed: 1},
			"dlbench run --batch 32 --shape 225x225x3 --dtype float32 --seed 1"},
		{results.Config{Suites: []string{"pcie", "disk"}, Devices: []string{"cuda:0", "sim:gen3x16:gbps=12.1"},
			Quick: true, Count: 5, MinTime: 0.005, Timeout: 90, Repeat: 3},
			"dlbench run --suite pcie,disk --device cuda:0 --device sim:gen3x16:gbps=12.1 --quick --count 5 " +
				"--min-time 0.005s --timeout 90s --repeat 3 --seed 0"},
		{results.Config{Axes: map[string][]string{"mem": {"pinned", "a b"}, "cache": {"it's"}}},
			`dlbench run -a 'cache=it'\''s' -a 'mem=pinned,a b' --seed 0`},
	} {
		if got := command(c.config); got != c.want {
			t.Errorf("command(%+v) =\n%s, want\n%s", c.config, got, c.want)
		}
	}
}

// What lay between merged reports is not known, so that no duration is given.
func TestMergedMethod(t *testing.T) {
	start := time.Date(2026, 3, 14, 15, 9, 0, 0, time.UTC)
	r := &results.Report{Started: start, Finished: start.Add(90 * time.Second)}
	for merged, want := range map[int]string{0: "1m30s", 3: ""} {
		r.Merged = merged
		if s, err := newSummary(r, "", 1); err != nil || s.When != "14 March 2026, 15:09 UTC" || s.Took != want {
			t.Errorf("merged %d: %q, took %q, %v; want %q", merged, s.When, s.Took, err, want)
		}
	}
}
