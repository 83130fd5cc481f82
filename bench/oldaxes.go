package bench

import (
	"fmt"

	"dlbench/results"
)

// OldAxis is an axis of a suite whose points are texts.
type OldAxis struct {
	Name    string
	Doc     string
	Values  []string // what is allowed; nil where Parse decides
	Default string   // stands in the parameters, not in the case's name; "" for none
	// Parse turns a value into the typed parameter; nil keeps the text.
	Parse func(string) (any, error)
}

// OldInfo is what a suite says of such axes.
func OldInfo(axes []OldAxis) (all []AxisInfo) {
	for _, a := range axes {
		info := AxisInfo{Name: a.Name, Doc: a.Doc, Values: a.Values}
		if a.Parse != nil {
			info.check = func(text string) error { _, err := a.Parse(text); return err }
		}
		all = append(all, info)
	}
	return all
}

// Params returns the parameters of a point in the order of axes, typed, with
// default values implied.
func Params(axes []OldAxis, point map[string]string) (results.Params, error) {
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

// Expand replaces, in curated points, the values of each axis that the user gave
// by all the values given, and drops points that then are the same.
func Expand(axes []OldAxis, points []map[string]string, given map[string][]string) []map[string]string {
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
