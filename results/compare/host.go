package compare

import (
	"slices"
	"strings"

	"dlbench/results"
)

// differences lists the facts in which reports differ, and the parameters in which
// cases do that were joined all the same.
func differences(reports []Labelled, joined [][]*results.Result) []Difference {
	ds := []Difference{}
	all := make([][]results.Fact, len(reports))
	for i, r := range reports {
		all[i] = r.Report.Facts()
	}
	for k, f := range all[0] {
		values := make([]string, len(all))
		for i := range all {
			values[i] = all[i][k].Text
		}
		if len(slices.Compact(slices.Clone(values))) > 1 {
			ds = append(ds, Difference{What: f.What, Values: values})
		}
	}
	return append(ds, differentParams(joined, len(reports))...)
}

func differentParams(joined [][]*results.Result, sides int) (ds []Difference) {
	type set = []string
	values := map[string][]set{}
	var keys []string
	for _, row := range joined {
		for _, p := range row[0].Params {
			differs := slices.ContainsFunc(row[1:], func(res *results.Result) bool { return res != nil && res.Params.Text(p.Key) != p.Text() })
			if !differs {
				continue
			}
			if values[p.Key] == nil {
				keys = append(keys, p.Key)
				values[p.Key] = make([]set, sides)
			}
			for i, res := range row {
				if res == nil {
					continue
				}
				if v := res.Params.Text(p.Key); !slices.Contains(values[p.Key][i], v) {
					values[p.Key][i] = append(values[p.Key][i], v)
				}
			}
		}
	}
	for _, key := range keys {
		d := Difference{What: "parameter " + key}
		for _, v := range values[key] {
			d.Values = append(d.Values, strings.Join(v, " or "))
		}
		ds = append(ds, d)
	}
	return ds
}
