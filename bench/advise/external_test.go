package advise

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"dlbench/results"
)

// loaderCase is a case of a loader with so many workers, images/s, and CPUs busy in all its
// processes and in the training process.
func loaderCase(workers int, rate, all, main float64) results.Result {
	return results.Result{Suite: "external", Status: results.OK,
		Params: results.Params{{Key: "loader", Value: "mine"}, {Key: "workers", Value: int64(workers)}},
		Metrics: []results.Metric{{Name: "throughput", Unit: results.PerSecond, Median: rate, Min: rate, Max: rate},
			{Name: "cpu", Unit: results.Seconds, Median: all / rate},
			{Name: "main_cpu", Unit: results.Seconds, Median: main / rate}}}
}

func TestBottleneckOfALoader(t *testing.T) {
	busy := loaderCase(2, 800, 2.2, 0.3)
	for name, c := range map[string]struct {
		cases      []results.Result
		part, want string
	}{
		"all cores":               {[]results.Result{loaderCase(8, 800, 7.5, 0.5)}, "cores", "All cores are busy"},
		"main process":            {[]results.Result{loaderCase(2, 800, 2.5, 0.9)}, "main process", "more workers do not"},
		"busy workers":            {[]results.Result{busy}, "workers", "more of them may help"},
		"more workers feed less":  {[]results.Result{busy, loaderCase(4, 790, 4, 0.3)}, "workers", "feed no more"},
		"workers are threads":     {[]results.Result{loaderCase(3, 800, 3.1, 3.1)}, "workers", "more of them may help"},
		"threads, one of them":    {[]results.Result{loaderCase(1, 800, 1, 1)}, "workers", "more of them may help"},
		"no workers":              {[]results.Result{loaderCase(0, 800, 1, 1)}, "", "cannot be told from outside"},
		"CPU time is not known":   {[]results.Result{loaderCase(2, 800, 0, 0)}, "", "is not known"},
		"nothing of it is at 85%": {[]results.Result{loaderCase(4, 800, 2, 0.2)}, "", "cannot be told from outside"},
	} {
		rep := reportOf(c.cases...)
		rep.Host.CPU.Usable = 8
		Conclude(rep, Question{Need: 1000})
		v := rep.Verdict
		if v.Answer != results.AnswerNo || v.Bottleneck != c.part || !strings.Contains(v.Limit, c.want) {
			t.Errorf("%s: %s, %q: %s, want %q: %s", name, v.Answer, v.Bottleneck, v.Limit, c.part, c.want)
		}
	}
}

// What other programs may have taken is said of a machine that was not quiet.
func TestBottleneckOnANoisyMachine(t *testing.T) {
	for flag, want := range map[string]bool{results.FlagNoisy: true, "": false} {
		two, four := loaderCase(2, 800, 2.2, 0.3), loaderCase(4, 790, 4, 0.3)
		four.Metrics[0].Samples = []results.Sample{{Value: 790}, {Value: 790, Flags: []string{flag}}}
		rep := reportOf(two, four)
		rep.Host.CPU.Usable = 8
		Conclude(rep, Question{Need: 1000})
		limit := rep.Verdict.Limit
		if strings.Contains(limit, "other programs may have taken the rest") != want || !strings.Contains(limit, "feed no more") {
			t.Errorf("flag %q: %s", flag, limit)
		}
	}
}

// metricOf is a metric with an interval.
func metricOf(name, unit string, lo, hi float64) results.Metric {
	return results.Metric{Name: name, Unit: unit, Median: (lo + hi) / 2, Min: lo, Max: hi, Lo: &lo, Hi: &hi}
}

