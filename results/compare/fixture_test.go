package compare

import (
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"dlbench/results"
)

// machine draws metrics of runs: medians of runs and samples within them vary.
type machine struct {
	r      *rand.Rand
	runs   int     // 0 is one run
	n      int     // samples a run
	within float64 // relative deviation of samples in a run
	phi    float64 // of their AR(1) process
	across float64 // relative deviation of runs
}

// time returns samples around center.
func (m machine) time(center float64) results.Metric {
	t := results.Metric{Name: "time", Unit: results.Seconds, Better: results.Lower}
	for run := range max(1, m.runs) {
		level := center * math.Exp(m.across*m.r.NormFloat64())
		x := m.r.NormFloat64()
		for i := range m.n {
			t.Samples = append(t.Samples, results.Sample{Value: level * math.Exp(m.within*x), N: 1, T: float64(i), Run: run})
			x = m.phi*x + math.Sqrt(1-m.phi*m.phi)*m.r.NormFloat64()
		}
	}
	results.Summarize(&t, results.SummaryOptions{})
	return t
}

func quietMachine(seed uint64, runs int) machine {
	return machine{r: rand.New(rand.NewPCG(seed, 7)), runs: runs, n: 20, within: 0.004, across: 0.004}
}

// report wraps results with what Compare wants of a report.
func report(rs ...results.Result) *results.Report {
	return &results.Report{SchemaVersion: results.SchemaVersion, Status: results.Complete,
		Tool: results.Tool{Name: "dlbench", Version: "v1"}, Results: rs}
}

// measured is a case of the suite pcie with one metric.
func measured(m results.Metric, params ...string) results.Result {
	var ps results.Params
	for i := 0; i+1 < len(params); i += 2 {
		ps = append(ps, results.Param{Key: params[i], Value: params[i+1]})
	}
	res := newResult("pcie", ps)
	res.Metrics = []results.Metric{m}
	return res
}

func assumedCase(m results.Metric, params ...string) results.Result {
	results.Summarize(&m, results.SummaryOptions{NoInterval: true})
	res := measured(m, params...)
	res.Assumed = []string{"link"}
	return res
}

// labelled are copies of reports that are called a, b and c.
func labelled(reports ...*results.Report) (all []*results.Report) {
	for i, r := range reports {
		named := *r
		named.Label = string(rune('a' + i))
		all = append(all, &named)
	}
	return all
}

// compared compares reports that are called a, b and c.
func compared(t testing.TB, reports ...*results.Report) *Comparison {
	t.Helper()
	c, err := Reports(labelled(reports...), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// compareTwo compares a single metric and returns how b stands to a.
func compareTwo(t *testing.T, a, b results.Metric) MetricSide {
	t.Helper()
	return compareReports(t, report(measured(a, "mem", "pinned")), report(measured(b, "mem", "pinned")))
}

// sampleReport is the report of package results' tests.
func sampleReport() *results.Report {
	r, err := results.ReadFile(filepath.Join("..", "testdata", "report.json"))
	if err != nil {
		panic(err)
	}
	return r
}

func newResult(suite string, p results.Params) results.Result {
	return results.Result{Suite: suite, Name: p.Name(suite), Params: p, Status: results.OK}
}

// BenchmarkCompare compares ten reports, of 300 cases with 3 metrics of 10 to 100 samples,
// and prints the table.
func BenchmarkCompare(b *testing.B) {
	var in []*results.Report
	for k := range 10 {
		r := report()
		for i := range 300 {
			m := quietMachine(uint64(1000*k+i), 0)
			m.n = 10 + i%91
			if i%3 == 0 {
				m.runs, m.n = 5, 10
			}
			res := newResult("pcie", results.Params{{Key: "device", Value: "cuda:0"}, {Key: "mem", Value: "pinned"},
				{Key: "bytes", Value: int64(i)}})
			for _, name := range []string{"time", "cpu", "submit"} {
				res.Metrics = append(res.Metrics, m.time(1))
				res.Metrics[len(res.Metrics)-1].Name = name
			}
			r.Results = append(r.Results, res)
		}
		in = append(in, r)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := compared(b, in...).Text(io.Discard, 120); err != nil {
			b.Fatal(err)
		}
	}
}
