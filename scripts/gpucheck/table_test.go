package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestVerdict(t *testing.T) {
	size := copied{16 << 20, "h2d", "pinned"}
	of := func(values ...float64) (rounds []rates) {
		for _, v := range values {
			r := rates{}
			if v > 0 {
				r[size] = v
			}
			rounds = append(rounds, r)
		}
		return rounds
	}
	for _, c := range []struct {
		ours, peers []rates
		ratio       float64
		rounds      int
		want        string
	}{
		{of(10, 10, 10), of(10, 10, 10), 1, 3, "PASS"},
		{of(9.9, 10, 10), of(10, 10, 10), 1, 3, "PASS"},
		{of(9.8, 10, 10), of(10, 10, 10), 1, 3, "inconclusive"},
		{of(9, 9.5, 9.8), of(10, 10, 10), 0.95, 3, "SLOWER"},
		{of(10, 20), of(0, 20), 1, 1, "PASS"},        // a round of the peer failed
		{of(0, 10, 10), of(1, 10, 10), 1, 2, "PASS"}, // a round of dlbench failed
	} {
		r := compare(size, c.ours, c.peers)
		if got := r.verdict(); got != c.want || r.rounds != c.rounds || r.ratio != c.ratio {
			t.Errorf("%v / %v: %s, ratio %v of %d rounds; want %s, %v, %d", c.ours, c.peers, got, r.ratio, r.rounds, c.want, c.ratio, c.rounds)
		}
	}
}

func TestNvbandwidth(t *testing.T) {
	const start, end = `note before it
{"nvbandwidth": {"testcases": [{"name": "host_to_device_memcpy_ce", `, `}]}}`
	for _, c := range []struct {
		report string
		device int
		want   float64 // 10^9 B/s; 0: an error
	}{
		{start + `"status": "Passed", "bandwidth_matrix": [["55.4", "27.6"]]` + end, 0, 55.4},
		{start + `"status": "Passed", "bandwidth_matrix": [["55.4", "27.6"]]` + end, 1, 27.6},
		{start + `"status": "Passed", "bandwidth_matrix": [["55.4"]]` + end, 1, 0}, // no such GPU
		{start + `"status": "Passed", "bandwidth_matrix": [["N/A"]]` + end, 0, 0},
		{start + `"status": "Waived"` + end, 0, 0},
		{`{"nvbandwidth": {"error": "CUDA driver too old"}}`, 0, 0},
		{`Usage: nvbandwidth`, 0, 0},
	} {
		path := filepath.Join(t.TempDir(), "report")
		if err := os.WriteFile(path, []byte(c.report), 0o644); err != nil {
			t.Fatal(err)
		}
		got := rates{}
		err := readNvbandwidth(got, path, 1<<20, c.device)
		if v := got[copied{1 << 20, "h2d", "pinned"}]; (err != nil) != (c.want == 0) || v != 1e9*c.want {
			t.Errorf("%s, GPU %d: %v, %v; want %v", c.report, c.device, v, err, c.want)
		}
	}
}

// What copies beside others, or from afar, is not what a peer measures.
func TestDlbenchCopiesAlone(t *testing.T) {
	copy := func(params, status, rate string) string {
		return `{"status": "` + status + `", "params": {"device": "cuda:1", "dir": "h2d", "mem": "pinned", "bytes": 1024` + params + `}, "metrics": [{"name": "time", "median": 1}, {"name": "bandwidth", "median": ` + rate + `}]}`
	}
	path := filepath.Join(t.TempDir(), "report.json")
	for _, alone := range []string{"", `, "concurrent": "none", "numa": "local"`} {
		text := `{"results": [` + strings.Join([]string{copy(alone, "ok", "10"), copy(`, "concurrent": "opposite"`, "ok", "9"), copy(`, "concurrent": "devices"`, "ok", "5"),
			copy(`, "concurrent": "none", "numa": "remote"`, "ok", "7"), copy("", "failed", "1"), strings.Replace(copy("", "ok", "2"), "cuda:1", "cuda:0", 1)}, ",") + `]}`
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := readDlbench(path, "cuda:1"); err != nil || len(got) != 1 || got[copied{1024, "h2d", "pinned"}] != 10 {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}

func TestTableWithoutReports(t *testing.T) {
	var w strings.Builder
	if err := table(&w, t.TempDir(), "none", 0); err == nil || !strings.Contains(err.Error(), "no copy was measured") {
		t.Errorf("%v; printed %q", err, w.String())
	}
	if err := table(&w, t.TempDir(), "bandwidthTest", 0); err == nil {
		t.Error("an unknown peer is no error")
	}
}
