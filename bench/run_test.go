package bench

import (
	"errors"
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

// A finding that could not be made gives the reasons of the cases that it needs, and of no
// others; one that was made gives its own.
func TestFindingsGiveTheReason(t *testing.T) {
	type p struct {
		Mem string `json:"mem"`
	}
	result := func(mem, status, reason string) results.Result {
		return results.Result{Suite: "s", Status: status, Reason: reason, Params: results.Params{{Key: "mem", Value: mem}}}
	}
	pinned := Needs(func(x p) bool { return x.Mem == "pinned" })
	for _, c := range []struct {
		name string
		rs   []results.Result
		text string
		want string
	}{
		{"nothing measured", nil, "", "no pinned copy"},
		{"measured", []results.Result{result("pinned", results.OK, "")}, "", "no pinned copy"},
		{"failed", []results.Result{result("pageable", results.Failed, "lost"),
			result("pinned", results.Failed, "refused")}, "", "no pinned copy: refused"},
		{"twice", []results.Result{result("pinned", results.Skipped, "refused"),
			result("pinned", results.Skipped, "refused")}, "", "no pinned copy: refused"},
		{"many", []results.Result{result("pinned", results.Skipped, "a"), result("pinned", results.Failed, "b"),
			result("pinned", results.Failed, "c")}, "", "no pinned copy: a; b; and 1 more"},
		{"found", []results.Result{result("pinned", results.Failed, "refused")}, "found", "found"},
	} {
		s := Suite{Name: "s", Claims: func(Env, []results.Result) []Claim {
			return []Claim{{Name: "A4", Missing: "no pinned copy", Needs: pinned, Found: results.Finding{Text: c.text}}}
		}}
		if got := s.Findings(Env{}, c.rs); len(got) != 1 || got[0].Text != c.want {
			t.Errorf("%s: %+v, want %q", c.name, got, c.want)
		}
	}
}

func TestNotice(t *testing.T) {
	for suites, want := range map[string]string{"pcie": "links are simulated (x)", "pcie disk": "links are simulated (x)",
		"pcie pipeline": "links and steps are simulated (x)"} {
		env := Env{Missing: errors.New("x")}
		for name := range strings.FieldsSeq(suites) {
			env.Suites = append(env.Suites, Suite{Name: name})
		}
		if got := env.notice(); got != "no GPU here: "+want {
			t.Errorf("%s: %s", suites, got)
		}
	}
}
