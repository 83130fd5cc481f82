package results

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// golden compares got with the file of that name in testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want = bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n")) // a checkout on Windows
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -update rewrites it); have:\n%s", path, got)
	}
}

// sampleReport is a report as the pcie and disk suites write it, over assumed
// links of three widths.
func sampleReport() *Report {
	r := rand.New(rand.NewPCG(3, 16))
	start := time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
	quota := 2.0
	rep := &Report{
		SchemaVersion: SchemaVersion,
		Status:        Complete,
		Tool:          Tool{Name: "dlbench", Version: "v0.3.0", Commit: "0123abc", Go: "go1.26.0"},
		Started:       start,
		Finished:      start.Add(63 * time.Second),
		Label:         "workstation | bench",
		Config: Config{
			Suites: []string{"pcie", "disk"}, Devices: []string{"sim:gen3x4", "sim:gen3x8", "sim:gen3x16"},
			Batch: 32, Shape: []int{225, 225, 3}, DType: "float32", MinTime: 0.005, Seed: 1,
		},
		Software: Software{Decoder: "image/jpeg"},
		Host: Host{
			OS: "linux", Arch: "amd64", Kernel: "6.1.0-13-amd64",
			CPU:    CPU{Model: "AMD EPYC 7763 64-Core Processor", Threads: 2, Affinity: 2, Quota: &quota, Usable: 2},
			Memory: Memory{Total: 16 << 30},
		},
		Dataset:  &Dataset{Store: "raw", Images: 2048, Bytes: 1244160000, Fingerprint: "9f2c", Seed: 1},
		Warnings: []string{"no GPU here: links and step are assumed; CPU, memory and disk are measured"},
	}
	for _, link := range []struct {
		name             string
		line             float64 // B/s
		theory, practice float64 // s
	}{
		{"sim:gen3x4", 3.9385e9, 4.5e-3, 9e-3},
		{"sim:gen3x8", 7.8769e9, 2.3e-3, 5e-3},
		{"sim:gen3x16", 15.7538e9, 1.1e-3, 2e-3},
	} {
		for _, mem := range []struct {
			name   string
			share  float64
			submit float64
		}{{"pinned", 0.8, 4e-6}, {"pageable", 0.4, 0}} {
			params := Params{
				{Key: "device", Value: link.name}, {Key: "dir", Value: "h2d"}, {Key: "mem", Value: mem.name},
				{Key: "dtype", Value: "float32", Implied: true}, {Key: "source", Value: "warm", Implied: true},
				{Key: "bytes", Value: int64(19440000)},
			}
			res := newResult("pcie", params)
			res.Assumed = []string{"link"}
			ideal := 19440000 / (link.line * mem.share)
			res.Metrics = []Metric{
				samples(r, "time", Seconds, Lower, ideal, 0.001, SummaryOptions{NoInterval: true}),
				samples(r, "bandwidth", BytesPerSecond, Higher, 19440000/ideal, 0.001, SummaryOptions{NoInterval: true}),
				samples(r, "lateness", Ratio, Lower, 4e-4, 0.3, SummaryOptions{}),
			}
			if mem.submit > 0 {
				res.Metrics = append(res.Metrics, samples(r, "submit", Seconds, Lower, mem.submit, 0.05, SummaryOptions{Resolution: 1e-7}))
			}
			res.Metrics[2].Quantiles = []Quantile{{0.5, 4e-4}, {0.95, 7e-4}}
			res.References = []Reference{
				{Name: "line-rate", Metric: "time", Value: Finite(19440000 / link.line), Source: "8 GT/s x 128/130 x lanes / 8"},
				{Name: "line-rate", Metric: "bandwidth", Value: Finite(link.line), Source: "8 GT/s x 128/130 x lanes / 8"},
				{Name: "protocol-band", Metric: "time", Lo: Finite(19440000 / link.line / 0.928), Hi: Finite(19440000 / link.line / 0.762), Source: "completions of 64 to 256 B"},
				{Name: "article-theory", Metric: "time", Value: Finite(link.theory), Source: "claim A1"},
				{Name: "article-practice", Metric: "time", Value: Finite(link.practice), Source: "claim A1, a rule of thumb"},
			}
			res.Proof = map[string]any{"verified": true}
			if link.name == "sim:gen3x4" && mem.name == "pageable" {
				res.Warnings = []string{"a noisy round was repeated"}
			}
			rep.Results = append(rep.Results, res)
		}
	}
	failed := newResult("pcie", Params{{Key: "device", Value: "sim:gen3x16"}, {Key: "dir", Value: "d2h"}, {Key: "mem", Value: "pinned"},
		{Key: "dtype", Value: "float32", Implied: true}, {Key: "source", Value: "warm", Implied: true}, {Key: "bytes", Value: int64(19440000)}})
	failed.Status, failed.Reason = Failed, "p95 of the lateness is 3.1 %, more than 1 %: the machine is too busy to stand in for a link"
	failed.Assumed = []string{"link"}
	skipped := newResult("pcie", Params{{Key: "device", Value: "cuda:0"}, {Key: "dir", Value: "h2d"}, {Key: "mem", Value: "pinned"}, {Key: "bytes", Value: int64(19440000)}})
	skipped.Status, skipped.Reason = Skipped, "no CUDA device: libcuda.so.1 was not found"
	rep.Results = append(rep.Results, failed, skipped)

	for _, cache := range []struct {
		name string
		time float64
	}{{"cold-data", 13.7e-3}, {"warm", 4e-3}, {"direct", 14e-3}} {
		res := newResult("disk", Params{{Key: "store", Value: "tensor"}, {Key: "cache", Value: cache.name}, {Key: "bytes", Value: int64(19440000)}})
		res.Metrics = []Metric{
			samples(r, "time", Seconds, Lower, cache.time, 0.02, SummaryOptions{Resolution: 1e-7}),
			samples(r, "bandwidth", BytesPerSecond, Higher, 19440000/cache.time, 0.02, SummaryOptions{}),
		}
		res.Proof = map[string]any{"proven": cache.name != "direct"}
		if cache.name == "direct" {
			res.Proof["why"] = "only 61.2 % of the bytes of direct reads came from the disk"
		}
		res.References = []Reference{{Name: "article-disk", Metric: "time", Value: Finite(0.185), Source: "claim A9"}}
		rep.Results = append(rep.Results, res)
	}
	few := newResult("disk", Params{{Key: "store", Value: "files"}, {Key: "cache", Value: "cold-data"}, {Key: "bytes", Value: int64(3500000)}})
	m := Metric{Name: "time", Unit: Seconds, Better: Lower}
	for i, v := range []float64{6.9e-3, 7.3e-3, 6.8e-3} {
		m.Add(Sample{Value: v, N: 1, T: float64(i)})
	}
	Summarize(&m, SummaryOptions{})
	few.Metrics = []Metric{m}
	rep.Results = append(rep.Results, few)

	rep.Findings = []Finding{
		{Claim: "A1", Verdict: NotMeasured, Text: "one batch takes 1.543 ms over Gen3 x16, but an assumed link proves nothing about links", Assumed: []string{"link"}},
		{Claim: "A9", Verdict: Holds, Text: "a batch is read in 13.7 ms from the cold disk: loading ahead of a step of 216 ms hides it all", Value: Finite(13.7e-3), Lo: Finite(13.5e-3), Hi: Finite(13.9e-3), Unit: Seconds},
	}
	return rep
}

func newResult(suite string, p Params) Result {
	return Result{Suite: suite, Name: p.Name(suite), Params: p, Status: OK}
}

// samples returns a summarized metric of 12 samples around center.
func samples(r *rand.Rand, name, unit, better string, center, spread float64, o SummaryOptions) Metric {
	m := Metric{Name: name, Unit: unit, Better: better}
	for i := range 12 {
		x := r.NormFloat64()
		// Rounded, so that a fused multiplication and addition makes no other file.
		v, _ := strconv.ParseFloat(strconv.FormatFloat(center*(1+spread*x*x), 'g', 6, 64), 64)
		m.Add(Sample{Value: v, N: 4, T: float64(i) / 8})
	}
	Summarize(&m, o)
	return m
}
