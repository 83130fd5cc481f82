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
func differing(base, other Labelled, pairs []int) string {
	switch a, b := len(base.Report.Results), len(other.Report.Results); {
	case a+b == 0:
		return fmt.Sprintf("neither %s nor %s has any case", base.Label, other.Label)
	case a == 0:
		return base.Label + " has no case"
	case b == 0:
		return other.Label + " has no case"
	}
	var mine, theirs []string
	suites := [2][]string{suitesOf(base.Report), suitesOf(other.Report)}
	if a, b := without(suites[0], suites[1]), without(suites[1], suites[0]); len(a)+len(b) > 0 {
		mine, theirs = appendSome(mine, "suite", a), appendSome(theirs, "suite", b)
	}
	for _, suite := range suites[0] {
		a, b := ofSuite(base.Report, suite), ofSuite(other.Report, suite)
		if len(b) == 0 {
			continue
		}
		paired := slices.ContainsFunc(a, func(res indexed) bool { return pairs[res.at] >= 0 })
		for _, key := range allKeys(a, b) {
			if key == deviceKey && paired && !severalValues(a, key) && !severalValues(b, key) {
				continue // it did not get in the way
			}
			x, y := valuesOf(a, key), valuesOf(b, key)
			mine, theirs = appendSome(mine, key, without(x, y)), appendSome(theirs, key, without(y, x))
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
	return fmt.Sprintf("%s has %s; %s has %s", base.Label, strings.Join(mine, ", "), other.Label, strings.Join(theirs, ", "))
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
	if slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

func suitesOf(r *results.Report) (suites []string) {
	for _, res := range r.Results {
		if !slices.Contains(suites, res.Suite) {
			suites = append(suites, res.Suite)
		}
	}
	return suites
}

// valuesOf returns the values of key, "(absent)" where a case has none in some cases.
func valuesOf(in []indexed, key string) (values []string) {
	for _, res := range in {
		v, ok := res.Params.Get(key)
		if !ok {
			v = "(absent)"
		}
		if !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	return values
}

func severalValues(in []indexed, key string) bool { return len(valuesOf(in, key)) > 1 }

func without(list, not []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(not, s) })
}
