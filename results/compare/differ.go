package compare

import (
	"fmt"
	"slices"
	"strings"

	"dlbench/results"
)

const onlyCombinations = "no parameter has other values, only their combinations differ"

// differing says in which suites or parameters the unpaired cases of two reports
// differ: "A has bytes=19440000; B has bytes=9720000".
func differing(base, other Labelled, pairs map[*results.Result]*results.Result) string {
	for _, side := range []Labelled{base, other} {
		if len(base.Report.Results)+len(other.Report.Results) == 0 {
			return fmt.Sprintf("neither %s nor %s has any case", base.Label, other.Label)
		}
		if len(side.Report.Results) == 0 {
			return side.Label + " has no case"
		}
	}
	var mine, theirs []string
	suites, others := suitesOf(base.Report), suitesOf(other.Report)
	add := func(key string, a, b []string) {
		mine, theirs = appendSome(mine, key, without(a, b)), appendSome(theirs, key, without(b, a))
	}
	add("suite", suites, others)
	for _, suite := range suites {
		a, b := ofSuite(base.Report, suite), ofSuite(other.Report, suite)
		if len(b) == 0 {
			continue
		}
		paired := slices.ContainsFunc(a, func(res *results.Result) bool { return pairs[res] != nil })
		for _, key := range results.ParamKeys(slices.Concat(a, b)...) {
			x, y := valuesOf(a, key, "(absent)"), valuesOf(b, key, "(absent)")
			if key == deviceKey && paired && len(x) <= 1 && len(y) <= 1 {
				continue // it did not get in the way
			}
			add(key, x, y)
		}
	}
	switch {
	case len(mine)+len(theirs) == 0:
		return onlyCombinations
	case len(theirs) == 0:
		return fmt.Sprintf("%s alone has %s", base.Label, strings.Join(mine, ", "))
	case len(mine) == 0:
		return fmt.Sprintf("%s alone has %s", other.Label, strings.Join(theirs, ", "))
	}
	return base.Label + " has " + strings.Join(mine, ", ") + "; " + other.Label + " has " + strings.Join(theirs, ", ")
}

// shown is how many values or names stand in a sentence.
const shown = 4

// appendSome appends "key=value or value" unless it is there.
func appendSome(list []string, key string, values []string) []string {
	if len(values) == 0 {
		return list
	}
	text := key + "=" + strings.Join(values[:min(shown, len(values))], " or ")
	if more := len(values) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return results.AppendNew(list, text)
}

func without(list, not []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(not, s) })
}

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
	values := map[string][][]string{}
	var keys []string
	for _, row := range joined {
		for _, p := range row[0].Params {
			differs := func(res *results.Result) bool { return res != nil && res.Params.Text(p.Key) != p.Text() }
			if !slices.ContainsFunc(row[1:], differs) {
				continue
			}
			if keys = results.AppendNew(keys, p.Key); values[p.Key] == nil {
				values[p.Key] = make([][]string, sides)
			}
			for i, res := range row {
				if res != nil {
					values[p.Key][i] = results.AppendNew(values[p.Key][i], res.Params.Text(p.Key))
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
