package advise

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"dlbench/results"
)

// Conclude adds to a report the answer to q, what would help, and how far the predictions
// behind that could be checked. The answer is about the first of the user's own loaders
// that was measured, else about dlbench's. A report without any gets none.
func Conclude(rep *results.Report, q Question) {
	rep.Predictions = nil
	need := q.need(rep)
	rep.Verdict = loaderVerdict(rep, need)
	if !hasPipeline(rep) {
		return
	}
	m, err := newModel(rep)
	if err != nil {
		if rep.Verdict == nil {
			rep.Verdict = &results.Verdict{Answer: results.AnswerUnknown, Why: results.OneLine(err)}
		}
		return
	}
	v := newVerdict(m, need)
	v.tryCommon()
	for _, c := range m.checked {
		rep.Predictions = append(rep.Predictions, c.Prediction)
	}
	rep.Predictions = append(rep.Predictions, v.whatIfs...)
	if rep.Verdict == nil {
		rep.Verdict = v.make()
	}
	old := func(f results.Finding) bool { return f.Claim == "B4" }
	rep.Findings = append(slices.DeleteFunc(rep.Findings, old), v.finding())
}

// verdict is what the answer about dlbench's own loader is made of.
type verdict struct {
	m       *model
	bound   bound
	whatIfs []results.Prediction
	need    need
	feeds   results.Interval // images/s when nothing waits: least and most of several runs
	runs    int
}

// newVerdict compares what the model's loader feeds with a need. How much runs differ is
// not known of a single one.
func newVerdict(m *model, n need) *verdict {
	v := &verdict{m: m, bound: m.bound(), need: n}
	t := m.base.Metric("throughput")
	v.feeds = results.IntervalOf(t)
	medians := results.RunMedians(t.Samples)
	if v.runs = len(medians); v.runs > 1 {
		v.feeds.Lo, v.feeds.Hi = slices.Min(medians), slices.Max(medians)
	} else {
		v.feeds.Lo, v.feeds.Hi = v.feeds.Lo*(1-realError), v.feeds.Hi*(1+realError)
	}
	return v
}

// tryCommon predicts the changes that are tried for every report.
func (v *verdict) tryCommon() {
	for _, c := range v.m.commonChanges() {
		if p, err := v.m.predict(0, c); err == nil { // else it makes no sense here
			v.whatIfs = append(v.whatIfs, p)
		}
	}
}

// finding is claim B4: that loading, and not the GPU, is the limit of training; for the
// article's GPU where no other one is known.
func (v *verdict) finding() results.Finding {
	n := v.need
	if n.rate == 0 {
		n = Question{GPU: "article"}.need(v.m.report)
	}
	margin := v.feeds.Value/n.rate - 1
	f := results.Finding{Claim: "B4", Verdict: results.Inconclusive, Value: results.Finite(margin), Unit: results.Ratio,
		Assumed: v.m.base.Assumed}
	f.Text = fmt.Sprintf("dlbench's loader feeds %.0f images/s, %s needs %.0f", v.feeds.Value, n.from, n.rate)
	switch results.Enough(v.feeds.Lo, v.feeds.Hi, n.rate) {
	case "yes":
		f.Verdict = results.Fails
		f.Text += ": the GPU is the limit, not loading"
	case "no":
		f.Verdict = results.Holds
		f.Text += ": " + cmp.Or(v.bound.certain(), "loading") + " is the limit, not the GPU"
	default:
		f.Text += ": too close to call"
	}
	return f
}

// certain is the bottleneck in words, "" where that is not certain.
func (b bound) certain() string {
	if b.unsure != "" {
		return ""
	}
	return results.PartTime{Name: b.part}.Title()
}

