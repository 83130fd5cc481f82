package bench

import (
	"strings"
	"testing"

	"dlbench/results"
)

func TestResultsStandInTheOrderOfTheirCases(t *testing.T) {
	order := map[string]int{"a": 0, "b": 1, "c": 2, "d": 3}
	var rep results.Report
	for _, name := range []string{"c", "a", "d", "c", "b", "a"} {
		put(&rep, results.Result{Name: name, Reason: name + "!"}, order)
	}
	var got []string
	for _, r := range rep.Results {
		got = append(got, r.Name+r.Reason)
	}
	if s := strings.Join(got, " "); s != "aa! bb! cc! dd!" {
		t.Errorf("results %s", s)
	}
}
