package compare

import (
	"fmt"
	"math"
	"slices"

	"dlbench/results"
)

// Verdicts of a Compared metric. Inconclusive is one of a Finding's, too.
const (
	Better      = "better"
	Worse       = "worse"
	Same        = "same"
	Differs     = "differs" // of a metric without a better direction
	NotCompared = "not compared"

	// Of simulated values, which no test could tell apart: better or worse by more
	// than MarginRuns.
	BetterAssumed  = "better, assumed"
	WorseAssumed   = "worse, assumed"
	SameAssumed    = "same, assumed"
	DiffersAssumed = "differs, assumed"
)

// Margins of verdicts, as shares of the base.
const (
	// MarginRuns is the effect that better and worse take at least.
	MarginRuns = 0.01
	// MarginOneRun is the same where both sides are single runs. What differs
	// from run to run they do not tell; on a quiet machine it is about 1 % of a
	// median, so that two medians differ by 3 % or more in one of thirty pairs.
	MarginOneRun = 0.03
	// MarginSame holds the whole interval of the ratio for "same".
	MarginSame = 0.02
)

// method is Comparison.Method.
const method = "ratio: interval by MOVER from both medians' 95 % intervals on the log scale, " +
	"over the medians of runs where there are several, else over samples by their autocorrelation; " +
	"better, worse: Mann-Whitney test at 0.01, interval without 1, effect above 1 %, " +
	"of single runs above 3 %, and nearly all samples apart unless runs are steady; same: interval within 2 %"

// Metric is a metric of a case on all sides.
type Metric struct {
	Name   string       `json:"name"`
	Unit   string       `json:"unit"`
	Better string       `json:"better,omitempty"` // Lower or Higher
	Sides  []MetricSide `json:"sides"`
}

// MetricSide is a metric in one report and how it stands to the base's. The base
// itself has an estimate only.
type MetricSide struct {
	*Estimate          // nil where the report has no such metric
	Ratio     *float64 `json:"ratio,omitempty"` // over the base; absent where a value is not above 0
	RatioLo   *float64 `json:"ratio_lo,omitempty"`
	RatioHi   *float64 `json:"ratio_hi,omitempty"`
	P         *float64 `json:"p,omitempty"`       // of the rank test; absent where it cannot be had
	Pairs     int      `json:"pairs,omitempty"`   // of reports, for the ratio and the test; 0 for another test
	Verdict   string   `json:"verdict,omitempty"` // absent for the base
	Reason    string   `json:"reason,omitempty"`
	from, to  float64  // the interval of the difference, as a share of the base
}

// compareCase compares a case of the base, first in sides, with the others'. paired are
// the pairs of reports of the base and each side, nil for none.
func compareCase(sides []*results.Result, reports []*results.Report, paired []*pairs) Case {
	base := sides[0]
	c := Case{Suite: base.Suite, Params: sharedParams(sides), Sides: make([]CaseSide, len(sides)), Metrics: []Metric{}}
	for i, res := range sides {
		if res == nil {
			continue
		}
		s := CaseSide{Name: res.Name, Status: res.Status, Reason: res.Reason, Assumed: res.Assumed}
		if base.Status == results.OK && res.Status == results.OK && !results.AssumedAlike(base, res) {
			s.Reason = NotCompared + ": " + base.Kind() + " against " + res.Kind()
		}
		c.Sides[i] = s
	}
	if base.Status != results.OK {
		return c
	}
	for i := range base.Metrics {
		m := &base.Metrics[i]
		if m.Missing() {
			continue
		}
		e := estimate(m, len(base.Assumed) > 0)
		cm := Metric{Name: m.Name, Unit: m.Unit, Better: m.Better, Sides: []MetricSide{{Estimate: &e}}}
		for k, res := range sides[1:] {
			var s MetricSide
			if res != nil && res.Status == results.OK {
				s = compareMetric(&e, base, res, [2]string{reports[0].Label, reports[k+1].Label}, paired[k+1])
			}
			cm.Sides = append(cm.Sides, s)
		}
		c.Metrics = append(c.Metrics, cm)
	}
	return c
}

// compareMetric compares what other has of a metric of base with e. labels are those of
// their reports.
func compareMetric(e *Estimate, base, other *results.Result, labels [2]string, p *pairs) (s MetricSide) {
	m, now := e.metric, other.Metric(e.metric.Name)
	if now == nil || now.Missing() {
		return MetricSide{Verdict: NotCompared, Reason: labels[1] + " has no " + m.Name}
	}
	f := estimate(now, len(other.Assumed) > 0)
	s.Estimate = &f
	switch {
	case !results.AssumedAlike(base, other):
		s.Verdict, s.Reason = NotCompared, base.Kind()+" against "+other.Kind()
	case m.Unit != now.Unit:
		s.Verdict, s.Reason = NotCompared, fmt.Sprintf("in %q against %q", m.Unit, now.Unit)
	case m.Better != now.Better:
		s.Verdict, s.Reason = NotCompared, fmt.Sprintf("the reports disagree on which way %s is better", m.Name)
	case len(base.Assumed) > 0:
		s.assumed(e, m.Better)
	case !s.comparePairs(e, m.Better, p):
		s.compare(e, m.Better, labels)
	}
	return s
}