func TestAnswerOfATrainingScript(t *testing.T) {
	for name, c := range map[string]struct {
		lo, hi  float64 // share of the time that it waited
		need    float64
		answer  string
		why     string
		unknown string // why it is not known what is needed
	}{
		"never waits":                     {0, 0.001, 1000, results.AnswerYes, "0.1 %", ""},
		"waits half of the time":          {0.45, 0.55, 1000, results.AnswerNo, "50.0 %", ""},
		"waits a little":                  {0.02, 0.06, 1000, results.AnswerClose, "4.0 %", ""},
		"may wait or not":                 {0, 0.2, 1000, results.AnswerClose, "10.0 %", ""},
		"what it needs is not known":      {0.99, 1, 0, results.AnswerNo, "99.5 %", "no time of their own"},
		"not known, but it does not wait": {0, 0, 0, results.AnswerYes, "0.0 %", "no time of their own"},
	} {
		r := results.Result{Suite: "external", Status: results.OK,
			Params: results.Params{{Key: "loader", Value: results.WrapLoader}, {Key: "workers", Value: int64(2)}},
			Metrics: []results.Metric{metricOf("throughput", results.PerSecond, 500, 520),
				metricOf("need", results.PerSecond, c.need, c.need), metricOf("stalled", results.Ratio, c.lo, c.hi)}}
		rep := reportOf(r)
		Conclude(rep, Question{Need: 5}) // its own need counts, not what is said of other loaders
		v := rep.Verdict
		if v.Answer != c.answer || !strings.Contains(v.Why, c.why) || *v.GPUBusy != 1-(c.lo+c.hi)/2 {
			t.Errorf("%s: %s (%s), busy %v, want %s", name, v.Answer, v.Why, *v.GPUBusy, c.answer)
		}
		known := v.Needs != nil
		if known != (c.need > 0) || known && *v.Needs != c.need || !strings.Contains(v.NeedsFrom, c.unknown) {
			t.Errorf("%s: needs %v, %s", name, v.Needs, v.NeedsFrom)
		}
		if v.Loader != results.ScriptLoader || v.Workers != 2 || *v.Feeds != 510 {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// named is a case under another name of its loader.
func named(name string, r results.Result) results.Result {
	r.Params = r.Params.With("loader", name)
	return r
}

func TestChangesOfALoader(t *testing.T) {
	one, two := loaderCase(1, 300, 1, 0.1), loaderCase(2, 560, 2, 0.1)
	for name, c := range map[string]struct {
		cases []results.Result
		want  []string // name, range and whether it is enough for 1000 images/s, the cheapest first
	}{
		"twice the cores, by its scaling":         {[]results.Result{one, two}, []string{"twice the cores 1045-1120 yes"}},
		"of one count nobody knows how it scales": {[]results.Result{two}, []string{"twice the cores 1120-1120 yes"}},
		"faster loaders come first": {[]results.Result{two, named("other", loaderCase(2, 700, 2, 0.1)),
			named(results.OwnLoader, loaderCase(2, 1500, 2, 2))}, []string{"a loader as fast as other 700-700 no",
			"a loader as fast as dlbench 1500-1500 yes", "twice the cores 1120-1120 yes"}},
		"slower ones are no change": {[]results.Result{two, named("other", loaderCase(2, 565, 2, 0.1))},
			[]string{"twice the cores 1120-1120 yes"}},
		"more workers brought nothing": {[]results.Result{one, loaderCase(2, 290, 1, 0.1)}, nil},
		"cores are idle":               {[]results.Result{loaderCase(2, 560, 0.5, 0.1)}, nil},
	} {
		rep := reportOf(c.cases...)
		Conclude(rep, Question{Need: 1000})
		var got []string
		for _, x := range rep.Verdict.Changes {
			got = append(got, fmt.Sprintf("%s %.0f-%.0f %s", x.Name, x.Lo, x.Hi, x.Enough))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestMeasuredBusyOfALoader(t *testing.T) {
	withStep := func(step string, lo, hi float64) results.Result {
		r := loaderCase(2, 990, 2, 0.1)
		r.Params = r.Params.With("step", step)
		r.Metrics = append(r.Metrics, metricOf("utilisation", results.Ratio, lo, hi))
		return r
	}
	for name, c := range map[string]struct {
		with   results.Result
		rate   float64
		answer string
		busy   float64
	}{
		"it keeps up":                     {withStep("32ms", 0.97, 0.99), 2000, results.AnswerYes, 0.98},
		"it does not next to steps":       {withStep("32ms", 0.8, 0.9), 2000, results.AnswerClose, 0.85},
		"it does not alone":               {withStep("32ms", 0.4, 0.42), 500, results.AnswerNo, 0.41},
		"a step of another length":        {withStep("10ms", 0.3, 0.3), 2000, results.AnswerYes, 1},
		"more than all the time is wrong": {withStep("32ms", 0.99, 1.03), 2000, results.AnswerYes, 1},
	} {
		rep := reportOf(loaderCase(2, c.rate, 2, 0.1), c.with)
		Conclude(rep, Question{Need: 1000}) // 32 images in 32 ms
		if v := rep.Verdict; v.Answer != c.answer || math.Abs(*v.GPUBusy-c.busy) > 1e-9 {
			t.Errorf("%s: %s (%s), busy %v, want %s, %v", name, v.Answer, v.Why, *v.GPUBusy, c.answer, c.busy)
		} else if measured := c.with.Params.Text("step") == "32ms"; strings.Contains(v.GPUBusyFrom, "without") != measured {
			t.Errorf("%s: busy %q", name, v.GPUBusyFrom) // it is less than the rate alone says
		}
	}
}
