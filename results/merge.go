package results

import (
	"cmp"
	"errors"
	"fmt"
	"math"
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
	if len(reports) == 0 {
		return nil, errors.New("no report to merge")
	}
	if len(reports) == 1 {
		return reports[0], nil
	}
	for i, r := range reports {
		if err := r.UniqueNames(); err != nil {
			return nil, err
		}
		for _, other := range reports[:i] {
			if err := mergeable(other, r); err != nil {
				return nil, err
			}
		}
	}
	merged := *reports[0]
	merged.Results, merged.Findings, merged.Predictions, merged.Verdict, merged.Warnings = nil, nil, nil, nil, nil
	merged.Merged, merged.Starts, merged.Config.Repeat = 0, nil, 0
	at := map[string]int{}
	for _, r := range reports {
		first := merged.Config.Repeat
		for i := range r.Results {
			res := &r.Results[i]
			k, ok := at[res.Name]
			if !ok {
				k = len(merged.Results)
				at[res.Name] = k
				empty := *res
				empty.Status, empty.Reason = "", ""
				empty.Metrics, empty.Fit, empty.Series, empty.Warnings = nil, Record{}, nil, nil
				merged.Results = append(merged.Results, empty)
			}
			if err := merged.Results[k].merge(res, first); err != nil {
				return nil, fmt.Errorf("%s: %w", res.Name, err)
			}
		}
		merged.addStarts(r, first)
		merged.Config.Repeat += runsOf(r)
		merged.Merged += max(1, r.Merged)
		if r.Status == Interrupted {
			merged.Status = Interrupted
		}
		if r.Started.Before(merged.Started) {
			merged.Started = r.Started
		}
		if r.Finished.After(merged.Finished) {
			merged.Finished = r.Finished
		}
		merged.Warnings = AppendNew(merged.Warnings, r.Warnings...)
	}
	for i := range merged.Results {
		for k := range merged.Results[i].Metrics {
			m := &merged.Results[i].Metrics[k]
			Summarize(m, SummaryOptions{NoInterval: strings.HasPrefix(m.Reason, ReasonAssumed)})
		}
	}
	return &merged, nil
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
				if s.Run < math.MaxInt32 {
					n = max(n, s.Run+1)
				}
			}
		}
	}
	return n
}

// merge adds what another report has of the case. Its runs are numbered from
// first.
func (r *Result) merge(from *Result, first int) error {
	if !AssumedAlike(r, from) {
		return fmt.Errorf("%s and %s are not merged", r.Kind(), from.Kind())
	}
	r.Warnings = AppendNew(r.Warnings, from.Warnings...)
	switch {
	case from.Status != OK:
		if r.Status == OK {
			r.Warnings = AppendNew(r.Warnings, from.Status+" in another run: "+from.Reason)
		} else if r.Status != Failed {
			r.Status, r.Reason = from.Status, from.Reason
		}
		return nil
	case r.Status != OK && r.Status != "":
		r.Warnings = AppendNew(r.Warnings, r.Status+" in another run: "+r.Reason)
		r.Proof, r.References = from.Proof, from.References // of a run that did not finish there may be none
	}
	r.Status, r.Reason = OK, ""
	if proven, known := from.Proven(); known && !proven {
		r.Proof = from.Proof // one unproven run makes the merged case unproven
	}
	for i := range from.Metrics {
		m := &from.Metrics[i]
		old := r.Metric(m.Name)
		if old == nil {
			r.Metrics = append(r.Metrics, Metric{Name: m.Name, Unit: m.Unit, Better: m.Better, Reason: m.Reason})
			old = &r.Metrics[len(r.Metrics)-1]
		}
		if old.Unit != m.Unit {
			return fmt.Errorf("%s is in %q and in %q", m.Name, old.Unit, m.Unit)
		}
		if old.Better != m.Better {
			return fmt.Errorf("the reports disagree on which way %s is better", m.Name)
		}
		for _, s := range m.Samples {
			s.Run += first
			old.Samples = append(old.Samples, s)
		}
		if len(m.Samples) == 0 && !m.Missing() { // derived from other metrics: one value a run
			old.Samples = append(old.Samples, Sample{Value: m.Median, N: 1, Run: first})
		}
		old.Dropped += m.Dropped
	}
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