// make is the verdict for the report.
func (v *verdict) make() *results.Verdict {
	m, b := v.m, v.bound
	r := &results.Verdict{Loader: results.OwnLoader, Workers: m.parts.workers, Busy: m.parts.busy, Runs: v.runs,
		Assumed: m.base.Assumed, Parts: m.partTimes(), Notes: v.notes()}
	v.need.answer(r, v.feeds)
	if r.Answer == results.AnswerYes { // of a loader that is faster than those that people train with
		r.Answer = results.AnswerEnoughCores
	}
	if b.unsure == "" {
		r.Bottleneck, r.Next, r.NextFeeds = b.part, b.next, results.Finite(b.nextRate)
	} else {
		r.Limit = "what limits the loader is not certain: " + b.unsure
	}
	r.Share = m.share(v.need)
	if why := m.busy(); why != "" {
		r.Answer, r.Why = results.AnswerBusy, why
		return r
	}
	if r.Answer != results.AnswerEnoughCores {
		v.addChanges(r)
	}
	return r
}

// busy says that other programs took too much of the machine, "" where they did not.
func (m *model) busy() string {
	work, cpu := m.loader.readCPU+m.loader.preprocess, median(m.base, "cpu")
	waits := work/m.loader.share()/float64(m.loader.workers) < m.loader.stepTime()/2 // for something else
	if lost := 1 - cpu/work; cpu > 0 && !waits && lost > mostLost {
		return fmt.Sprintf("other programs took %.0f %% of the CPU time that the loader could use: "+
			"close them and measure again", 100*lost)
	}
	if results.NoisyShare(m.base.Metric("throughput").Samples) > mostNoisy {
		return whyBusy
	}
	return ""
}

// mostNoisy is the share of the samples that may be noisy; whyBusy says so of more. mostLost is
// the share of the CPU time that may be missing.
const (
	mostLost  = 0.1
	mostNoisy = 0.5
	whyBusy   = "other programs, or other guests of this host, took CPU time: close them, measure again"
)

// diskInMemory is what has no effect where the data is in memory.
const diskInMemory = "a faster disk (the data is in memory)"

// addChanges adds what would help, settings before purchases, each by what it brings, and
// what would not.
func (v *verdict) addChanges(r *results.Verdict) {
	for _, p := range v.whatIfs {
		name, _, _ := strings.Cut(p.Change, " instead of")
		switch {
		case p.Cost == "" || p.Value == nil:
		case *p.Value < (1+noGain)**p.Base:
			r.NoEffect = append(r.NoEffect, name)
		default:
			change := v.changeOf(name, p)
			change.Note = ""
			r.Changes = append(r.Changes, change)
		}
	}
	if !v.m.slowDisk() {
		r.NoEffect = append(r.NoEffect, diskInMemory)
	}
	slices.SortStableFunc(r.Changes, func(a, b results.Change) int { // "free" before "purchase"
		return cmp.Or(cmp.Compare(a.Cost, b.Cost), -cmp.Compare(a.Value, b.Value))
	})
	if strings.HasPrefix(v.decoder(), "Go") {
		const faster = 3 // times, at least
		x := v.feeds
		r.Changes = slices.Insert(r.Changes, 0, results.Change{Name: "install libjpeg-turbo", Cost: results.Free,
			Value: faster * x.Value, Lo: x.Value, Hi: 2 * faster * x.Value,
			Enough: results.Enough(x.Value, 2*faster*x.Value, v.need.rate), Evidence: "usual gain; not measured here"})
	}
}

// partTimes is how long each part of the loader takes for a batch while the others are
// free.
func (m *model) partTimes() (all []results.PartTime) {
	alone := func(others ...string) float64 { return m.loader.without(others...).stepTime() }
	const read, prep, copies = results.PartRead, results.PartPreprocess, results.PartCopy
	if m.split {
		all = append(all, results.PartTime{Name: prep, Time: alone(read, copies)},
			results.PartTime{Name: read, Time: alone(prep, copies), Note: m.readNote()})
	} else {
		all = append(all, results.PartTime{Name: read + "+" + prep, Time: alone(copies), Note: m.readNote()})
	}
	return append(all, results.PartTime{Name: copies, Time: alone(read, prep), Note: m.copyNote()})
}

