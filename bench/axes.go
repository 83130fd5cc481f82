package bench

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"dlbench/results"
)

// Axis is a parameter of the cases of a suite, which -a may set. P is the struct of all
// parameters of a case, and a JSON name of one of its fields the axis's name.
type Axis[P any] struct {
	Name    string
	Doc     string
	Values  []string // what is allowed; nil where Set decides
	Default string   // is in the parameters, not in the case's name; "" for none
	Set     func(p *P, text string) error
}

// Axes are those of a suite, in their order in names.
type Axes[P comparable] []Axis[P]

// Text sets a field that is a text.
func Text[P any](field func(*P) *string) func(*P, string) error {
	return func(p *P, text string) error {
		*field(p) = text
		return nil
	}
}

// Count sets a field that is a number of what, from least to most.
func Count[P any](field func(*P) *int, what string, least, most int) func(*P, string) error {
	return func(p *P, text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < least || n > most {
			return fmt.Errorf("want a number of %s from %d to %d", what, least, most)
		}
		*field(p) = n
		return nil
	}
}

// StepTime sets a field that is the time of a step.
func StepTime[P any](field func(*P) *results.Duration) func(*P, string) error {
	return func(p *P, text string) error {
		d, err := time.ParseDuration(text)
		if err != nil || d < 0 || d > MostStep {
			return fmt.Errorf("want a time from 0s to %v, such as 216ms", MostStep)
		}
		*field(p) = results.Duration(d)
		return nil
	}
}

// AxisInfo is an axis as others see it.
type AxisInfo struct {
	Name   string   `json:"name"`
	Doc    string   `json:"doc"`
	Values []string `json:"values,omitempty"` // what is allowed; nil where it is checked otherwise
	check  func(text string) error
}

// Info is what a suite says of its axes.
func (a Axes[P]) Info() (all []AxisInfo) {
	for _, x := range a {
		all = append(all, AxisInfo{x.Name, x.Doc, x.Values, func(text string) error { return x.Set(new(P), text) }})
	}
	return all
}

// Expand replaces, in curated points, the values of each axis that the user gave by all
// the values given, and drops points that then are the same. It leaves the axes fixed alone.
func (a Axes[P]) Expand(points []P, given map[string][]string, fixed ...string) ([]P, error) {
	for _, x := range a {
		if len(given[x.Name]) == 0 || slices.Contains(fixed, x.Name) {
			continue
		}
		var next []P
		for _, p := range points {
			for _, text := range given[x.Name] {
				q := p
				if err := x.Set(&q, text); err != nil {
					return nil, &UsageError{"-a", x.Name + "=" + text, err.Error()}
				}
				if !slices.Contains(next, q) {
					next = append(next, q)
				}
			}
		}
		points = next
	}
	return points, nil
}

// Variants returns a function that adds to points one that differs from base.
func Variants[P any](points *[]P, base *P) (add func(change func(*P))) {
	return func(change func(*P)) {
		p := *base
		change(&p)
		*points = append(*points, p)
	}
}

// Params are the parameters of a point. Left out of names are those with the default of
// their axis, or with that of defaults, which comes first, and those without an axis.
func (a Axes[P]) Params(p P, defaults map[string]string) (results.Params, error) {
	return results.ParamsOf(p, func(key, text string) bool {
		i := slices.IndexFunc(a, func(x Axis[P]) bool { return x.Name == key })
		if i < 0 {
			return true
		}
		usual := a[i].Default
		if d, ok := defaults[key]; ok {
			usual = d
		}
		return usual != "" && text == usual
	})
}

// CasesOf makes a case of each point, of those that are the same only one.
func CasesOf[P comparable](points []P, caseOf func(P) (Case, error)) (cases []Case, err error) {
	for i, p := range points {
		if slices.Contains(points[:i], p) {
			continue
		}
		c, err := caseOf(p)
		if err != nil {
			return nil, err
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// CheckAxes says whether the axes that the user gave exist in one of the suites
// and allow the values.
func CheckAxes(suites []Suite, given map[string][]string) error {
	var names []string
	for _, s := range suites {
		for _, a := range s.Axes {
			names = results.AppendNew(names, a.Name)
			if values, ok := given[a.Name]; ok {
				if err := a.checkAll(values); err != nil {
					return err
				}
			}
		}
	}
	for name := range given {
		if !slices.Contains(names, name) {
			return &UsageError{"-a", name, "unknown axis: " + Want(name, names)}
		}
	}
	return nil
}

func (a AxisInfo) checkAll(values []string) error {
	if len(values) == 0 {
		return &UsageError{"-a", a.Name, "no value given"}
	}
	for _, v := range values {
		if a.Values != nil && !slices.Contains(a.Values, v) {
			return &UsageError{"-a", a.Name + "=" + v, "unknown value: " + Want(v, a.Values)}
		}
		if err := a.check(v); err != nil {
			return &UsageError{"-a", a.Name + "=" + v, err.Error()}
		}
	}
	return nil
}
