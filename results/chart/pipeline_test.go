package chart

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"dlbench/results"
)

// nearly tells whether a and b are equal but for rounding.
func nearly(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b)) }

func TestStepTimesOf(t *testing.T) {
	all := stepTimesOf([]*results.Report{simPipeReport("")})
	if len(all) != 1 || len(all[0].Groups) != 3 {
		t.Fatalf("%+v, want one chart with three devices", all)
	}
	var rows []string
	for _, g := range all[0].Groups {
		for _, b := range g.Bars {
			rows = append(rows, g.Title[0]+": "+b.Title)
		}
	}
	want := []string{
		"Gen3 x4: batches ready in memory, pinned, prefetch 0 (one after the other)",
		"Gen3 x4: batches ready in memory, pinned, prefetch 2",
		"Gen3 x8: batches ready in memory, pinned, prefetch 0 (one after the other)",
		"Gen3 x8: batches ready in memory, pinned, prefetch 2",
		"Gen3 x16: batches ready in memory, pinned, prefetch 0 (one after the other)",
		"Gen3 x16: batches ready in memory, pinned, prefetch 2",
		"Gen3 x16: online, pinned, prefetch 2",
		"Gen3 x16: tensor, assumed disk stream100, pinned, prefetch 0 (one after the other)",
		"Gen3 x16: tensor, assumed disk stream100, pinned, prefetch 2",
	}
	if !slices.Equal(rows, want) {
		t.Errorf("rows %q, want %q", rows, want)
	}
	disk := all[0].Groups[2].Bars[3]
	if !nearly(disk.Compute, 0.216) || !nearly(disk.Wait, 196.2e-3) || !nearly(disk.Rest, 413.8e-3-0.216-196.2e-3) || !nearly(disk.Utilisation, 0.216/0.4138) {
		t.Errorf("bar %+v", disk)
	}
	if disk.Spread != (span{}) || !disk.Assumed {
		t.Errorf("assumed: %+v", disk)
	}
	ahead := all[0].Groups[2].Bars[4]
	if ahead.Wait != 0 || ahead.Rest != 0 || ahead.Utilisation != 1 {
		t.Errorf("a wait under the step counts as a stall: %+v", ahead)
	}
}

// Parts of a step add up to it and none is negative, whatever a report says.
func TestStepBarOfOddTimes(t *testing.T) {
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
		rep.Results = []results.Result{pipeResult("cuda:0", "pinned", 1, "online", nothing, "real", c.step, c.t, c.wait)}
		b := stepTimesOf([]*results.Report{rep})[0].Groups[0].Bars[0]
		for i, have := range []float64{b.Compute, b.Wait, b.Rest} {
			if math.Abs(have-c.want[i]) > 1e-12 {
				t.Errorf("%+v: parts %g %g %g", c, b.Compute, b.Wait, b.Rest)
			}
		}
	}
}

func TestStepTimesOfMany(t *testing.T) {
	rep := newReport("")
	for i := range 25 {
		rep.Results = append(rep.Results, pipeResult("cuda:0", "pinned", int64(i), "online", nothing, "real", "50ms", 0.06, 0))
	}
	var bars []int
	for _, d := range stepTimesOf([]*results.Report{rep}) {
		bars = append(bars, len(d.Groups[0].Bars))
	}
	if !slices.Equal(bars, []int{10, 10, 5}) {
		t.Errorf("%v bars a chart", bars)
	}
}

