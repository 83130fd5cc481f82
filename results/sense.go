package results

import (
	"errors"
	"fmt"
	"slices"
)

// mayBeNegative are metrics in s that are differences: against a deadline.
var mayBeNegative = []string{"lateness"}

// neverNegative are units of what is counted or timed.
var neverNegative = []string{Seconds, PerSecond, Bytes, BytesPerSecond, Batches}

// leaveOut takes what cannot be, as why says, out of a list that was read, and names it in warnings.
func leaveOut[T any](list []T, warnings *[]string, why func(T) (name, why string)) []T {
	return slices.DeleteFunc(list, func(x T) bool {
		name, why := why(x)
		if why != "" {
			*warnings = append(*warnings, name+" was left out when the report was read: "+why)
		}
		return why != ""
	})
}

// sensible leaves out of a result that was read what no measurement can be, such as a negative
// time, and warns of it.
func (r *Result) sensible() {
	r.Metrics = leaveOut(r.Metrics, &r.Warnings, func(m Metric) (name, why string) {
		return "metric " + m.Name, m.nonsense()
	})
	r.References = leaveOut(r.References, &r.Warnings, func(ref Reference) (name, why string) {
		why = outOfOrder(ref.Lo, ref.Hi)
		if m := r.Metric(ref.Metric); why == "" && m != nil {
			why = m.negative(ref.Value, ref.Lo, ref.Hi)
		}
		return "reference " + ref.Name, why
	})
	r.Series = leaveOut(r.Series, &r.Warnings, func(s Series) (name, why string) {
		if len(s.T) != len(s.V) {
			why = fmt.Sprintf("%d times for %d values", len(s.T), len(s.V))
		}
		return "series " + s.Name, why
	})
}

// nonsense says why no measurement has such a metric, "" for one that can be.
func (m *Metric) nonsense() string {
	values := []*float64{&m.Median, &m.Min, &m.Max, m.Lo, m.Hi}
	for i, s := range m.Samples {
		values = append(values, &m.Samples[i].Value)
		if s.N < 0 {
			return fmt.Sprintf("a sample of %d repetitions", s.N)
		}
	}
	for i, q := range m.Quantiles {
		values = append(values, &m.Quantiles[i].Value)
		if !(q.P > 0 && q.P < 1) {
			return fmt.Sprintf("a quantile at %v", q.P)
		}
	}
	if why := m.negative(values...); why != "" {
		return why
	}
	switch {
	case m.MAD < 0 || m.Outliers < 0 || m.Dropped < 0:
		return "a negative deviation or count"
	case m.Confidence < 0 || m.Confidence > 1:
		return fmt.Sprintf("a confidence of %v", m.Confidence)
	case m.Min != 0 && m.Median != 0 && m.Max != 0 && // 0 is also what was left out
		(outOfOrder(&m.Min, &m.Median) != "" || outOfOrder(&m.Median, &m.Max) != ""):
		return "its median does not lie between its minimum and its maximum"
	}
	return outOfOrder(m.Lo, m.Hi)
}

// negative says which of some values in the metric's unit is below 0 where none can be.
func (m *Metric) negative(values ...*float64) string {
	if !slices.Contains(neverNegative, m.Unit) || slices.Contains(mayBeNegative, m.Name) {
		return ""
	}
	for _, v := range values {
		if v != nil && *v < 0 {
			return "a negative value, " + FormatValue(*v, m.Unit)
		}
	}
	return ""
}

// outOfOrder says that a range ends before it begins; rounding is none.
func outOfOrder(lo, hi *float64) string {
	const rounding = 1e-9
	if lo == nil || hi == nil || *lo <= *hi || *lo-*hi <= rounding*max(*lo, -*lo, *hi, -*hi) {
		return ""
	}
	return fmt.Sprintf("a range from %v to %v", *lo, *hi)
}

// sensible leaves out of a report that was read what cannot be, and warns of it; what cannot be
// of the run as a whole is an error.
func (r *Report) sensible() error {
	c := &r.Config
	if c.Batch < 0 || c.Count < 0 || c.Repeat < 0 || c.MinTime < 0 || c.Timeout < 0 ||
		slices.ContainsFunc(c.Shape, func(n int) bool { return n < 0 }) {
		return errors.New("report has a negative number in its config")
	}
	h := &r.Host
	d := r.Dataset
	if d != nil && (d.Images < 0 || d.Bytes < 0) || min(h.Memory.Total, h.Memory.Available) < 0 ||
		min(h.CPU.Threads, h.CPU.Cores) < 0 {
		return errors.New("report has a negative number of images, bytes or CPUs")
	}
	for i := range r.Results {
		r.Results[i].sensible()
	}
	r.Findings = leaveOut(r.Findings, &r.Warnings, func(f Finding) (name, why string) {
		return "finding " + f.Claim, outOfOrder(f.Lo, f.Hi)
	})
	if r.Verdict != nil && len(leaveOut([]*Verdict{r.Verdict}, &r.Warnings, func(v *Verdict) (name, why string) {
		return "the verdict", v.nonsense()
	})) == 0 {
		r.Verdict = nil
	}
	return nil
}

// nonsense says why no verdict has such numbers, "" for one that can be.
func (v *Verdict) nonsense() string {
	rate := Metric{Name: "feeds", Unit: PerSecond}
	if why := rate.negative(v.Feeds, v.FeedsLo, v.FeedsHi, v.Needs, v.NextFeeds); why != "" {
		return why
	}
	if why := outOfOrder(v.FeedsLo, v.FeedsHi); why != "" {
		return why
	}
	if b := v.GPUBusy; b != nil && !(*b >= 0 && *b <= 1) {
		return fmt.Sprintf("a GPU that is busy for %v of the time", *b)
	}
	for _, p := range v.Parts {
		if p.Time < 0 {
			return fmt.Sprintf("%s takes %s", p.Name, FormatSeconds(p.Time))
		}
	}
	for _, c := range v.Changes {
		if why := rate.negative(&c.Value, &c.Lo, &c.Hi); why != "" {
			return why
		}
	}
	return ""
}
