package pcie

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"dlbench/bench"
	"dlbench/bench/theory"
	"dlbench/results"
)

// pcieFindings says what the copies mean for the claims A1, A4, A6, A15 and A17, after
// how many batches page-locking has paid for itself, and which device is slow.
func pcieFindings(env bench.Env, rs []results.Result) []results.Finding {
	var fs []results.Finding
	assumed := false
	for _, d := range env.Devices {
		info := d.Info()
		if info.AssumedLink() {
			assumed = true
			continue
		}
		c := deviceCopies{rs: rs, device: info.Spec, batch: env.Batch}
		c.breakEven()
		c.bounced()
		fs = append(fs, c.lanes(), c.cpuShare(rs), c.latency(), c.halves())
		if f, ok := c.numa(); ok {
			fs = append(fs, f)
		}
	}
	if assumed {
		fs = append(fs, assumedLanes(env, rs), hostShare(env, rs))
	}
	fs = append(fs, severalGPUs(env, rs))
	return append(fs, siblings(env, rs)...)
}

// deviceCopies finds the copies of one real device.
type deviceCopies struct {
	rs     []results.Result
	device string
	batch  theory.Batch
}

// find returns the OK case of that point from warm caches, with nothing that disturbs it;
// nil when it is not there.
func (c deviceCopies) find(dir, mem, dtype string, bytes int64) *results.Result {
	return c.caseOf(dir, mem, dtype, bytes, params.Undisturbed)
}

func (c deviceCopies) caseOf(dir, mem, dtype string, bytes int64, fit func(params) bool) *results.Result {
	return results.CaseOf(c.rs, "pcie", func(p params) bool {
		return p.Device == c.device && p.Dir == dir && p.Mem == mem && p.DType == dtype && p.Source == results.SourceWarm && p.Bytes == bytes && fit(p)
	})
}

func (c deviceCopies) whole(mem string) *results.Result {
	return c.find(results.H2D, mem, c.batch.DType, c.batch.Bytes())
}

func linkTitle(r *results.Result) string {
	l, err := theory.ParseLink(results.As[results.PCIeProof](r.Proof).Link)
	if err != nil {
		return "an unknown link"
	}
	return l.Title()
}

// lanes is claim A1 for a real device: the article's figures exist for Gen3 alone.
func (c deviceCopies) lanes() results.Finding {
	f := results.Finding{Claim: "A1", Verdict: results.NotMeasured}
	r := c.whole("pinned")
	if r == nil {
		f.Text = c.device + ": the batch was not copied from pinned memory"
		return f
	}
	m := r.Metric("time")
	lo, hi := results.Bounds(m)
	f.Value, f.Lo, f.Hi, f.Unit = results.Finite(m.Median), results.Finite(lo), results.Finite(hi), m.Unit
	f.Text = fmt.Sprintf("%s over %s: a batch (%s) takes %s pinned", c.device, linkTitle(r), c.batch, results.FormatSeconds(m.Median))
	if p := c.whole("pageable"); p != nil {
		f.Text += fmt.Sprintf(", %s pageable", results.FormatSeconds(results.MedianOf(p, "time")))
	}
	if line := r.Reference("line-rate", "time"); line != nil && line.Value != nil {
		f.Text += fmt.Sprintf("; the line alone allows %s", results.FormatSeconds(*line.Value))
	}
	ideal, practice := r.Reference("article-theory", "time"), r.Reference("article-practice", "time")
	if ideal == nil || practice == nil {
		f.Text += "; the article's figures are for its own batch over Gen3 x4, x8 and x16"
		return f
	}
	f.Text += fmt.Sprintf("; the article says %s in theory and about %s in practice", printed(*ideal.Value), printed(*practice.Value))
	switch {
	case lo >= *ideal.Value && hi <= *practice.Value:
		f.Verdict = results.Holds
	case hi < *ideal.Value || lo > *practice.Value:
		f.Verdict = results.Fails
	default:
		f.Verdict = results.Inconclusive
	}
	return f
}

// assumedLanes is claim A1 where assumed links stand in, which prove nothing.
func assumedLanes(env bench.Env, rs []results.Result) results.Finding {
	var parts []string
	for _, d := range env.Devices {
		info := d.Info()
		c := deviceCopies{rs: rs, device: info.Spec, batch: env.Batch}
		pinned, pageable := results.MedianOf(c.whole("pinned"), "time"), results.MedianOf(c.whole("pageable"), "time")
		if !info.AssumedLink() {
			continue
		}
		if math.IsNaN(pinned) {
			parts = append(parts, info.Link.Title()+" has no result")
			continue
		}
		part := fmt.Sprintf("%s %s pinned", info.Link.Title(), results.FormatSeconds(pinned))
		if info.Loaded {
			part = "link time loaded on " + info.Name + ": " + part
		}
		if !math.IsNaN(pageable) {
			part += fmt.Sprintf(" and %s pageable", results.FormatSeconds(pageable))
		}
		if a, ok := theory.Article(env.Batch, info.Link); ok {
			part += fmt.Sprintf(" (article: %s in theory, about %s in practice)", printed(a.Theory), printed(a.Practice))
		}
		parts = append(parts, part)
	}
	text := "no copy over an assumed link"
	if len(parts) > 0 {
		text = "links are assumed, so this proves nothing about links: " + strings.Join(parts, "; ")
	}
	return results.Finding{Claim: "A1", Verdict: results.NotMeasured, Text: text, Assumed: []string{"link"}}
}