func TestFeedsOf(t *testing.T) {
	all := feedsOf([]*results.Report{gpuPipeReport("")})
	if len(all) != 1 || len(all[0].Curves) != 1 {
		t.Fatalf("%+v, want one chart with one curve", all)
	}
	f := all[0].Curves[0]
	if !nearly(f.Rate, 1600) || !nearly(f.Knee, 20e-3) || !nearly(f.Spread.Lo, 20e-3/1.03) || !nearly(f.Spread.Hi, 20e-3/0.98) {
		t.Errorf("curve %+v", f)
	}
	for step, want := range map[float64]float64{5e-3: 0.25, 20e-3: 1, 1: 1} {
		if u := f.at(step); !nearly(u, want) {
			t.Errorf("utilisation with a step of %g s: %g, want %g", step, u, want)
		}
	}
	// The pageable one is another loader, the failed one has no numbers.
	if len(f.Points) != 2 || !nearly(f.Points[0].Step, 10e-3) || !nearly(f.Points[0].Median, 10/20.5) || f.Points[1].Spread.Hi > 1 {
		t.Errorf("points %+v", f.Points)
	}
	var marks []string
	for _, m := range all[0].marks() {
		marks = append(marks, m.Text)
	}
	want := []string{
		"ResNet-50 on H100: 17.9 ms, 1\u00A0786 images/s", "keeps up from 20.0 ms, 1\u00A0600 images/s",
		"ResNet-50 on A100: 34.8 ms, 919.5 images/s", "ResNet-152: 216 ms, 148.1 images/s",
	}
	if !slices.Equal(marks, want) {
		t.Errorf("marks %q, want %q", marks, want)
	}
}

// A part that is free, and a batch of unknown size, say nothing of a loader.
func TestFeedsOfOthers(t *testing.T) {
	unknown := gpuPipeReport("")
	unknown.Config.Batch = 0
	free := newReport("")
	free.Results = []results.Result{pipeResult("cuda:0", "pinned", 2, "online", "read+copy", "real", "0s", 1e-2, 0)}
	small := gpuPipeReport("")
	small.Config.Batch = 16
	for _, c := range []struct {
		reports []*results.Report
		want    []int // batches of the charts
	}{{[]*results.Report{unknown}, nil}, {[]*results.Report{free}, nil}, {[]*results.Report{gpuPipeReport(""), small}, []int{32, 16}}} {
		var have []int
		for _, d := range feedsOf(c.reports) {
			have = append(have, d.Batch)
		}
		if !slices.Equal(have, c.want) {
			t.Errorf("charts for batches %v, want %v", have, c.want)
		}
	}
}

func TestStepTracesOf(t *testing.T) {
	all := stepTracesOf([]*results.Report{simPipeReport("")})
	if len(all) != 1 || len(all[0].Lines) != 5 || !reflect.DeepEqual(all[0].Steps, []float64{0.216}) {
		t.Fatalf("%+v, want five lines and a step", all)
	}
	if l := all[0].Lines[0]; l.Name != "Gen3 x16, assumed link, online, pinned, prefetch 2, no step" || len(l.T) != 40 || !l.Assumed || l.Restarts {
		t.Errorf("line %+v", l)
	}
}

func TestTraceOf(t *testing.T) {
	s := func(t, v []float64) results.Series {
		return results.Series{Name: "step_time", Unit: results.Seconds, T: t, V: v}
	}
	for name, c := range map[string]struct {
		series []results.Series
		t, v   []float64
		n      int
	}{
		"none":           {nil, nil, nil, 0},
		"last restart":   {[]results.Series{s([]float64{1, 2}, []float64{1, 1}), s([]float64{3, 4}, []float64{2, 3})}, []float64{3, 4}, []float64{2, 3}, 2},
		"uneven":         {[]results.Series{s([]float64{1, 2, 3}, []float64{4, 5})}, []float64{1, 2}, []float64{4, 5}, 1},
		"no time":        {[]results.Series{s([]float64{1, 2, 3}, []float64{4, -5, 6})}, []float64{1, 3}, []float64{4, 6}, 1},
		"back":           {[]results.Series{s([]float64{1, 2, 2, 3}, []float64{4, 5, 6, 7})}, []float64{1, 2}, []float64{4, 5}, 1},
		"not a number":   {[]results.Series{s([]float64{1, math.NaN()}, []float64{4, 5})}, []float64{1}, []float64{4}, 1},
		"of other units": {[]results.Series{{Name: "step_time", Unit: results.Bytes, T: []float64{1}, V: []float64{1}}}, nil, nil, 0},
	} {
		l, n := traceOf(&results.Result{Series: c.series}, "step_time")
		if !slices.Equal(l.T, c.t) || !slices.Equal(l.V, c.v) || n != c.n {
			t.Errorf("%s: %v %v of %d, want %v %v of %d", name, l.T, l.V, n, c.t, c.v, c.n)
		}
	}
	long := s(nil, nil)
	for i := range 2 * maxTrace {
		long.T, long.V = append(long.T, float64(i)), append(long.V, 1)
	}
	if l, _ := traceOf(&results.Result{Series: []results.Series{long}}, "step_time"); len(l.T) != maxTrace {
		t.Errorf("%d steps are drawn, want at most %d", len(l.T), maxTrace)
	}
}

