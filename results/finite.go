package results

import (
	"encoding/json"
	"maps"
	"slices"
)

// finite returns r without what JSON cannot hold, so that a NaN in one case
// loses no report: numbers and samples that are not finite are left out, with a
// warning in their result. It copies what it changes.
func finite(r *Report) *Report {
	c := *r
	for _, x := range []*float64{&c.Config.MinTime, &c.Config.Timeout} {
		if !IsFinite(*x) {
			*x = 0
		}
	}
	c.Results = slices.Clone(c.Results)
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
		res.Warnings = append(res.Warnings, what+": a number that is not finite was left out")
	}
}

// finiteMetric reports whether it had to leave something out.
func finiteMetric(m *Metric) (changed bool) {
	bad := func(s Sample) bool { return !IsFinite(s.Value) || !IsFinite(s.T) }
	badQuantile := func(q Quantile) bool { return !IsFinite(q.Value) || !IsFinite(q.P) }
	entries := len(m.Samples) + len(m.Quantiles)
	m.Samples = slices.DeleteFunc(slices.Clone(m.Samples), bad)
	m.Quantiles = slices.DeleteFunc(slices.Clone(m.Quantiles), badQuantile)
	changed = len(m.Samples)+len(m.Quantiles) < entries
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
	t, v := []float64{}, []float64{}
	for i := range min(len(s.T), len(s.V)) {
		if IsFinite(s.T[i]) && IsFinite(s.V[i]) {
			t, v = append(t, s.T[i]), append(v, s.V[i])
		}
	}
	changed = len(t) < max(len(s.T), len(s.V))
	s.T, s.V = t, v
	return changed
}

// finiteValue reports whether JSON can hold v, a value of Proof or Fit.
func finiteValue(v any) bool {
	_, err := json.Marshal(v)
	return err == nil
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