// Bounds of claim A4's verdict: what share of its time a pageable copy must at least
// hold its caller, and up to which share a copy counts as free of the CPU.
const (
	cpuBound = 0.5
	cpuFree  = 0.05
)

// quotient is one metric over another, from the extremes of their intervals.
type quotient struct{ value, lo, hi float64 }

func ratio(a, b *results.Metric) quotient {
	if a == nil || b == nil {
		return quotient{math.NaN(), math.NaN(), math.NaN()}
	}
	alo, ahi := results.Bounds(a)
	blo, bhi := results.Bounds(b)
	return quotient{a.Median / b.Median, alo / bhi, ahi / blo}
}

// spread is a median with its interval, as text.
func spread(m *results.Metric) string {
	lo, hi := results.Bounds(m)
	return fmt.Sprintf("%s (%s)", results.FormatSeconds(m.Median), results.FormatRange(lo, hi, m.Unit))
}

// cpuShare is claim A4 for a real device: how long copies hold their caller. The
// CPU time of a pageable copy proves less, since drivers wait by spinning.
func (c deviceCopies) cpuShare(rs []results.Result) results.Finding {
	f := results.Finding{Claim: "A4", Verdict: results.NotMeasured, Text: c.device + ": no pageable copy of the batch to judge by"}
	pageable, pinned := c.whole("pageable"), c.whole("pinned")
	if pageable == nil || pinned == nil {
		return f
	}
	held, free := ratio(pageable.Metric("submit"), pageable.Metric("time")), ratio(pinned.Metric("submit"), pinned.Metric("time"))
	f.Value, f.Lo, f.Hi, f.Unit = results.Finite(held.value), results.Finite(held.lo), results.Finite(held.hi), results.Ratio
	f.Text = fmt.Sprintf("%s: a pageable copy holds its caller for %.0f %% of its %s, a pinned one for %.1f %% of its %s",
		c.device, 100*held.value, results.FormatSeconds(results.MedianOf(pageable, "time")), 100*free.value, results.FormatSeconds(results.MedianOf(pinned, "time")))
	if b := bounceTime(rs, c.batch, results.SourceWarm); b != nil {
		f.Text += fmt.Sprintf("; what the CPU itself has to do, carrying the batch through a bounce buffer, takes this host %s", spread(b))
	}
	switch {
	case held.lo > cpuBound && free.hi < cpuFree:
		f.Verdict = results.Holds
	case held.hi < cpuFree:
		f.Verdict = results.Fails
	default:
		f.Verdict = results.Inconclusive
	}
	return f
}

// bounceTime is how long the host takes to carry the batch through a bounce buffer.
func bounceTime(rs []results.Result, b theory.Batch, source string) *results.Metric {
	r := results.CaseOf(rs, "pcie", func(p params) bool {
		return p.Device == results.HostDevice && p.Mem == results.Bounce && p.Source == source && p.Bytes == b.Bytes()
	})
	if r == nil {
		return nil
	}
	return r.Metric("time")
}

// hostShare is the measured half of claim A4 without a GPU: the CPU's part of a
// pageable copy, beside the time that assumed links take.
func hostShare(env bench.Env, rs []results.Result) results.Finding {
	f := results.Finding{Claim: "A4", Verdict: results.NotMeasured, Assumed: []string{"link"}, Text: "no copy in host memory to judge by"}
	warm, cold := bounceTime(rs, env.Batch, results.SourceWarm), bounceTime(rs, env.Batch, results.SourceCold)
	if warm == nil {
		return f
	}
	lo, hi := results.Bounds(warm)
	f.Value, f.Lo, f.Hi, f.Unit = results.Finite(warm.Median), results.Finite(lo), results.Finite(hi), results.Seconds
	f.Text = "the CPU's part of a pageable copy, measured: " + spread(warm) + " a batch from warm caches"
	if cold != nil {
		f.Text += ", " + spread(cold) + " from cold ones"
		if clo, chi := results.Bounds(cold); clo < hi && lo < chi {
			f.Text += ", which is no difference beyond the noise"
		}
	}
	var shares []string
	for _, d := range env.Devices {
		if info := d.Info(); info.AssumedLink() {
			t := theory.Time(env.Batch.Bytes(), info.Rates.Pageable)
			shares = append(shares, fmt.Sprintf("%.0f %% over %s", 100*warm.Median/t, info.Link.Title()))
		}
	}
	f.Text += "; of the time an assumed pageable copy takes that is " + strings.Join(shares, ", ")
	return f
}

