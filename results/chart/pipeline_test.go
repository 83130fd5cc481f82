package chart

import (
	"math"
	"slices"
	"strings"
	"testing"

	"dlbench/results"
)

func TestStepTimes(t *testing.T) {
	v := stepTimes(one(simPipeReport("")))
	golden(t, "step-times", v.summary())
	disk, ahead := v.Groups[3].Rows[0], v.Groups[3].Rows[1]
	if !nearly(disk.Parts[0], 0.216) || !nearly(disk.Parts[1], 196.2e-3) || !nearly(disk.Parts[2],
		413.8e-3-0.216-196.2e-3) {
		t.Errorf("parts %v", disk.Parts)
	}
	if ahead.Parts[1] != 0 || ahead.Parts[2] != 0 {
		t.Errorf("a wait under the step counts as a stall: %+v", ahead)
	}
	golden(t, "step-times-2", stepTimes([]*results.Report{simPipeReport("a"), gpuPipeReport("b")}).summary())
}

// Parts of a step add up to it and none is negative, whatever a report says.
func TestStepPartsOfOddTimes(t *testing.T) {
	for _, c := range []struct {
		step    string
		t, wait float64
		want    [3]float64
	}{
		{"50ms", 0.06, 0.004, [3]float64{0.05, 0.004, 0.006}},
		{"50ms", 0.06, 0.5, [3]float64{0.05, 0.01, 0}},
		{"50ms", 0.04, 0.5, [3]float64{0.04, 0, 0}},
		{"50ms", 0.06, -1, [3]float64{0.05, 0, 0.01}},
		{"50ms", 0.06, math.NaN(), [3]float64{0.05, 0, 0.01}},
	} {
		rep := newReport("")
		rep.Results = []results.Result{pipeResult("cuda:0", "pinned", 1, "online", nothing, "real", c.step, c.t,
			c.wait)}
		for i, have := range stepTimes(one(rep)).Groups[0].Rows[0].Parts {
			if math.Abs(have-c.want[i]) > 1e-12 {
				t.Errorf("%+v: part %d is %g", c, i, have)
			}
		}
	}
}

func TestFeeds(t *testing.T) {
	v := feeds(one(gpuPipeReport("")), 32)
	compare(t, v.summary(), []string{
		"cuda:0 Fake GPU 0: online, pinned, prefetch 2 1600 images/s, 20.00 ms;",
	})
	if r := v.Groups[0].Rows[0]; !nearly(r.Spread.Lo, 1600*0.98) {
		t.Errorf("row %+v, want its interval", r)
	}
	var demands []string
	for _, m := range v.Demands {
		demands = append(demands, m.Text)
	}
	golden(t, "feeds", demands)
	reports := []*results.Report{simPipeReport("a"), gpuPipeReport("b")}
	golden(t, "feeds-2", feeds(reports, 32).summary())
	// Machines with other numbers of workers are held against each other all the same.
	for i := range reports[1].Results {
		reports[1].Results[i].Params = reports[1].Results[i].Params.With("workers", int64(15))
	}
	compare(t, feeds(reports, 32).summary()[:1], []string{
		"online, pinned, prefetch 2: 1 cuda:0, workers 15 1600 images/s, 20.00 ms;",
	})
}

// A part that is free, and a batch of unknown size, say nothing of a loader.
func TestFeedsOfOthers(t *testing.T) {
	unknown, small, free := gpuPipeReport(""), gpuPipeReport(""), newReport("")
	unknown.Config.Batch, small.Config.Batch = 0, 16
	free.Results = []results.Result{pipeResult("cuda:0", "pinned", 2, "online", "read+copy", "real", "0s", 1e-2, 0)}
	for _, c := range []struct {
		reports []*results.Report
		want    int
	}{{one(unknown), 0}, {one(free), 0}, {[]*results.Report{gpuPipeReport(""), small}, 2}} {
		if have := feedCharts(c.reports); len(have) != c.want {
			t.Errorf("%d charts, want %d", len(have), c.want)
		}
	}
}

// A case past the page cache is another loader, and its name says so.
func TestFeedsPastTheCache(t *testing.T) {
	rep := simPipeReport("")
	cold := standIn(pipeResult("sim:gen3x16", "pinned", 2, "online", nothing, "real", "0s", 60e-3, 59e-3), "link")
	cold.Params = append(cold.Params, results.Param{Key: "cache", Value: "direct"})
	cold.Name = cold.Params.Name(cold.Suite)
	rep.Results = append(rep.Results, cold)
	golden(t, "feeds-past-the-cache", feeds(one(rep), 32).summary())
}

func TestStepTraces(t *testing.T) {
	got := stepTraces(one(simPipeReport("")))
	golden(t, "step-traces", summaries(got)[:2])
	if len(got) != 1 || len(got[0].Lines) != 5 || len(got[0].Levels) != 1 || got[0].Levels[0].At != 0.216 {
		t.Errorf("%+v, want five lines and a step", got)
	}
}

func TestTraceOf(t *testing.T) {
	type list = []float64
	for name, c := range map[string]struct{ t, v, wantT, wantV list }{
		"uneven":       {list{1, 2, 3}, list{4, 5}, list{1, 2}, list{4, 5}},
		"no time":      {list{1, 2, 3}, list{4, -5, 6}, list{1, 3}, list{4, 6}},
		"back":         {list{1, 2, 2, 3}, list{4, 5, 6, 7}, list{1, 2}, list{4, 5}},
		"not a number": {list{1, math.NaN()}, list{4, 5}, list{1}, list{4}},
	} {
		r := results.Result{Series: []results.Series{
			{Name: "step_time", Unit: results.Seconds, T: list{7, 8}, V: list{7, 8}}, // of an earlier start
			{Name: "step_time", Unit: results.Seconds, T: c.t, V: c.v},
			{Name: "step_time", Unit: results.Bytes, T: list{1}, V: list{1}},
		}}
		at, v, n := traceOf(&r, "step_time")
		if !slices.Equal(at, c.wantT) || !slices.Equal(v, c.wantV) || n != 2 {
			t.Errorf("%s: %v %v of %d, want %v %v of 2", name, at, v, n, c.wantT, c.wantV)
		}
	}
	if at, _, n := traceOf(&results.Result{}, "step_time"); at != nil || n != 0 {
		t.Errorf("of none: %v of %d", at, n)
	}
	long := results.Series{Name: "step_time", Unit: results.Seconds}
	for i := range 2 * maxTrace {
		long.T, long.V = append(long.T, float64(i)), append(long.V, 1)
	}
	if at, _, _ := traceOf(&results.Result{Series: []results.Series{long}}, "step_time"); len(at) != maxTrace {
		t.Errorf("%d steps are drawn, want at most %d", len(at), maxTrace)
	}
}

// Charts have at most so many rows, and none is lost.
func TestPages(t *testing.T) {
	v := bars{machines: []string{"a"}}
	for i := range 12 {
		for range 8 {
			v.add(barGroup{Title: strings.Repeat("x", i), key: i}, barRow{point: point{Median: 1}, Failed: i == 11})
		}
	}
	for range 100 {
		v.add(barGroup{key: "many"}, barRow{point: point{Median: 1}})
	}
	var have []int
	for _, page := range v.pages() {
		n := 0
		for _, g := range page.Groups {
			n += len(g.Rows)
		}
		have = append(have, n)
	}
	if !slices.Equal(have, []int{48, 48, 64, 36}) {
		t.Errorf("%v rows a chart", have)
	}
}
