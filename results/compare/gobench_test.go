package compare

import (
	"bytes"
	"math"
	"testing"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"

	"dlbench/results"
	"dlbench/results/encode"
)

// TestCompareAgreesWithBenchstat holds that what benchstat makes of two reports in
// the Go benchmark format says the same as Compare: the medians' change and which
// way is better.
func TestCompareAgreesWithBenchstat(t *testing.T) {
	build := func(seed uint64, factor float64) *results.Report {
		m := quietMachine(seed, 0)
		r := report()
		for i, mem := range []string{"pinned", "pageable", "staged"} {
			f := 1 + (factor-1)*float64(i-1) // faster, the same, slower
			rate, through := m.time(9e9/f), m.time(400/f)
			rate.Name, rate.Unit, rate.Better = "bandwidth", results.BytesPerSecond, results.Higher
			through.Name, through.Unit, through.Better = "throughput", results.PerSecond, results.Higher
			res := measured(m.time(0.002*f), "mem", mem)
			res.Metrics = append(res.Metrics, rate, through)
			r.Results = append(r.Results, res)
		}
		return r
	}
	a, b := build(1, 1), build(2, 1.1)
	c, err := Reports([]Labelled{{"a", a}, {"b", b}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	values := func(r *results.Report) (map[string][]float64, func(string) int) {
		var b bytes.Buffer
		if err := encode.GoBench(&b, r, 1); err != nil {
			t.Fatal(err)
		}
		v := map[string][]float64{}
		rd := benchfmt.NewReader(&b, "report")
		for rd.Scan() {
			if rec, ok := rd.Result().(*benchfmt.Result); ok {
				for _, x := range rec.Values {
					key := rec.Name.String() + " " + x.Unit
					v[key] = append(v[key], x.Value)
				}
			}
		}
		units := rd.Units()
		return v, units.GetBetter
	}
	tidied := map[string]string{"time": "sec/op", "bandwidth": "B/s", "throughput": "throughput"}
	old, better := values(a)
	now, _ := values(b)
	seen := map[string]int{}
	for _, cc := range c.Cases {
		for _, m := range cc.Metrics {
			unit := tidied[m.Name]
			key := "Suite/" + cc.Sides[0].Name + " " + unit
			x := benchmath.NewSample(old[key], &benchmath.DefaultThresholds)
			y := benchmath.NewSample(now[key], &benchmath.DefaultThresholds)
			from, to := benchmath.AssumeNothing.Summary(x, 0.95), benchmath.AssumeNothing.Summary(y, 0.95)
			s := m.Sides[1]
			if math.Abs(to.Center/from.Center-*s.Ratio) > 1e-9 {
				t.Errorf("%s: ratio %g, benchstat's %g", key, *s.Ratio, to.Center/from.Center)
			}
			significant := benchmath.AssumeNothing.Compare(x, y).P < 0.05
			improved := (to.Center > from.Center) == (better(unit) > 0)
			told := s.Verdict == Better || s.Verdict == Worse
			if told && (!significant || improved != (s.Verdict == Better)) {
				t.Errorf("%s: %s, but for benchstat significant %v, improved %v", key, s.Verdict, significant, improved)
			}
			seen[s.Verdict]++
		}
	}
	if seen[Better] != 3 || seen[Worse] != 3 {
		t.Errorf("verdicts %v, want 3 better and 3 worse", seen)
	}
}
