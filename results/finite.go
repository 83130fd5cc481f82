package results

import (
	"encoding/json"
	"reflect"
	"slices"
)

// finite returns r without what JSON cannot hold, so that a NaN in one case
// loses no report: numbers and samples that are not finite are left out, with a
// warning in their result. It copies what it changes.
func finite(r *Report) *Report {
	c := *r
	clearInfinities(&c.Config)
	c.Findings = slices.Clone(c.Findings)
	for i := range c.Findings {
		clearInfinities(&c.Findings[i])
	}
	c.Predictions = slices.Clone(c.Predictions)
	for i := range c.Predictions {
		clearInfinities(&c.Predictions[i])
	}
	if c.Verdict != nil {
		v := *c.Verdict
		clearInfinities(&v)
		c.Verdict = &v
	}
	c.Results = slices.Clone(c.Results)
	for i := range c.Results {
		finiteResult(&c.Results[i])
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
		m := &res.Metrics[i]
		entries := len(m.Samples) + len(m.Quantiles)
		m.Samples = slices.DeleteFunc(slices.Clone(m.Samples), hasInfinities)
		m.Quantiles = slices.DeleteFunc(slices.Clone(m.Quantiles), hasInfinities)
		if clearInfinities(m) || len(m.Samples)+len(m.Quantiles) < entries {
			lost = append(lost, "metric "+m.Name)
		}
	}
	res.References = slices.Clone(res.References)
	for i := range res.References {
		if clearInfinities(&res.References[i]) {
			lost = append(lost, "reference "+res.References[i].Name)
		}
	}
	for name, part := range map[string]*Record{"proof": &res.Proof, "fit": &res.Fit} {
		if _, err := json.Marshal(*part); err != nil {
			*part = Record{}
			lost = append(lost, name)
		}
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

func hasInfinities[T any](x T) bool { return clearInfinities(&x) }

// clearInfinities sets each field of the struct at p that is a number that is not finite
// to 0, each pointer to one to nil, and reports whether there was one.
func clearInfinities(p any) (changed bool) {
	v := reflect.ValueOf(p).Elem()
	for i := range v.NumField() {
		field := v.Field(i)
		x, ok := field.Interface().(float64)
		if at, isPointer := field.Interface().(*float64); isPointer && at != nil {
			x, ok = *at, true
		}
		if ok && !IsFinite(x) {
			field.SetZero()
			changed = true
		}
	}
	return changed
}
