package results

import (
	"math"
	"math/rand/v2"
	"testing"
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
func (m machine) time(center float64) Metric {
	t := Metric{Name: "time", Unit: Seconds, Better: Lower}
	for run := range max(1, m.runs) {
		level := center * math.Exp(m.across*m.r.NormFloat64())
		x := m.r.NormFloat64()
		for i := range m.n {
			t.Add(Sample{Value: level * math.Exp(m.within*x), N: 1, T: float64(i), Run: run})
			x = m.phi*x + math.Sqrt(1-m.phi*m.phi)*m.r.NormFloat64()
		}
	}
	Summarize(&t, SummaryOptions{})
	return t
}

func quietMachine(seed uint64, runs int) machine {
	return machine{r: rand.New(rand.NewPCG(seed, 7)), runs: runs, n: 20, within: 0.004, across: 0.004}
}

// report wraps results with what Compare wants of a report.
func report(rs ...Result) *Report {
	return &Report{SchemaVersion: SchemaVersion, Status: Complete, Tool: Tool{Name: "dlbench", Version: "v1"}, Results: rs}
}

// measured is a case of the suite pcie with one metric.
func measured(m Metric, params ...string) Result {
	var ps Params
	for i := 0; i+1 < len(params); i += 2 {
		ps = append(ps, Param{Key: params[i], Value: params[i+1]})
	}
	res := newResult("pcie", ps)
	res.Metrics = []Metric{m}
	return res
}

func assumedCase(m Metric, params ...string) Result {
	Summarize(&m, SummaryOptions{NoInterval: true})
	res := measured(m, params...)
	res.Assumed = []string{"link"}
	return res
}

// compareTwo compares a single metric and returns how b stands to a.
func compareTwo(t *testing.T, a, b Metric) MetricSide {
	t.Helper()
	c, err := Compare([]Labelled{{"a", report(measured(a, "mem", "pinned"))}, {"b", report(measured(b, "mem", "pinned"))}}, CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return c.Cases[0].Metrics[0].Sides[1]
}
