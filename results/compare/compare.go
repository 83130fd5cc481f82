// Package compare compares reports with each other: it joins their cases, gives the
// ratio of each metric with its interval and a verdict, and says what got worse.
package compare

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dlbench/results"
)

// Version is the version of the JSON form of a Comparison. Adding a
// field does not raise it.
const Version = 1

// Errors of Reports that a caller may want to tell apart.
var (
	ErrNothingCommon = errors.New("no case in common")
	ErrBy            = errors.New("cannot tell the cases apart")
	ErrBase          = errors.New("no such base")
)

// Options say what Reports compares with what. The zero value is the default.
type Options struct {
	// By are the parameters that cases must share to be compared. By default
	// these are all but the device, and but the disk where each report has one;
	// whatever they are, the device counts too in a suite that a report ran on
	// several devices. A suite that has none of the parameters is compared as by
	// default.
	By []string
	// Base is the label of the report that the others are compared with; "" for
	// the first.
	Base string
}

// Comparison is reports compared with one of them, the base. Its JSON form is what
// dlbench compare --format json prints; values are in base units.
type Comparison struct {
	Version     int          `json:"comparison_version"`
	Sides       []Side       `json:"sides"`       // the base first; other lists with an element a side have this order
	Cases       []Case       `json:"cases"`       // those that the base and another side have, in the base's order
	Unpaired    []Unpaired   `json:"unpaired"`    // the other cases
	Differences []Difference `json:"differences"` // between the machines, the software and what was asked for
	Method      string       `json:"method"`      // how verdicts are reached
	Notes       []string     `json:"notes"`       // what a reader must know to trust the verdicts
	Setting     *Setting     `json:"setting,omitempty"`
	Answer      string       `json:"-"` // how the case came out that tells most, in a sentence
}

// Side is one of the reports.
type Side struct {
	Label   string `json:"label"`
	Version string `json:"version"` // of dlbench
	Status  string `json:"status"`  // Complete or Interrupted
	Cases   int    `json:"cases"`
	Runs    int    `json:"runs"` // the most runs that a metric has
}

// Case is a case of the base and what the other sides have of it.
type Case struct {
	Suite   string         `json:"suite"`
	Params  results.Params `json:"params"` // those that all sides share, and those that tell the cases apart
	Sides   []CaseSide     `json:"sides"`
	Metrics []Metric       `json:"metrics"` // of the base, in its order
}

// CaseSide is a case in one report.
type CaseSide struct {
	Name    string   `json:"name,omitempty"` // "" where the report has no such case
	Status  string   `json:"status,omitempty"`
	Reason  string   `json:"reason,omitempty"` // why not OK, or why not compared
	Assumed []string `json:"assumed,omitempty"`
}

// Unpaired are cases that have no counterpart.
type Unpaired struct {
	Label  string   `json:"label"`            // of the other side
	Base   []string `json:"base"`             // names of cases that only the base has
	Lost   []string `json:"lost"`             // those of them that the base measured
	Other  []string `json:"other"`            // names of cases that only the other side has
	Reason string   `json:"reason,omitempty"` // in which parameters the sides differ
}

// Difference is something that may explain why figures differ.
type Difference struct {
	What   string   `json:"what"`
	Values []string `json:"values"` // of each side; "" for unknown
}

// Reports compares two reports or more, each with a label of its own, with a base. Cases are joined
// by suite and parameters, metrics by name; cmd/dlbench/help/compare.md and the constants of this package
// tell how verdicts are reached. The error is an ErrNothingCommon, an ErrBy, an ErrBase,
// or says what is wrong with a report.
func Reports(reports []*results.Report, o Options) (*Comparison, error) {
	reports, err := ordered(reports, o.Base)
	if err != nil {
		return nil, err
	}
	if err := checkBy(reports, o.By); err != nil {
		return nil, err
	}
	base, setting := reports[0], settingOf(reports)
	c := &Comparison{Version: Version, Cases: []Case{}, Unpaired: []Unpaired{}, Method: method}
	rows := make([][]*results.Result, len(base.Results)) // of each case of the base, what each side has
	for i := range rows {
		rows[i] = []*results.Result{&base.Results[i]}
	}
	c.Sides = append(c.Sides, side(base))
	paired := []*pairs{nil} // of each side
	var why []string
	for _, other := range reports[1:] {
		matches, err := pair(base, other, o.By, setting)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			rows[i] = append(rows[i], matches[rows[i][0]])
		}
		if len(matches) == 0 {
			const combinations = "no parameter has other values, only their combinations differ"
			why = append(why, cmp.Or(differing(base, other, matches), combinations))
		}
		if u := unpaired(base, other, matches); len(u.Base)+len(u.Other) > 0 {
			c.Unpaired = append(c.Unpaired, u)
		}
		c.Sides = append(c.Sides, side(other))
		paired = append(paired, pairsOf(base, other))
	}
	if len(why) == len(reports)-1 {
		return nil, fmt.Errorf("%w: %s", ErrNothingCommon, strings.Join(slices.Compact(why), "; "))
	}
	if slices.ContainsFunc(paired, func(p *pairs) bool { return p != nil }) {
		c.Method += methodPairs
	}
	for _, sides := range rows {
		if slices.ContainsFunc(sides[1:], func(r *results.Result) bool { return r != nil }) {
			c.Cases = append(c.Cases, compareCase(sides, reports, paired))
		}
	}
	c.Differences = append(differentFacts(reports), differentParams(rows, len(reports))...)
	c.Notes = c.notes()
	c.conclude(setting)
	return c, nil
}

// unpaired lists the cases that only one of two reports has.
func unpaired(base, other *results.Report, pairs map[*results.Result]*results.Result) Unpaired {
	u := Unpaired{Label: other.Label, Base: []string{}, Lost: []string{}, Other: []string{}}
	for i := range base.Results {
		res := &base.Results[i]
		if pairs[res] != nil {
			continue
		}
		u.Base = append(u.Base, res.Name)
		if res.Status == results.OK && len(res.Assumed) == 0 {
			u.Lost = append(u.Lost, res.Name)
		}
	}
	taken := slices.Collect(maps.Values(pairs))
	for i := range other.Results {
		if res := &other.Results[i]; !slices.Contains(taken, res) {
			u.Other = append(u.Other, res.Name)
		}
	}
	if len(u.Base)+len(u.Other) > 0 {
		u.Reason = differing(base, other, pairs)
	}
	return u
}

// ordered checks the reports and returns them with the base first.
func ordered(reports []*results.Report, base string) ([]*results.Report, error) {
	var labels []string
	for _, r := range reports {
		labels = append(labels, r.Label)
		if err := r.UniqueNames(); err != nil {
			return nil, fmt.Errorf("%s: %w", r.Label, err)
		}
	}
	at := max(0, slices.Index(labels, base))
	if base != "" && labels[at] != base {
		return nil, fmt.Errorf("%w: want %s", ErrBase, strings.Join(labels, ", "))
	}
	return slices.Concat(reports[at:at+1], reports[:at], reports[at+1:]), nil
}

func side(r *results.Report) Side {
	s := Side{Label: r.Label, Version: r.Tool.Version, Status: r.Status, Cases: len(r.Results), Runs: 1}
	for _, res := range r.Results {
		for _, m := range res.Metrics {
			s.Runs = max(s.Runs, len(results.RunMedians(m.Samples)))
		}
	}
	return s
}