// latencyFree is the share of a batch up to which claim A15's latency can be ignored.
const latencyFree = 0.01

// latency is claim A15: what the smallest copy costs, as a share of a batch.
func (c deviceCopies) latency() results.Finding {
	f := results.Finding{Claim: "A15", Verdict: results.NotMeasured, Text: c.device + ": no sweep over sizes"}
	first, whole := c.find(results.H2D, "pinned", c.batch.DType, smallest), c.whole("pinned")
	if first == nil || whole == nil || first.Metric("latency") == nil {
		return f
	}
	s, w := first.Metric("latency"), whole.Metric("time")
	share := ratio(s, w)
	f.Value, f.Lo, f.Hi, f.Unit = results.Finite(share.value), results.Finite(share.lo), results.Finite(share.hi), results.Ratio
	f.Text = fmt.Sprintf("%s: a copy of %s takes %s from call to end, %.2f %% of a batch",
		c.device, results.FormatBytes(smallest), results.FormatValue(s.Median, s.Unit), 100*share.value)
	switch {
	case share.hi < latencyFree:
		f.Verdict, f.Text = results.Holds, f.Text+"; beside a batch it can be ignored"
	case share.lo > latencyFree:
		f.Verdict, f.Text = results.Fails, f.Text+"; more than 1 %, so not to be ignored"
	default:
		f.Verdict = results.Inconclusive
	}
	return f
}

// sameMargin is how far from equal something may be that is called the same.
const sameMargin = 0.02

// halves is claim A17's second half: 16 bits halve the bytes, and the time with them.
func (c deviceCopies) halves() results.Finding {
	f := results.Finding{Claim: "A17", Verdict: results.NotMeasured, Text: c.device + ": float32 and float16 were not both copied"}
	full, half := c.batch, c.batch
	full.DType, half.DType = "float32", "float16"
	a, b := c.find(results.H2D, "pinned", "float32", full.Bytes()), c.find(results.H2D, "pinned", "float16", half.Bytes())
	if a == nil || b == nil {
		return f
	}
	q := ratio(b.Metric("time"), a.Metric("time"))
	f.Value, f.Lo, f.Hi, f.Unit = results.Finite(q.value), results.Finite(q.lo), results.Finite(q.hi), results.Ratio
	f.Text = fmt.Sprintf("%s: a float16 batch takes %.3f of a float32 batch's time, half its bytes%s", c.device, q.value, c.onDevice())
	switch lo, hi := 0.5*(1-sameMargin), 0.5*(1+sameMargin); {
	case q.lo > lo && q.hi < hi:
		f.Verdict = results.Holds
	case q.lo > hi || q.hi < lo:
		f.Verdict = results.Fails
	default:
		f.Verdict = results.Inconclusive
	}
	return f
}

// breakEven adds, to the copies from page-locked memory, after how many batches
// the pinning has paid for itself against pageable memory.
func (c deviceCopies) breakEven() {
	pageable := c.whole("pageable")
	for _, mem := range []string{"pinned", "registered"} {
		r := c.whole(mem)
		if r == nil || pageable == nil || r.Metric("pin") == nil {
			continue
		}
		cost, gain := r.Metric("pin").Median, results.MedianOf(pageable, "time")-results.MedianOf(r, "time")
		if gain <= 0 {
			r.Warnings = append(r.Warnings, "pinning does not pay here: a pageable copy is as fast")
			continue
		}
		n := cost / gain
		r.Metrics = append(r.Metrics, results.Metric{Name: "pin_break_even", Unit: results.Batches, Better: results.Lower, Median: n, Min: n, Max: n})
	}
}

// bounced warns of copies from pinned memory where registration is refused as not
// supported, as under confidential computing: pinned memory is bounced there, too.
func (c deviceCopies) bounced() {
	refused := slices.ContainsFunc(c.rs, func(r results.Result) bool {
		p := results.As[params](r.Params)
		return r.Suite == "pcie" && p.Device == c.device && p.Mem == "registered" && r.Status == results.Skipped && strings.Contains(r.Reason, registrationRefused)
	})
	if r := c.whole("pinned"); r != nil && refused {
		text := "host memory cannot be registered here, as under confidential computing, where copies from pinned memory pass an encrypted bounce buffer as well"
		if p := c.whole("pageable"); p != nil {
			text += fmt.Sprintf(": pinned copies take %.2f of a pageable one's time", results.MedianOf(r, "time")/results.MedianOf(p, "time"))
		}
		r.Warnings = append(r.Warnings, text)
	}
}

// printed is a time as the article prints it: 4.5 ms.
func printed(s float64) string { return fmt.Sprintf("%.2g ms", 1e3*s) }