func TestPipeCasesOfBadSteps(t *testing.T) {
	for _, step := range []string{"-1s", "soon", "1"} {
		rep := newReport("")
		r := pipeResult("cuda:0", "pinned", 2, "online", nothing, "real", "50ms", 0.06, 0)
		r.Params = r.Params.With("step", step)
		rep.Results = []results.Result{r}
		if charts, err := Charts([]*results.Report{rep}); err != nil || len(charts) != 0 {
			t.Errorf("step %q: %d charts, %v", step, len(charts), err)
		}
	}
}

func TestPipelineSVG(t *testing.T) {
	for _, c := range []struct {
		report *results.Report
		chart  int
		once   []string
		never  []string
	}{
		{simPipeReport(""), 0, []string{
			"Time of a training step and what the device waits for, assumed link, step and disk",
			"assumed link, step and disk: paced stand-ins, not a measurement", "413.8 ms, 52.2 %", "time per step (ms)",
			"stall while the loop waited for a batch",
		}, []string{"95 % interval of the median", "failed"}},
		{gpuPipeReport(""), 0, []string{
			"Time of a training step and what the device waits for", "failed", "50.10 ms, 99.8 %", "95 % interval of the median",
		}, []string{"assumed"}},
		{simPipeReport(""), 1, []string{
			"Utilisation of the device by the time that it works on a batch, assumed link and step",
			"keeps up from 47.3 ms, 677.1 images/s", "ResNet-152: 216 ms, 148.1 images/s", "utilisation (%)",
		}, []string{"95 % interval of the median"}},
		{simPipeReport(""), 2, []string{"Step time over the run, assumed link, step and disk", "the device works 216 ms"}, nil},
	} {
		charts, err := Charts([]*results.Report{c.report})
		if err != nil || len(charts) != 3 {
			t.Fatalf("%d charts, %v", len(charts), err)
		}
		_, texts := svgOf(t, charts[c.chart])
		for _, s := range c.once {
			if n := count(texts, s); n != 1 {
				t.Errorf("%s: %q is there %d times, want once: %q", charts[c.chart].Name, s, n, texts)
			}
		}
		for _, s := range c.never {
			if slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, s) }) {
				t.Errorf("%s: %q is there", charts[c.chart].Name, s)
			}
		}
	}
}

// A case past the page cache is another curve, and its name says so.
func TestFeedsPastTheCache(t *testing.T) {
	rep := simPipeReport("")
	cold := standIn(pipeResult("sim:gen3x16", "pinned", 2, "online", nothing, "real", "0s", 60e-3, 59e-3), "link")
	cold.Params = append(cold.Params, results.Param{Key: "cache", Value: "direct"})
	cold.Name = cold.Params.Name(cold.Suite)
	curves := func() (names []string) {
		for _, f := range feedsOf([]*results.Report{rep}) {
			for _, c := range f.Curves {
				names = append(names, c.Name)
			}
		}
		return names
	}
	before := curves()
	rep.Results = append(rep.Results, cold)
	after := curves()
	if len(after) != len(before)+1 || !strings.Contains(after[len(after)-1], "online, past the page cache") {
		t.Errorf("%q, before %q", after, before)
	}
}
