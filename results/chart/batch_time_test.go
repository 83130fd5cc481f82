package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"dlbench/results"
)

// summary writes what was extracted, times in ms.
func (g batchGroup) summary() string {
	ms := func(s ...float64) string {
		var all []string
		for _, v := range s {
			all = append(all, fmt.Sprintf("%.3f", v*1e3))
		}
		return strings.Join(all, "-")
	}
	s := fmt.Sprintf("%s: line %s band %s article %s", strings.Join(g.Title, " | "), ms(g.LineRate), ms(g.Protocol.Lo, g.Protocol.Hi), ms(g.Theory, g.Practice))
	for _, b := range g.Bars {
		s += fmt.Sprintf("; %s %s", b.Mem, ms(b.Median))
		if b.Assumed {
			s += " assumed"
		}
		if b.Spread != (span{}) {
			s += " " + ms(b.Spread.Lo, b.Spread.Hi)
		}
		if b.Range {
			s += " range"
		}
		if b.Published != (span{}) {
			s += " published " + ms(b.Published.Lo, b.Published.Hi)
		}
	}
	return s
}

func TestBatchTimes(t *testing.T) {
	got := batchTimesOf([]*results.Report{simReport(""), gpuReport("rig", 1, "gen4x16")})
	if len(got) != 1 || got[0].Batch.Bytes() != articleBytes {
		t.Fatalf("have %+v, want one chart of the article's batch", got)
	}
	want := []string{
		"Gen3 x4 | assumed link: line 4.936 band 5.322-6.478 article 4.500-9.000; pinned 6.170 assumed; staged 9.492 assumed; pageable 12.340 assumed",
		"Gen3 x8 | assumed link: line 2.468 band 2.661-3.239 article 2.300-5.000; pinned 3.085 assumed; staged 4.746 assumed; pageable 6.170 assumed",
		"Gen3 x16 | assumed link: line 1.234 band 1.330-1.620 article 1.100-2.000; pinned 1.542 assumed published 1.484-1.944; staged 2.373 assumed; pageable 3.085 assumed published 3.240-3.888",
		"host memory copy: line 0.000 band 0.000-0.000 article 0.000-0.000; pageable 1.984 1.954-2.023",
		"cuda:0 Fake GPU 0 | Gen4 x16: line 0.617 band 0.665-0.810 article 0.000-0.000; pinned 0.771 0.760-0.787 published 0.748-0.813; registered 0.791 0.779-0.807; staged 1.234 1.215-1.259; pageable 1.469 1.447-1.498 published 1.057-1.507",
		"host memory copy: line 0.000 band 0.000-0.000 article 0.000-0.000; pageable 1.736 1.710-1.770",
	}
	for i, g := range got[0].Groups {
		if s := g.summary(); i >= len(want) || s != want[i] {
			t.Errorf("group %d:\n%s", i, s)
		}
	}
	if len(got[0].Groups) != len(want) {
		t.Errorf("%d groups, want %d", len(got[0].Groups), len(want))
	}
}

// A chart holds what belongs in it and leaves the rest of a report alone.
func TestBatchTimesLeavesOut(t *testing.T) {
	plain := copyOf("cuda:0", "h2d", "pinned", "gen4x16", articleBytes, 25e9)
	change := func(f func(*results.Result)) results.Result {
		r := copyOf("cuda:0", "h2d", "pageable", "gen4x16", articleBytes, 10e9)
		f(&r)
		return r
	}
	rep := newReport("")
	rep.Results = []results.Result{
		change(func(r *results.Result) { r.Suite = "disk" }),
		change(func(r *results.Result) { r.Status = results.Skipped }),
		change(func(r *results.Result) { r.Params = r.Params.With("dir", "d2h") }),
		change(func(r *results.Result) { r.Params = r.Params.With("dir", "bidi") }),
		change(func(r *results.Result) { r.Params = r.Params.With("source", "cold") }),
		change(func(r *results.Result) { r.Params = r.Params.With("dtype", "float16") }),
		change(func(r *results.Result) { r.Params = r.Params.With("bytes", int64(4096)) }),
		change(func(r *results.Result) { r.Metrics = nil }),
		change(func(r *results.Result) { r.Metrics[0].Median = math.NaN() }),
		change(func(r *results.Result) { r.Metrics[0].Median = math.Inf(1) }),
		change(func(r *results.Result) { r.Metrics[0].Median = 0 }),
		plain,
		change(func(r *results.Result) { r.Params = r.Params.With("mem", "pinned").With("streams", int64(2)) }),
	}
	got := batchTimesOf([]*results.Report{rep})
	if len(got) != 1 || len(got[0].Groups) != 1 || len(got[0].Groups[0].Bars) != 1 || got[0].Groups[0].Bars[0].Median != plain.Metrics[0].Median {
		t.Errorf("have %+v, want the plain copy alone", got)
	}
}

// A copy that failed keeps its row, without its numbers, or a picture would not
// show that something is missing. Nothing but failures makes no picture.
func TestBatchTimesShowsFailures(t *testing.T) {
	failed := copyOf("cuda:0", "h2d", "pageable", "gen4x16", articleBytes, 10e9)
	failed.Status = results.Failed
	rep := newReport("")
	rep.Results = []results.Result{copyOf("cuda:0", "h2d", "pinned", "gen4x16", articleBytes, 25e9), failed}
	got := batchTimesOf([]*results.Report{rep})
	if len(got) != 1 || len(got[0].Groups[0].Bars) != 2 {
		t.Fatalf("have %+v, want two rows", got)
	}
	if b := got[0].Groups[0].Bars[1]; !b.Failed || b.Mem != "pageable" || b.point != (point{}) {
		t.Errorf("failed row %+v", b)
	}
	rep.Results = rep.Results[1:]
	if got := batchTimesOf([]*results.Report{rep}); len(got) != 0 {
		t.Errorf("have %+v of failures alone", got)
	}
}

