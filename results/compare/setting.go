package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"dlbench/results"
)

// Setting is the one parameter in which reports of one machine differ: cases are joined
// over it.
type Setting struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`         // of each side
	Suite  string   `json:"suite"`          // of the case that tells most of it
	Case   string   `json:"case,omitempty"` // the base's name of it
	Metric string   `json:"metric,omitempty"`
	Text   string   `json:"text"` // decoder go instead of turbo: 599 -> 133 images/s (x0.22), worse (suite preprocess)

	hidden map[place][]string // values that do not keep cases apart
}

// place is a parameter of a suite.
type place struct{ suite, key string }

// machineFacts are those in which reports of one machine agree; others are settings.
var machineFacts = []string{"CPU", "memory", "GPUs", "system", "distribution", "virtualization", "container"}

// derived is a parameter that follows from a setting; so does, from the batch, how many images
// are made where data is synthetic.
var derived = map[string]string{"batch": "bytes", "shape": "bytes", "dtype": "bytes", "step-cpu": "workers"}

// settingOf finds the setting of reports; nil where they are of several machines, or differ
// in nothing, or in more than one parameter.
func settingOf(reports []*results.Report) *Setting {
	s := &Setting{hidden: map[place][]string{}}
	values := map[string][]string{}
	for _, d := range differentFacts(reports) {
		for _, text := range d.Values {
			values[d.What] = append(values[d.What], cmp.Or(text, results.Unknown))
		}
	}
	if slices.ContainsFunc(machineFacts, func(what string) bool { return values[what] != nil }) {
		return nil
	}
	for _, suite := range suitesOf(reports[0]) {
		if !s.addSuite(reports, suite, values) {
			return nil
		}
	}
	given := func(r *results.Report) bool { return r.Dataset == nil || r.Dataset.Seed == 0 }
	if values["batch"] != nil && !slices.ContainsFunc(reports, given) {
		delete(values, "data")
	}
	for of, key := range derived {
		if values[of] != nil {
			delete(values, key)
		}
	}
	if len(values) != 1 {
		return nil
	}
	for s.Name, s.Values = range values {
	}
	return s
}

// addSuite adds the parameters in which the cases of a suite differ: those of which each
// report has one value that not all have. It is false where one has more, so that nobody
// can say which of them belong together.
func (s *Setting) addSuite(reports []*results.Report, suite string, values map[string][]string) bool {
	var sides [][]*results.Result
	for _, r := range reports {
		if in := ofSuite(r, suite); len(in) > 0 {
			sides = append(sides, in)
		}
	}
	if len(sides) < len(reports) { // it is compared where it is
		return true
	}
	for _, key := range results.ParamKeys(slices.Concat(sides...)...) {
		own := make([][]string, len(sides))
		for k, in := range sides {
			own[k] = valuesOf(in, key, "")
		}
		if slices.ContainsFunc(own, func(v []string) bool { return len(v) == 0 }) { // a later version's
			continue
		}
		common := results.Common(own)
		for k := range own {
			own[k] = results.Without(own[k], common...)
		}
		all := slices.Concat(own...)
		switch {
		case len(all) == 0:
			continue
		case slices.ContainsFunc(own, func(v []string) bool { return len(v) != 1 }):
			return false
		}
		s.hidden[place{suite, key}] = all
		if values[key] == nil || key == "decoder" { // the parameter's value is shorter than the library's name
			values[key] = all
		}
	}
	return true
}

// hides tells whether a parameter's value keeps no cases of a suite apart.
func (s *Setting) hides(suite, key, value string) bool {
	return s != nil && slices.Contains(s.hidden[place{suite, key}], value)
}

// longestValue is how much of a value stands in a sentence.
const longestValue = 40

// conclude sets the answer, and the setting where there is one, by the case that tells most.
func (c *Comparison) conclude(s *Setting) {
	c.Answer = "cannot tell: no case was measured on all sides"
	var most []float64
	for i := range c.Cases {
		cc := &c.Cases[i]
		m := cc.telling()
		if m == nil || slices.Compare(cc.tells(m, s), most) <= 0 {
			continue
		}
		most, c.Answer = cc.tells(m, s), c.plainly(cc, m)
		if s != nil {
			s.Suite, s.Case, s.Metric, s.Text = cc.Suite, cc.Sides[0].Name, m.Name, s.sentence(cc.Suite, m)
			c.Setting, c.Answer = s, s.Text
		}
	}
}

// plainly says how a metric of a case came out on each other side: "cannot tell: mine 150 -> 150 images/s (-20 to
// +13 %); repeat with --repeat 5".
func (c *Comparison) plainly(cc *Case, m *Metric) string {
	what := cmp.Or(cc.Params.Text("loader"), cc.Suite)
	if m.Name != "throughput" {
		what += " " + m.Name
	}
	var all []string
	for k, side := range m.Sides[1:] {
		verdict, advice := inWords(side.Verdict), ""
		switch {
		case len(cc.Sides[0].Assumed) > 0:
			advice = "; " + noteSimulated
		case verdict == results.Inconclusive:
			verdict, advice = "cannot tell", fmt.Sprintf("; repeat with --repeat %d", max(5, 2*side.Runs))
		}
		if len(m.Sides) > 2 {
			verdict = c.Sides[k+1].Label + ": " + verdict
		}
		values := strings.Join(m.texts(m.Sides[0], side), " -> ")
		all = append(all, verdict+": "+what+" "+values+side.percent()+results.After(": ", side.Reason)+advice)
	}
	return results.Plain(strings.Join(all, "; "))
}

// percent is " (-20 to +13 %)", the interval of the difference, "" where there is none.
func (s *MetricSide) percent() string {
	digits := 0
	if max(math.Abs(s.from), math.Abs(s.to)) < 0.1 {
		digits = 1
	}
	if s.RatioLo == nil {
		return ""
	}
	return fmt.Sprintf(" (%+.*f to %+.*f %%)", digits, 100*s.from, digits, 100*s.to)
}

// sentence says what the setting did to a metric of a suite.
func (s *Setting) sentence(suite string, m *Metric) string {
	var others, factors, verdicts []string
	for k, side := range m.Sides[1:] {
		others = append(others, results.Clip(s.Values[k+1], longestValue))
		factors = append(factors, factor(side.Median/m.Sides[0].Median))
		verdicts = append(verdicts, inWords(side.Verdict))
	}
	medians := m.texts(m.Sides...)
	return results.Plain(fmt.Sprintf("%s %s instead of %s: %s -> %s (%s), %s (suite %s)", s.Name,
		strings.Join(others, ", "), results.Clip(s.Values[0], longestValue), medians[0], strings.Join(medians[1:], ", "),
		strings.Join(factors, ", "), strings.Join(slices.Compact(verdicts), ", "), suite))
}

// texts are the medians of sides. A unit that follows is said once.
func (m *Metric) texts(sides ...MetricSide) (medians []string) {
	for _, side := range sides {
		medians = append(medians, m.text(side.Median))
	}
	last := len(medians) - 1
	for k := range last {
		_, unit, _ := strings.Cut(medians[last], " ")
		medians[k] = strings.TrimSuffix(medians[k], " "+unit)
	}
	return medians
}

// text is a value of m, a rate to the whole image.
func (m *Metric) text(x float64) string {
	like := results.Metric{Name: m.Name, Unit: m.Unit}
	if unit := like.DisplayUnit(); unit != "images/s" || !(x >= 100) {
		return results.FormatValue(x, unit)
	}
	return fmt.Sprintf("%.0f images/s", x)
}

// factor is "x0.22".
func factor(x float64) string {
	if x < 0.1 {
		return fmt.Sprintf("x%.2g", x)
	}
	return fmt.Sprintf("x%.2f", x)
}

// telling is the metric of a case that says how it came out: its images/s, else its first one;
// nil where a side has none.
func (c *Case) telling() *Metric {
	if len(c.Metrics) == 0 {
		return nil
	}
	m := &c.Metrics[max(0, slices.IndexFunc(c.Metrics, func(m Metric) bool { return m.Name == "throughput" }))]
	missing := func(side MetricSide) bool { return side.Estimate == nil }
	if slices.ContainsFunc(m.Sides, missing) || !(m.Sides[0].Median > 0) {
		return nil
	}
	return m
}

// suiteOrder is that of how much suites tell of a loader.
var suiteOrder = []string{"pipeline", "external", "preprocess", "disk", "pcie"}

// tells is how much a case says of what changed, the first number that differs decides: that a setting
// was set in, that is of the user's loader, that is of a whole loader and measured if there is no setting, that is
// of a whole loader at top speed, that is fastest.
func (c *Case) tells(m *Metric, s *Setting) []float64 {
	set, own, measured, partial, rate := 0.0, 0.0, 0.0, 0.0, 0.0
	if slices.ContainsFunc(c.Sides, func(side CaseSide) bool { return side.Name != c.Sides[0].Name }) {
		set = 1
	}
	if c.Suite == "external" && c.Params.Text("loader") != results.OwnLoader {
		own = 1
	}
	for key, usual := range map[string]string{"free": results.FreeNothing, "step": "0s", "strategy": results.Online} {
		if p, ok := c.Params.Find(key); ok && p.Text() != usual {
			partial++
		}
	}
	if s == nil && partial == 0 && len(c.Sides[0].Assumed) == 0 {
		measured = 1
	}
	if c.Suite != "disk" && c.Suite != "pcie" { // whose first case is the usual one
		rate = m.Sides[0].Median
	}
	return []float64{set, own, measured, -float64(results.Rank(suiteOrder, c.Suite)), -partial, rate}
}

// ownPlace are parameters that pictures show by places and colours of their own, in which
// different values stand for different things.
var ownPlace = []string{"mem", "strategy", "free", "dir", "source", "cache", "store", "step"}

// Joined are reports for pictures: those that differ in one setting get it into their labels
// and out of their cases, so that it stands beside itself. Others are returned as they are.
func Joined(reports []*results.Report) []*results.Report {
	if len(reports) < 2 {
		return reports
	}
	s := settingOf(reports)
	if s == nil || slices.Contains(ownPlace, s.Name) {
		return reports
	}
	like := s.likeOf(reports[0])
	var all []*results.Report
	for k, r := range reports {
		named := *r
		if !strings.Contains(r.Label, s.Values[k]) {
			named.Label = results.List(r.Label, s.Name+" "+s.Values[k])
		}
		named.Results = slices.Clone(r.Results)
		for i := range named.Results {
			res := &named.Results[i]
			if p, ok := res.Params.Find(s.Name); ok && s.hides(res.Suite, s.Name, p.Text()) {
				res.Params = res.Params.With(s.Name, like)
			}
		}
		all = append(all, &named)
	}
	return all
}

// likeOf is the value that cases have in pictures: the base's, or all in words.
func (s *Setting) likeOf(base *results.Report) any {
	if s.Name == "decoder" || s.Name == "dtype" {
		return strings.Join(results.AppendNew(nil, s.Values...), " or ")
	}
	for _, res := range base.Results {
		if p, ok := res.Params.Find(s.Name); ok && p.Text() == s.Values[0] {
			return p.Value
		}
	}
	return s.Values[0]
}
