package results

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
)

// check says what r lacks of what every report has, or what cannot be of the run as a whole.
func (r *Report) check() error {
	if r.Status != Complete && r.Status != Interrupted {
		return fmt.Errorf("report has the status %q: want %s or %s", r.Status, Complete, Interrupted)
	}
	for i, res := range r.Results {
		switch {
		case res.Name == "" || res.Suite == "":
			return fmt.Errorf("result %d has no name or no suite", i)
		case !slices.Contains([]string{OK, Skipped, Failed}, res.Status):
			return fmt.Errorf("result %q has the status %q: want %s, %s or %s", res.Name, res.Status, OK, Skipped,
				Failed)
		case slices.ContainsFunc(res.Metrics, func(m Metric) bool { return m.Name == "" }):
			return fmt.Errorf("result %q has a metric without a name", res.Name)
		}
	}
	c, h, d := &r.Config, &r.Host, cmp.Or(r.Dataset, &Dataset{})
	if min(c.Batch, c.Count, c.Repeat, h.CPU.Threads, h.CPU.Cores) < 0 || min(c.MinTime, c.Timeout) < 0 ||
		min(d.Images, d.Bytes, h.Memory.Total, h.Memory.Available) < 0 || slices.Min(append(c.Shape, 0)) < 0 {
		return errors.New("report has a negative number in its config, dataset or host")
	}
	return nil
}

// checkNames compares the number of names with its limit.
func (r *Report) checkNames() error {
	names := map[string]bool{}
	for _, res := range r.Results {
		for _, p := range res.Params {
			names[p.Key] = true
		}
		for _, m := range res.Metrics {
			names[m.Name] = true
		}
		for _, ref := range res.References {
			names[ref.Name] = true
		}
	}
	if n := len(names); n > maxNames {
		return fmt.Errorf("report has %d different parameters, metrics and references: at most %d are read", n, maxNames)
	}
	return nil
}

// part is what a report can do without.
type part interface{ title() string }

func (m Metric) title() string     { return "metric " + m.Name }
func (r Reference) title() string  { return "reference " + r.Name }
func (s Series) title() string     { return "series " + s.Name }
func (f Finding) title() string    { return "finding " + f.Claim }
func (p Prediction) title() string { return "prediction " + p.Change }
func (v *Verdict) title() string   { return "the verdict" }
func (r Record) title() string     { return "a proof or fit" }

// leaveOut takes out of r the parts to which why has an objection, and warns of it. It changes
// no list but that of the results.
func (r *Report) leaveOut(why func(part) string) {
	for i := range r.Results {
		res := &r.Results[i]
		res.Metrics = sound(res.Metrics, &res.Warnings, why)
		res.References = sound(res.References, &res.Warnings, why)
		res.Series = sound(res.Series, &res.Warnings, why)
		res.Proof = orNothing(res.Proof, &res.Warnings, why)
		res.Fit = orNothing(res.Fit, &res.Warnings, why)
	}
	r.Findings = sound(r.Findings, &r.Warnings, why)
	r.Predictions = sound(r.Predictions, &r.Warnings, why)
	r.Verdict = orNothing(r.Verdict, &r.Warnings, why)
}

// sound is what of list why has no objection to; what is left out is named in warnings.
func sound[T part](list []T, warnings *[]string, why func(part) string) (kept []T) {
	for _, x := range list {
		if objection := why(x); objection == "" {
			kept = append(kept, x)
		} else {
			*warnings = append(slices.Clip(*warnings), x.title()+" was left out: "+objection)
		}
	}
	return kept
}

// orNothing is x, or its zero value where why has an objection.
func orNothing[T part](x T, warnings *[]string, why func(part) string) (none T) {
	for _, x := range sound([]T{x}, warnings, why) {
		return x
	}
	return none
}

// notFinite says that a part has a number which JSON cannot hold.
func notFinite(p part) string {
	if _, err := json.Marshal(p); err != nil {
		return "it has a number that is not finite"
	}
	return ""
}

// nonsense says why no measurement has such a part, as a negative time; "" for one that can be.
func nonsense(p part) string {
	switch x := p.(type) {
	case Metric:
		return x.nonsense()
	case Reference:
		if anyNegative(x.Value, x.Lo, x.Hi) { // what metrics are compared with is rates, times and sizes
			return "a negative value"
		}
		return outOfOrder(x.Lo, x.Hi)
	case Series:
		if len(x.T) != len(x.V) {
			return fmt.Sprintf("%d times for %d values", len(x.T), len(x.V))
		}
	case Finding:
		return outOfOrder(x.Lo, x.Hi)
	case *Verdict:
		if x != nil {
			return x.nonsense()
		}
	}
	return ""
}

func (m *Metric) nonsense() string {
	values := []*float64{&m.Median, &m.Min, &m.Max, m.Lo, m.Hi}
	odd := min(m.Outliers, m.Dropped) < 0 || m.MAD < 0 || m.Confidence < 0 || m.Confidence > 1
	for i, s := range m.Samples {
		values = append(values, &m.Samples[i].Value)
		odd = odd || s.N < 0 || s.Run < 0 || s.Run > math.MaxInt32
	}
	for i, q := range m.Quantiles {
		values = append(values, &m.Quantiles[i].Value)
		odd = odd || !(q.P > 0 && q.P < 1)
	}
	none := m.Min == 0 || m.Median == 0 || m.Max == 0 // what was left out is 0, too
	switch {
	case odd:
		return "a count, a deviation or a probability that cannot be"
	case m.neverNegative() && anyNegative(values...):
		return "a negative value"
	case !none && (outOfOrder(&m.Min, &m.Median) != "" || outOfOrder(&m.Median, &m.Max) != ""):
		return "its median does not lie between its minimum and its maximum"
	}
	return outOfOrder(m.Lo, m.Hi)
}

// neverNegative tells whether m is counted or timed, and no difference against a deadline.
func (m *Metric) neverNegative() bool {
	return slices.Contains([]string{Seconds, PerSecond, Bytes, BytesPerSecond, Batches}, m.Unit) && m.Name != "lateness"
}

func anyNegative(values ...*float64) bool {
	return slices.ContainsFunc(values, func(v *float64) bool { return v != nil && *v < 0 })
}

// outOfOrder says that a range ends before it begins; rounding is none.
func outOfOrder(lo, hi *float64) string {
	const rounding = 1e-9
	if lo == nil || hi == nil || *lo <= *hi || *lo-*hi <= rounding*max(*lo, -*lo, *hi, -*hi) {
		return ""
	}
	return fmt.Sprintf("a range from %v to %v", *lo, *hi)
}

func (v *Verdict) nonsense() string {
	values := []*float64{v.Feeds, v.FeedsLo, v.FeedsHi, v.Needs, v.NextFeeds, v.GPUBusy}
	for i := range v.Parts {
		values = append(values, &v.Parts[i].Time)
	}
	for i := range v.Changes {
		c := &v.Changes[i]
		values = append(values, &c.Value, &c.Lo, &c.Hi)
	}
	switch {
	case anyNegative(values...):
		return "a negative rate or time"
	case v.GPUBusy != nil && *v.GPUBusy > 1:
		return fmt.Sprintf("a GPU that is busy for %v of the time", *v.GPUBusy)
	}
	return outOfOrder(v.FeedsLo, v.FeedsHi)
}
