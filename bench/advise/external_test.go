package advise

import (
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