// readNote says where the data comes from.
func (m *model) readNote() string {
	switch {
	case m.parts.disk.Emulated():
		return "simulated disk " + m.params.Disk
	case m.params.Cache == results.Remote:
		return "over the network"
	case results.Bypassed(m.base):
		return "from the disk"
	}
	if cold := m.pastCache(); cold != nil && median(cold, "read") > 0 {
		return fmt.Sprintf("from memory; from disk %.1f ms", 1e3*median(cold, "read")/float64(m.parts.workers))
	}
	return "from memory"
}

// copyNote says over which link the batch is copied.
func (m *model) copyNote() string {
	own, ok := m.ownLink()
	text := m.params.Device
	if ok {
		text = fmt.Sprintf("%s; at best %.1f ms", own.Title(), 1e3*float64(m.batch.Bytes())/own.LineRate())
	}
	if slices.Contains(m.base.Assumed, "link") {
		text = "simulated " + text
	}
	return text
}

// twoDigits is x to two digits, or to the whole number where it has more.
func twoDigits(x float64) string {
	if x >= 100 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.2g", x)
}

// Limits of a verdict.
const (
	// leastLead is how much more the part that bounds must cost than the one after it, on a
	// machine that is quiet; what differs between runs, and what the parts miss when
	// they are put together, comes on top.
	leastLead = 1.2
	restless  = 0.25 // of either, from which it is what makes a verdict uncertain
	noGain    = 0.02 // below which a change brings nothing
)

// bound is the bottleneck of a loader, and what comes next.
type bound struct {
	part, next string
	nextRate   float64 // images/s once part takes no time
	unsure     string  // why it is not certain; "" where it is
}

// costliest is the part without which a batch takes least; lead is by how much more it
// saves than the next one.
func (l loader) costliest(parts []string) (part string, lead float64) {
	left := func(part string) float64 { return l.without(part).stepTime() } // s a batch
	alone := func(part string) float64 { return l.without(results.Without(parts, part)...).stepTime() }
	sorted := slices.SortedStableFunc(slices.Values(parts), func(a, b string) int {
		return cmp.Or(cmp.Compare(left(a), left(b)), cmp.Compare(alone(b), alone(a)))
	})
	first, next, whole := sorted[0], sorted[1], l.stepTime()
	if alone(next) > alone(first) && whole-left(first) < 0.1*whole { // they hide each other
		return next, alone(next) / alone(first)
	}
	if saved := whole - left(next); saved > 0 {
		return first, (whole - left(first)) / saved
	}
	return first, math.Inf(1)
}

// bound finds the bottleneck of the loader.
func (m *model) bound() (b bound) {
	parts := []string{results.PartRead, results.PartPreprocess, results.PartCopy}
	part, lead := m.loader.costliest(parts)
	if measured, x := m.parts.costliest(parts); measured == part {
		lead = min(lead, x)
	} else {
		lead = 1 // it depends on the moment
	}
	rest := m.loader.without(part)
	b.part, b.nextRate = part, float64(m.batch.Images)/max(rest.stepTime(), 1e-9)
	b.next, _ = rest.costliest(results.Without(parts, part))
	missed := math.Abs(math.Log(1 + m.missed))
	certain := lead >= leastLead*(1+2*m.spread)*math.Exp(missed)
	switch {
	case !m.split && b.part != results.PartCopy:
		b.unsure = "reading and decoding were not measured apart: run without --quick"
	case certain:
	case m.spread > restless/2:
		b.unsure = fmt.Sprintf("what the loader feeds differs by %.0f %% between runs: "+
			"measure again on a quiet machine", 200*m.spread)
	case missed > restless:
		b.unsure = fmt.Sprintf("the parts, measured one by one, take %.0f %% of the time of all together: "+
			"measure again on a quiet machine", 100*(1+m.missed))
	default:
		b.unsure = b.part + " and " + b.next + " take about as long: neither alone is the limit"
	}
	return b
}
