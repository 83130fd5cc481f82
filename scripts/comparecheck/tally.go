package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"dlbench/results"
	"dlbench/results/compare"
)

// tally counts verdicts by metric of a case.
type tally map[string]map[string]int

func wanted(metrics string) func(name string) bool {
	names := strings.Split(metrics, ",")
	return func(name string) bool { return slices.Contains(names, name) }
}

// add compares b with a.
func (t tally) add(a, b *results.Report, want func(string) bool) error {
	c, err := compare.Reports([]compare.Labelled{{Label: "a", Report: a}, {Label: "b", Report: b}}, compare.Options{})
	if err != nil {
		return err
	}
	for _, k := range c.Cases {
		if len(k.Sides[0].Assumed) > 0 {
			continue
		}
		for _, m := range k.Metrics {
			s := m.Sides[1]
			if !want(m.Name) || s.Verdict == compare.NotCompared {
				continue
			}
			t.count(k.Sides[0].Name+" "+m.Name, s.Verdict)
		}
	}
	return nil
}

func (t tally) count(name, verdict string) {
	if t[name] == nil {
		t[name] = map[string]int{}
	}
	t[name][verdict]++
}

// verdicts is how many there are, of all metrics.
func (t tally) verdicts() (n int) {
	for _, verdicts := range t {
		for _, k := range verdicts {
			n += k
		}
	}
	return n
}

// share is that of a verdict among all.
func (t tally) share(verdict string) float64 {
	n := 0
	for _, verdicts := range t {
		n += verdicts[verdict]
	}
	return float64(n) / float64(max(1, t.verdicts()))
}

var columns = []string{compare.Better, compare.Worse, compare.Same, compare.Differs, results.Inconclusive}

func (t tally) table(w io.Writer, title string) {
	fmt.Fprintf(w, "\n%s:\n\n| case | %s |\n| --- |%s\n", title, strings.Join(columns, " | "),
		strings.Repeat(" --- |", len(columns)))
	for _, name := range slices.Sorted(maps.Keys(t)) {
		fmt.Fprintf(w, "| %s |", name)
		for _, v := range columns {
			fmt.Fprintf(w, " %d |", t[name][v])
		}
		fmt.Fprintln(w)
	}
}

// slow is a copy of r in which all that was measured took longer by a share.
func slow(r *results.Report, share float64) *results.Report {
	s := *r
	s.Results = slices.Clone(r.Results)
	for i := range s.Results {
		res := &s.Results[i]
		res.Metrics = slices.Clone(res.Metrics)
		for j := range res.Metrics {
			m := &res.Metrics[j]
			factor := 1 + share
			switch m.Better {
			case results.Higher:
				factor = 1 / factor
			case results.Lower:
			default:
				continue
			}
			m.Samples = slices.Clone(m.Samples)
			for k := range m.Samples {
				m.Samples[k].Value *= factor
			}
			results.Summarize(m, results.SummaryOptions{})
		}
	}
	return &s
}
