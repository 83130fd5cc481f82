package results

import (
	"fmt"
	"maps"
	"slices"
)

// finite returns r without what JSON cannot hold, so that a NaN in one case
// loses no report: numbers and samples that are not finite are left out, with a
// warning in their result, and lists that every report has are never null. It
// copies what it changes.
func finite(r *Report) *Report {
	c := *r
	c.Config.MinTime = zeroUnlessFinite(c.Config.MinTime)
	c.Config.Timeout = zeroUnlessFinite(c.Config.Timeout)
	c.Config.Suites = orEmpty(c.Config.Suites)
	c.Config.Shape = orEmpty(c.Config.Shape)
	c.Results = slices.Clone(orEmpty(c.Results))
	for i := range c.Results {
		finiteResult(&c.Results[i])
	}
	c.Findings = slices.Clone(c.Findings)
	for i := range c.Findings {
		f := &c.Findings[i]
		clearUnlessFinite(&f.Value, &f.Lo, &f.Hi)
	}
	c.Predictions = slices.Clone(c.Predictions)
	for i := range c.Predictions {
		p := &c.Predictions[i]
		clearUnlessFinite(&p.Value, &p.Lo, &p.Hi)
		clearUnlessFinite(&p.Base, &p.Measured, &p.Error)
	}
	if c.Verdict != nil {
		v := *c.Verdict
		clearUnlessFinite(&v.Feeds, &v.Demand, &v.Margin, &v.NextFeeds)
		c.Verdict = &v
	}
	return &c
}

func finiteResult(res *Result) {
	var lost []string
	res.Params = slices.Clone(res.Params)
	for i, p := range res.Params {
		if x, ok := p.Value.(float64); ok && !IsFinite(x) {
			res.Params[i].Value = format(x)
		}
	}
	res.Metrics = slices.Clone(res.Metrics)
	for i := range res.Metrics {
		if m := &res.Metrics[i]; finiteMetric(m) {
			lost = append(lost, "metric "+m.Name)
		}
	}
	res.References = slices.Clone(res.References)
	for i := range res.References {
		if f := &res.References[i]; clearUnlessFinite(&f.Value, &f.Lo, &f.Hi) {
			lost = append(lost, "reference "+f.Name)
		}
	}
	for _, part := range []struct {
		name string
		m    *map[string]any
	}{{"proof", &res.Proof}, {"fit", &res.Fit}} {
		kept := maps.Clone(*part.m)
		for _, key := range slices.Sorted(maps.Keys(kept)) {
			if !finiteValue(kept[key]) {
				delete(kept, key)
				lost = append(lost, part.name+" "+key)
			}
		}
		*part.m = kept
	}
	res.Series = slices.Clone(res.Series)
	for i := range res.Series {
		if s := &res.Series[i]; finiteSeries(s) {
			lost = append(lost, "series "+s.Name)
		}
	}
	res.Warnings = slices.Clone(res.Warnings)
	for _, what := range lost {
		res.Warnings = append(res.Warnings, fmt.Sprintf("%s: a number that is not finite was left out", what))
	}
}

// finiteMetric reports whether it had to leave something out.
func finiteMetric(m *Metric) (changed bool) {
	bad := func(s Sample) bool { return !IsFinite(s.Value) || !IsFinite(s.T) }
	if slices.ContainsFunc(m.Samples, bad) {
		m.Samples = slices.DeleteFunc(slices.Clone(m.Samples), bad)
		changed = true
	}
	if slices.ContainsFunc(m.Quantiles, func(q Quantile) bool { return !IsFinite(q.Value) || !IsFinite(q.P) }) {
		m.Quantiles = slices.DeleteFunc(slices.Clone(m.Quantiles), func(q Quantile) bool { return !IsFinite(q.Value) || !IsFinite(q.P) })
		changed = true
	}
	for _, x := range []*float64{&m.Median, &m.Min, &m.Max, &m.MAD, &m.Confidence} {
		if !IsFinite(*x) {
			*x, changed = 0, true
		}
	}
	return clearUnlessFinite(&m.Lo, &m.Hi) || changed
}

// finiteSeries leaves out the points of s that have a coordinate that is not
// finite, and reports whether there were any.
func finiteSeries(s *Series) (changed bool) {
	var t, v []float64
	for i := range min(len(s.T), len(s.V)) {
		if IsFinite(s.T[i]) && IsFinite(s.V[i]) {
			t, v = append(t, s.T[i]), append(v, s.V[i])
		}
	}
	changed = len(t) < max(len(s.T), len(s.V))
	if changed || t == nil {
		s.T, s.V = orEmpty(t), orEmpty(v)
	}
	return changed
}

// finiteValue reports whether JSON can hold v, a value of Proof or Fit.
func finiteValue(v any) bool {
	switch v := v.(type) {
	case float64:
		return IsFinite(v)
	case float32:
		return IsFinite(float64(v))
	case *float64:
		return v == nil || IsFinite(*v)
	case []float64:
		return !slices.ContainsFunc(v, func(x float64) bool { return !IsFinite(x) })
	case []any:
		return !slices.ContainsFunc(v, func(x any) bool { return !finiteValue(x) })
	case map[string]any:
		for _, x := range v {
			if !finiteValue(x) {
				return false
			}
		}
	case map[string]float64:
		for _, x := range v {
			if !IsFinite(x) {
				return false
			}
		}
	}
	return true
}

// clearUnlessFinite sets each pointer to a number that is not finite to nil and reports
// whether there was one.
func clearUnlessFinite(ps ...**float64) (changed bool) {
	for _, p := range ps {
		if *p != nil && !IsFinite(**p) {
			*p, changed = nil, true
		}
	}
	return changed
}

func zeroUnlessFinite(x float64) float64 {
	if !IsFinite(x) {
		return 0
	}
	return x
}

func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
