package chart

import (
	"math"
	"slices"
	"testing"

	"dlbench/results"
)

func TestPointOf(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*results.Metric)
		want   span
	}{
		{"interval", func(*results.Metric) {}, span{0.9, 1.2}},
		{"few samples", func(m *results.Metric) { m.Lo, m.Hi = nil, nil }, span{0.8, 1.5}},
		{"one sample", func(m *results.Metric) { m.Lo, m.Hi, m.Min, m.Max = nil, nil, 1, 1 }, span{}},
		{"interval without its median", func(m *results.Metric) { m.Lo = new(1.1) }, span{}},
		{"endless interval", func(m *results.Metric) { m.Hi = new(math.Inf(1)) }, span{}},
	} {
		m := results.Metric{Name: "time", Median: 1, Min: 0.8, Max: 1.5, Lo: new(0.9), Hi: new(1.2)}
		c.change(&m)
		p, ok := pointOf(&results.Result{Metrics: []results.Metric{m}}, "time")
		if !ok || p.Spread != c.want {
			t.Errorf("%s: have %+v, want %v", c.name, p, c.want)
		}
		if p, _ := pointOf(&results.Result{Assumed: []string{"link"}, Metrics: []results.Metric{m}},
			"time"); p.Spread != (span{}) {
			t.Errorf("%s, assumed: have %+v, want no spread", c.name, p)
		}
	}
}

func TestDeviceText(t *testing.T) {
	for _, c := range []struct{ spec, proof, want string }{
		{"sim:gen3x16", "gen3x16", "Gen3 x16"},
		{"sim:gen3x8", "", "Gen3 x8"},
		{"sim:gen3x16:gbps=12.1:pageable-gbps=5", "", "Gen3 x16, gbps=12.1, pageable-gbps=5"},
		{"sim:other", "", "sim:other"},
		{"cuda:1", "gen5x16", "cuda:1 Gen5 x16"},
		{"cuda:1", "", "cuda:1"},
		{"cuda:1", "rubbish", "cuda:1"},
		{"cuda:0:link=gen3x4", "gen3x4", "cuda:0 Gen3 x4, link time loaded"},
		{"cuda:0:link=gen3x4", "", "cuda:0 Gen3 x4, link time loaded"}, // as in the pipeline
		{"cuda:0:link=gen3x4:gbps=2", "gen3x4", "cuda:0 Gen3 x4, link time loaded, gbps=2"},
		{"host", "", ""},
		{"new\tkind\x00", "", "new kind"},
	} {
		r := copyOf(c.spec, "h2d", "pinned", c.proof, 1<<20, 1e9)
		r.Proof = results.RecordOf(map[string]any{"link": c.proof})
		if have := deviceText(&r, c.spec); have != c.want {
			t.Errorf("%s over %q: have %q, want %q", c.spec, c.proof, have, c.want)
		}
	}
}

// machinesOfLinks are machines with several devices and links, of which two have the same
// line rate.
func machinesOfLinks() []*results.Report {
	return []*results.Report{gpuReport("a", 1, "gen4x4"), gpuReport("b", 2, "gen5x16"), gpuReport("c", 1, "gen3x8")}
}

// Too much for one chart goes to further ones, and nothing is lost.
func TestSweepSplits(t *testing.T) {
	for gpus, want := range map[int][]int{4: {8}, 6: {8, 4}} {
		var have []int
		for _, d := range sweeps(one(gpuReport("", gpus, "gen4x16"))) {
			have = append(have, len(d.(lines).Lines))
		}
		if !slices.Equal(have, want) {
			t.Errorf("%d GPUs: have %v lines, want %v", gpus, have, want)
		}
	}
}

// A line needs three sizes, of the type of elements that the run sweeps with.
func TestSweepNeedsSizes(t *testing.T) {
	rep := newReport("")
	rep.Config.DType = "uint8"
	for i, bytes := range []int64{4096, 8192, 4096, articleBytes, 16384} {
		r := copyOf("cuda:0", "h2d", "pinned", "gen4x16", bytes, 1e9)
		if bytes != articleBytes {
			r.Params = r.Params.With("dtype", "uint8")
		}
		rep.Results = append(rep.Results, r)
		if have, want := sweeps(one(rep)), i == 4; (have != nil) != want || want && len(have[0].points()) != 3 {
			t.Errorf("after %d copies: have %+v", i+1, have)
		}
	}
}
