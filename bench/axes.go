package bench

import (
	"fmt"
	"slices"
	"strings"

	"dlbench/results"
)

// params returns the parameters of a point in the order of axes, typed, with
// default values implied.
func Params(axes []Axis, point map[string]string) (results.Params, error) {
	var p results.Params
	for _, a := range axes {
		text, ok := point[a.Name]
		if !ok {
			continue
		}
		var v any = text
		if a.Parse != nil {
			var err error
			if v, err = a.Parse(text); err != nil {
				return nil, &UsageError{"-a", a.Name + "=" + text, err.Error()}
			}
		}
		p = append(p, results.Param{Key: a.Name, Value: v, Implied: a.Default != "" && text == a.Default})
	}
	return p, nil
}

// expand replaces, in curated points, the values of each axis that the user gave
// by all the values given, and drops points that then are the same.
func Expand(axes []Axis, points []map[string]string, given map[string][]string) []map[string]string {
	for _, a := range axes {
		values := given[a.Name]
		if len(values) == 0 {
			continue
		}
		var next []map[string]string
		seen := map[string]bool{}
		for _, p := range points {
			for _, v := range values {
				q := make(map[string]string, len(p)+1)
				for k, w := range p {
					q[k] = w
				}
				if _, has := p[a.Name]; has {
					q[a.Name] = v
				}
				if key := fmt.Sprint(q); !seen[key] { // maps print sorted by key
					seen[key] = true
					next = append(next, q)
				}
			}
		}
		points = next
	}
	return points
}

// CheckAxes tells whether the axes that the user gave exist in one of the suites
// and allow the values.
func CheckAxes(suites []Suite, given map[string][]string) error {
	for name, values := range given {
		found := false
		for _, s := range suites {
			for _, a := range s.Axes {
				if a.Name != name {
					continue
				}
				found = true
				if err := a.check(values); err != nil {
					return err
				}
			}
		}
		if !found {
			return &UsageError{"-a", name, "unknown axis: want " + strings.Join(axisNames(suites), ", ")}
		}
	}
	return nil
}

func (a Axis) check(values []string) error {
	if len(values) == 0 {
		return &UsageError{"-a", a.Name, "no value given"}
	}
	for _, v := range values {
		if a.Values != nil && !slices.Contains(a.Values, v) {
			return &UsageError{"-a", a.Name + "=" + v, "unknown value: want " + strings.Join(a.Values, ", ")}
		}
		if a.Parse != nil {
			if _, err := a.Parse(v); err != nil {
				return &UsageError{"-a", a.Name + "=" + v, err.Error()}
			}
		}
	}
	return nil
}

func axisNames(suites []Suite) []string {
	var names []string
	for _, s := range suites {
		for _, a := range s.Axes {
			if !slices.Contains(names, a.Name) {
				names = append(names, a.Name)
			}
		}
	}
	return names
}
