package results

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Merge makes one report of several runs of one machine, as if they were repetitions
// of one run: cases are joined by name, samples are appended with their Run counted
// on, and summaries are made anew. The result shares samples with no report, but
// other parts with any of them. What follows from a single run, as findings, fits,
// series and quantiles, is left out; a metric that was derived from others and has no
// samples gets one a run. A single report is returned as it is.
//
// The error says in one line what keeps the reports apart: another machine,
// another software or another configuration, a metric's unit, or that one assumed
// what the other measured.
func Merge(reports ...*Report) (*Report, error) {
	if len(reports) == 1 {
		return reports[0], nil
	}
	merged := *reports[0]
	merged.Results, merged.Findings, merged.Predictions, merged.Verdict, merged.Warnings = nil, nil, nil, nil, nil
	merged.Merged, merged.Starts, merged.Config.Repeat = 0, nil, 0
	var cases []numbered
	for i, r := range reports {
		if err := r.UniqueNames(); err != nil {
			return nil, err
		}
		for _, other := range reports[:i] {
			if err := mergeable(other, r); err != nil {
				return nil, err
			}
		}
		first := merged.Config.Repeat
		for k := range r.Results {
			cases = append(cases, numbered{&r.Results[k], first})
		}
		merged.addStarts(r, first)
		merged.Config.Repeat += runsOf(r)
		merged.Merged += max(1, r.Merged)
		if r.Status == Interrupted {
			merged.Status = Interrupted
		}
		merged.Warnings = AppendNew(merged.Warnings, r.Warnings...)
	}
	merged.Started = slices.MinFunc(reports, func(a, b *Report) int { return a.Started.Compare(b.Started) }).Started
	merged.Finished = slices.MaxFunc(reports, func(a, b *Report) int { return a.Finished.Compare(b.Finished) }).Finished
	for _, of := range Grouped(cases, func(c numbered) string { return c.Name }) {
		res, err := join(of)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", res.Name, err)
		}
		merged.Results = append(merged.Results, res)
	}
	return &merged, nil
}

// numbered is a case of a report whose runs are numbered from first.
type numbered struct {
	*Result
	first int
}

// mergeable checks that a and b are different runs of the same.
func mergeable(a, b *Report) error {
	other := b.Facts()
	for i, f := range a.Facts() {
		if f.Text != other[i].Text {
			return fmt.Errorf("not runs of one machine: %s is %s and %s",
				f.What, cmp.Or(f.Text, Unknown), cmp.Or(other[i].Text, Unknown))
		}
	}
	if len(a.Results) > 0 && reflect.DeepEqual(a.Results, b.Results) {
		return errors.New("the same run twice")
	}
	return nil
}

// addStarts adds when from began, whose runs are numbered from first.
func (r *Report) addStarts(from *Report, first int) {
	starts := from.Starts
	if from.Merged == 0 {
		starts = []Start{{0, from.Started}}
	}
	for _, s := range starts {
		r.Starts = append(r.Starts, Start{first + s.Run, s.At})
	}
}

// runsOf is the number of run numbers that the samples of r take up.
func runsOf(r *Report) int {
	n := 1
	for _, res := range r.Results {
		for _, m := range res.Metrics {
			for _, s := range m.Samples {
				n = max(n, s.Run+1)
			}
		}
	}
	return n
}

// join makes one case of those of several reports. It is that of the first that finished, or else
// failed, with the samples of all that finished.
func join(cases []numbered) (Result, error) {
	byStatus := func(a, b numbered) int {
		order := []string{OK, Failed, Skipped}
		return Rank(order, a.Status) - Rank(order, b.Status)
	}
	joined := *slices.MinFunc(cases, byStatus).Result
	joined.Metrics, joined.Fit, joined.Series, joined.Warnings = nil, Record{}, nil, nil
	for _, c := range cases {
		if !AssumedAlike(cases[0].Result, c.Result) {
			return joined, fmt.Errorf("%s and %s are not merged", cases[0].Kind(), c.Kind())
		}
		joined.Warnings = AppendNew(joined.Warnings, c.Warnings...)
		if c.Status != OK {
			if joined.Status == OK {
				joined.Warnings = AppendNew(joined.Warnings, c.Status+" in another run: "+c.Reason)
			}
			continue
		}
		if proven, known := c.Proven(); known && !proven {
			joined.Proof = c.Proof // one unproven run makes the merged case unproven
		}
		for i := range c.Metrics {
			if err := joined.addSamples(&c.Metrics[i], c.first); err != nil {
				return joined, err
			}
		}
	}
	for i := range joined.Metrics {
		m := &joined.Metrics[i]
		Summarize(m, SummaryOptions{NoInterval: strings.HasPrefix(m.Reason, ReasonAssumed)})
	}
	return joined, nil
}

// addSamples adds those of a metric of another report, whose runs are numbered from first.
func (r *Result) addSamples(of *Metric, first int) error {
	m := r.Metric(of.Name)
	if m == nil {
		r.Metrics = append(r.Metrics, Metric{Name: of.Name, Unit: of.Unit, Better: of.Better, Reason: of.Reason})
		m = &r.Metrics[len(r.Metrics)-1]
	}
	if m.Unit != of.Unit || m.Better != of.Better {
		return fmt.Errorf("the reports disagree on the unit of %s, or on which way it is better", of.Name)
	}
	for _, s := range of.Samples {
		s.Run += first
		m.Samples = append(m.Samples, s)
	}
	if len(of.Samples) == 0 && !of.Missing() { // derived from other metrics: one value a run
		m.Samples = append(m.Samples, Sample{Value: of.Median, N: 1, Run: first})
	}
	m.Dropped += of.Dropped
	return nil
}

// AppendNew appends what list does not have.
func AppendNew[T comparable](list []T, more ...T) []T {
	for _, x := range more {
		if !slices.Contains(list, x) {
			list = append(list, x)
		}
	}
	return list
}

// Without is list without what is in not.
func Without[T comparable](list []T, not ...T) []T {
	return slices.DeleteFunc(slices.Clone(list), func(x T) bool { return slices.Contains(not, x) })
}

// Common is what all lists have.
func Common[T comparable](lists [][]T) []T {
	return slices.DeleteFunc(slices.Clone(lists[0]), func(x T) bool {
		return slices.ContainsFunc(lists, func(list []T) bool { return !slices.Contains(list, x) })
	})
}

// Grouped are the items of list that have one key together, in the order of the first ones.
func Grouped[T any, K comparable](list []T, key func(T) K) (groups [][]T) {
	at := map[K]int{}
	for _, x := range list {
		i, ok := at[key(x)]
		if !ok {
			i = len(groups)
			at[key(x)] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], x)
	}
	return groups
}