// Without a device there is nothing to compare main memory with.
func TestBatchTimesNone(t *testing.T) {
	host := newReport("")
	host.Results = []results.Result{copyOf("host", "h2h", "pageable", "", articleBytes, 1e10)}
	shapeless := gpuReport("", 1, "gen3x8")
	shapeless.Config.Shape = nil
	for name, reps := range map[string][]*results.Report{"no report": nil, "no result": {newReport("")}, "host": {host}, "no shape": {shapeless}} {
		if got := batchTimesOf(reps); len(got) != 0 {
			t.Errorf("%s: have %+v, want no chart", name, got)
		}
	}
}

func TestBatchTimesOfTwoBatches(t *testing.T) {
	other := newReport("b16")
	other.Config.Batch = 16
	other.Results = []results.Result{copyOf("cuda:0", "h2d", "pinned", "gen4x16", articleBytes/2, 25e9)}
	got := batchTimesOf([]*results.Report{gpuReport("b32", 1, "gen4x16"), other})
	if len(got) != 2 || got[0].Batch.Images != 32 || got[1].Batch.Images != 16 || len(got[1].Groups) != 1 {
		t.Errorf("have %+v, want a chart for each batch", got)
	}
}

func TestBatchTimesOfManyDevices(t *testing.T) {
	got := batchTimesOf([]*results.Report{gpuReport("", 20, "gen4x16")})
	if len(got) != 2 || len(got[0].Groups) != maxGroups || len(got[1].Groups) != 21-maxGroups {
		t.Errorf("%d charts, want 2 of 21 groups", len(got))
	}
}

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*results.Metric)
		want   span
		ranged bool
	}{
		{"interval", func(*results.Metric) {}, span{0.9, 1.2}, false},
		{"few samples", func(m *results.Metric) { m.Lo, m.Hi = nil, nil }, span{0.8, 1.5}, true},
		{"one sample", func(m *results.Metric) { m.Lo, m.Hi, m.Min, m.Max = nil, nil, 1, 1 }, span{}, false},
		{"interval beside its median", func(m *results.Metric) { m.Lo = new(1.1) }, span{}, false},
		{"endless interval", func(m *results.Metric) { m.Hi = new(math.Inf(1)) }, span{}, false},
	} {
		m := results.Metric{Name: "time", Median: 1, Min: 0.8, Max: 1.5, Lo: new(0.9), Hi: new(1.2)}
		c.change(&m)
		p, ok := pointOf(&results.Result{Metrics: []results.Metric{m}}, "time")
		if !ok || p.Spread != c.want || p.Range != c.ranged {
			t.Errorf("%s: have %+v, want %v, range %t", c.name, p, c.want, c.ranged)
		}
		if p, _ := pointOf(&results.Result{Assumed: []string{"link"}, Metrics: []results.Metric{m}}, "time"); p.Spread != (span{}) {
			t.Errorf("%s, assumed: have %+v, want no spread", c.name, p)
		}
	}
}

func TestDeviceTitles(t *testing.T) {
	rep := gpuReport("", 2, "gen5x16")
	for _, c := range []struct{ spec, proof, device, link string }{
		{"sim:gen3x16", "gen3x16", "Gen3 x16", "assumed link"},
		{"sim:gen3x8", "", "Gen3 x8", "assumed link"},
		{"sim:gen3x16:gbps=12.1:pageable-gbps=5", "", "Gen3 x16", "assumed link, gbps=12.1, pageable-gbps=5"},
		{"sim:other", "", "sim:other", "assumed link"},
		{"cuda:1", "gen5x16", "cuda:1 Fake GPU 1", "Gen5 x16"},
		{"cuda:1", "", "cuda:1 Fake GPU 1", "link unknown"},
		{"cuda:1", "rubbish", "cuda:1 Fake GPU 1", "link unknown"},
		{"cuda:7", "gen4x8", "cuda:7", "Gen4 x8"},
		{"cuda:0:link=gen3x4", "gen3x4", "cuda:0 Fake GPU 0", "Gen3 x4, link time loaded"},
		{"cuda:0:link=gen3x4", "", "cuda:0 Fake GPU 0", "Gen3 x4, link time loaded"}, // as in the pipeline
		{"cuda:0:link=gen3x4:gbps=2", "gen3x4", "cuda:0 Fake GPU 0", "Gen3 x4, link time loaded, gbps=2"},
		{"host", "", "host memory copy", ""},
		{"new\tkind\x00", "", "new kind", "link unknown"},
	} {
		r := copyOf(c.spec, "h2d", "pinned", c.proof, 1<<20, 1e9)
		r.Proof = results.RecordOf(map[string]any{"link": c.proof})
		device, link := copies{Spec: c.spec, Link: linkTitle(&r)}.title(rep)
		if device != c.device || link != c.link {
			t.Errorf("%s over %q: have %q, %q, want %q, %q", c.spec, c.proof, device, link, c.device, c.link)
		}
	}
}

func TestMemOrder(t *testing.T) {
	mems := []string{"zoned", "pageable", "bounce", "pinned", "alien", "staged", "registered"}
	slices.SortFunc(mems, compareMem)
	if want := []string{"pinned", "registered", "staged", "pageable", "bounce", "alien", "zoned"}; !slices.Equal(mems, want) {
		t.Errorf("have %v, want %v", mems, want)
	}
}