// sharedParams are the parameters of the base that all other sides share, and its
// device where that tells cases apart.
func sharedParams(sides []*results.Result) results.Params {
	ps := results.Params{}
	for _, p := range sides[0].Params {
		differs := func(res *results.Result) bool {
			if res == nil {
				return false
			}
			q, ok := res.Params.Find(p.Key)
			return ok && q.Text() != p.Text()
		}
		if !slices.ContainsFunc(sides[1:], differs) {
			ps = append(ps, p)
		}
	}
	return ps
}

// compare sets the ratio and the verdict of measured values. labels are the base's
// and this side's.
func (s *MetricSide) compare(base *Estimate, better string, labels [2]string) {
	positive := base.positive() && s.positive()
	if positive {
		s.Ratio = results.Finite(s.Median / base.Median)
	}
	for i, e := range []*Estimate{base, s.Estimate} {
		if e.Lo == nil {
			s.Verdict, s.Reason = results.Inconclusive, labels[i]+" has "+e.few
			return
		}
	}
	scale := func(x float64) float64 { return x }
	if positive {
		scale = math.Log
	}
	a, loA, hiA := base.around(scale, s.Estimate)
	b, loB, hiB := s.around(scale, base)
	d, lo, hi := difference(a, loA, hiA, b, loB, hiB)
	share := func(x float64) float64 { // of the base
		switch {
		case positive:
			return math.Expm1(x)
		case x == 0:
			return 0
		}
		return x / math.Abs(a)
	}
	effect := share(d)
	if s.from, s.to = share(lo), share(hi); positive {
		s.RatioLo, s.RatioHi = results.Finite(1+s.from), results.Finite(1+s.to)
	}
	p, tested := rankTest(base, s.Estimate)
	if tested {
		s.P = &p
	}
	oneRun := base.Runs <= 1 && s.Runs <= 1
	margin := MarginRuns
	if oneRun {
		margin = MarginOneRun
	}
	found := tested && p < Alpha && (lo > 0 || hi < 0)
	trusted := base.steady() && s.steady() || tested && apart(base, s.Estimate)
	switch {
	case found && trusted && math.Abs(effect) > margin:
		s.Verdict = direction(effect, better)
		return
	case within(s.from, s.to):
		s.Verdict = Same
		return
	}
	s.Verdict = results.Inconclusive
	switch {
	case !tested:
		s.Reason = "too few samples to test"
	case found && math.Abs(effect) > MarginRuns && oneRun:
		s.Reason = "single runs may differ by as much"
	case found && math.Abs(effect) > MarginRuns && !trusted:
		s.Reason = "runs differ so much that the machine was busy with something else; runs made in turn can tell"
	}
}

// assumed sets the ratio and the verdict of simulated values.
func (s *MetricSide) assumed(base *Estimate, better string) {
	if !base.positive() || !s.positive() {
		s.Verdict, s.Reason = results.Inconclusive, "simulated, and not above 0"
		return
	}
	ratio := s.Median / base.Median
	s.Ratio = results.Finite(ratio)
	s.Verdict = SameAssumed
	if math.Abs(ratio-1) > MarginRuns {
		s.Verdict = direction(ratio-1, better) + ", assumed"
	}
}

// within tells whether a whole interval of effects is about none.
func within(lo, hi float64) bool { return lo <= hi && lo >= -MarginSame && hi <= MarginSame }

func direction(effect float64, better string) string {
	switch {
	case better != results.Lower && better != results.Higher:
		return Differs
	case (effect > 0) == (better == results.Higher):
		return Better
	}
	return Worse
}

// Regression is a metric that is certainly worse, or something that the base measured and
// another report did not.
type Regression struct {
	Label string // of the other report
	Text  string // one line, without the label
}

// Regressions returns what is worse by more than share (0.05 for 5 %) of the base:
// the verdict is Worse and the whole interval of the ratio lies beyond it. What
// the base measured and another report simulated, skipped, failed at, lacks or has in
// another unit is a regression, too.
func (c *Comparison) Regressions(share float64) (rs []Regression) {
	for _, u := range c.Unpaired {
		for _, name := range u.Lost {
			rs = append(rs, Regression{u.Label, name + " is missing"})
		}
	}
	for _, cc := range c.Cases {
		for k, side := range c.Sides[1:] {
			for _, text := range cc.regressions(k+1, share) {
				rs = append(rs, Regression{side.Label, text})
			}
		}
	}
	return rs
}

// regressions are those of the k-th side, if it has the case.
func (c *Case) regressions(k int, share float64) (texts []string) {
	base, side := c.Sides[0], c.Sides[k]
	switch {
	case base.Status != results.OK || len(base.Assumed) > 0 || side.Name == "":
		return nil
	case side.Status != results.OK:
		return []string{fmt.Sprintf("%s %s: %s", side.Name, side.Status, side.Reason)}
	case len(side.Assumed) > 0:
		return []string{side.Name + " is simulated"}
	}
	for _, m := range c.Metrics {
		what := m.Name + " of " + base.Name
		switch s := m.Sides[k]; {
		case s.Verdict == Worse && min(math.Abs(s.from), math.Abs(s.to)) > share:
			texts = append(texts, what+" is worse"+results.After(": ", ratioText(&s)))
		case s.Verdict == NotCompared && m.Better != "":
			texts = append(texts, what+" is not compared: "+s.Reason)
		}
	}
	return texts
}
