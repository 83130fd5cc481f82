package disk

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"dlbench/bench/benchtest"
	"dlbench/bench/theory"
	"dlbench/loader"
	"dlbench/results"
)

// store is an object store that answers after 1 ms and throttles, and repeats, one request of two.
type store struct{ asked loader.RemoteStats }

func (s *store) Reader(context.Context, bool) loader.RemoteReader { return s }
func (s *store) Stats() loader.RemoteStats                        { return s.asked }
func (s *store) String() string                                   { return "s3://bucket/set" }
func (s *store) Charge(int64)                                     {}
func (s *store) Close()                                           {}

func (s *store) ReadAt(_ loader.File, p []byte, _ int64) (int, time.Duration, error) {
	s.asked.Requests += 2
	s.asked.Retries++
	s.asked.Throttled++
	return len(p), time.Millisecond, nil
}

func TestRemoteCases(t *testing.T) {
	env := diskEnv(t)
	var objects []loader.File
	for _, name := range strings.Fields("a.jpg b.jpg c.jpg d.jpg e.jpg f.jpg g.jpg h.jpg") {
		objects = append(objects, loader.File{Path: name, Size: 1000})
	}
	set, err := loader.OpenRemote(t.Context(), &store{}, objects, false)
	benchtest.Must(t, err)
	env.Data.Sets, env.Data.Remote = map[string]*loader.Set{loader.Files: set}, set.Remote
	names, cases := benchtest.Named(t, Suite, env)
	if want := []string{"store=files/cache=remote/readers=1", "store=files/cache=remote/readers=16",
		"store=files/cache=remote/readers=4", "store=files/cache=remote/readers=64"}; !slices.Equal(names, want) {
		t.Errorf("%v", names)
	}
	cfg := benchtest.Config(3)
	cfg.Env = env
	r := benchtest.Measure(t, cfg, cases[0])[cases[0].Params.Name("test")]
	proof := results.As[results.DiskProof](r.Proof)
	if first := r.Metric("first_byte"); r.Status != results.OK || results.MedianOf(r, "retried") != 0.5 ||
		results.MedianOf(r, "throttled") != 0.5 || first == nil || math.Abs(first.Median-1e-3) > 1e-9 ||
		len(r.References) > 0 {
		t.Errorf("%+v", r)
	}
	text := strings.Join(r.Warnings, "\n")
	if !strings.Contains(text, "the store throttled") || !strings.Contains(text, "were repeated") ||
		strings.Contains(text, "volume") || strings.Contains(text, "page cache") {
		t.Errorf("warnings: %s", text)
	}
	if proof.Requests == 0 || proof.Retries != proof.Requests/2 || proof.Throttled != proof.Retries {
		t.Errorf("%+v", proof)
	}
	env.Axes = map[string][]string{"cache": {results.Warm}}
	for _, c := range benchtest.Cases(t, Suite, env) {
		benchtest.Says(t, "warm", c.Skip, "an object store has no page cache here")
	}
	env.Axes, env.Disk = nil, theory.DiskSpec{Name: "stream100", Rate: 100e6}
	for _, c := range benchtest.Cases(t, Suite, env) {
		benchtest.Says(t, "simulated", c.Skip, "a simulated disk reads from the page cache")
	}
}

// How many files are opened and looked at a second is measured once, in a case that reads cold.
func TestMetadata(t *testing.T) {
	env := diskEnv(t)
	cfg := benchtest.Config(3)
	cfg.Env = env
	names, cases := benchtest.Named(t, Suite, env)
	for i, c := range cases {
		defined := slices.Contains(c.Metrics, metadataMetrics()[0])
		if want := names[i] == "store=files/cache=cold-data/readers=1"; defined != want {
			t.Errorf("%s: %v", names[i], defined)
		} else if !want {
			continue
		}
		r := benchtest.Measure(t, cfg, c)[c.Params.Name("test")]
		for name, samples := range map[string]int{"first_opens": 1, "first_stats": 1, "opens": 3, "stats": 3} {
			if m := r.Metric(name); m == nil || len(m.Samples) < samples || m.Median <= 0 {
				t.Errorf("%s: %+v", name, m)
			}
		}
	}
}
