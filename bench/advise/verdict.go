package advise

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"dlbench/bench/theory"
	"dlbench/results"
)

// boundGPU is the Bound of a loader that is ahead of the demand.
const boundGPU = "gpu"

// Demanded is what a verdict compares the loader with.
type Demanded struct {
	Step time.Duration // that the user gave for a batch; 0 where none was given
	GPU  string        // or one of theory.GPUs
}

// Rate is the images/s that the user's GPU takes in, 0 where the user named none.
func (d Demanded) Rate(images int) float64 {
	if rate, _, given := d.rate(images); given {
		return rate
	}
	return 0
}

// rate is what the GPU takes in, images/s: what the user said, or the article's step.
func (d Demanded) rate(images int) (rate float64, name string, given bool) {
	for _, g := range theory.GPUs {
		if g.Name == d.GPU {
			return g.Rate(), g.Demand.Name, true
		}
	}
	if d.Step > 0 {
		name := fmt.Sprintf("a step of %v for %d images", d.Step, images)
		return float64(images) / d.Step.Seconds(), name, true
	}
	return theory.Demands[0].Rate(), theory.Demands[0].Name, false
}

// Conclude adds to a report what bounds the machine, what would help, and how far the
// predictions behind that could be checked. A report without the pipeline suite gets
// none.
func Conclude(rep *results.Report, d Demanded) {
	rep.Predictions, rep.Verdict = nil, loaderVerdict(rep, d)
	if !hasPipeline(rep) {
		return
	}
	m, err := newModel(rep)
	if err != nil && rep.Verdict == nil {
		rep.Verdict = &results.Verdict{Status: results.NotMeasured, Text: "no verdict: " + results.OneLine(err)}
	}
	if err != nil {
		return
	}
	v := newVerdict(m, d)
	checks := m.checks()
	for _, c := range m.commonChanges() {
		if p, err := m.predict(checks, 0, c); err == nil { // else it makes no sense here
			v.whatIfs = append(v.whatIfs, p)
		}
	}
	for _, c := range checks {
		rep.Predictions = append(rep.Predictions, c.Prediction)
	}
	rep.Predictions = append(rep.Predictions, v.whatIfs...)
	own := v.make()
	if rep.Verdict == nil {
		rep.Verdict = own
	}
	old := func(f results.Finding) bool { return f.Claim == "B4" }
	rep.Findings = append(slices.DeleteFunc(rep.Findings, old), v.finding(own))
}

// verdict is what one is made of.
type verdict struct {
	m             *model
	bound         bound
	whatIfs       []results.Prediction
	demand        float64 // images/s
	demandName    string
	given         bool             // by the user
	feeds         results.Interval // images/s at top speed, with the ends of its restarts if there are several
	restarts      int
	ahead, behind bool // the loader certainly is, of the demand
}

// newVerdict compares the model's top speed with a demand. How much restarts differ is
// not known of a single one.
func newVerdict(m *model, d Demanded) *verdict {
	v := &verdict{m: m, bound: m.bound()}
	v.demand, v.demandName, v.given = d.rate(m.batch.Images)
	t := m.base.Metric("throughput")
	v.feeds = results.IntervalOf(t)
	lo, hi := v.feeds.Lo*(1-realError), v.feeds.Hi*(1+realError)
	medians := results.RunMedians(t.Samples)
	if v.restarts = len(medians); v.restarts > 1 {
		lo, hi = slices.Min(medians), slices.Max(medians)
		v.feeds.Lo, v.feeds.Hi = lo, hi
	}
	v.ahead, v.behind = lo > v.demand, hi < v.demand
	return v
}

// finding is claim B4: that loading, and not the GPU, is the limit of training.
func (v *verdict) finding(r *results.Verdict) results.Finding {
	f := results.Finding{Claim: "B4", Verdict: results.Inconclusive, Value: r.Margin, Unit: results.Ratio,
		Assumed: r.Assumed}
	f.Text = fmt.Sprintf("of the %.0f images/s that %s takes the loader can feed %.0f",
		v.demand, v.demandName, v.feeds.Value)
	switch {
	case v.ahead:
		f.Verdict = results.Fails
		f.Text += ": the GPU is the limit, not loading"
	case v.behind:
		f.Verdict = results.Holds
		f.Text += ": " + cmp.Or(r.Bound, "loading") + " is the limit, not the GPU"
	default:
		f.Text += ", and what is the limit is not certain"
	}
	return f
}

// make puts the verdict into words.
func (v *verdict) make() *results.Verdict {
	b := v.bound
	r := &results.Verdict{Status: results.Holds, Bound: b.part, Feeds: results.Finite(v.feeds.Value),
		Demand: results.Finite(v.demand), DemandName: v.demandName, Margin: results.Finite(v.feeds.Value/v.demand - 1),
		Assumed: v.m.base.Assumed}
	if b.unsure == "" {
		r.Loader, r.Next, r.NextFeeds = b.part, b.next, results.Finite(b.nextRate)
	}
	feeds := fmt.Sprintf("%.0f images/s (%.0f to %.0f)", v.feeds.Value, v.feeds.Lo, v.feeds.Hi)
	loader := fmt.Sprintf("the loader feeds %s, and %s bounds it; without that it would be %s, at %.0f images/s",
		feeds, b.part, b.next, b.nextRate)
	takes := fmt.Sprintf("%s takes %.0f images/s", v.demandName, v.demand)
	switch {
	case b.unsure != "" && !(v.given && v.ahead):
		r.Status, r.Bound = results.Inconclusive, ""
		r.Text = fmt.Sprintf("what bounds the loader is not certain: %s. It feeds %s; %s", b.unsure, feeds, takes)
		switch {
		case v.ahead:
			r.Text += ", which is less: there the GPU is the limit"
		case v.behind:
			r.Text += ", which is more: loading is the limit of the training, whichever its part"
		}
	case v.ahead:
		r.Bound = boundGPU
		r.Text = takes + " and the loader feeds " + times(v.feeds.Value/v.demand, "that") +
			": there the GPU is the limit"
		if b.unsure == "" {
			r.Text = loader + "; " + r.Text
		}
		if !v.given {
			r.Text += ", and nothing below would help; a faster one is helped by it"
		}
	case v.behind:
		r.Text = loader + "; " + takes + ", which is " + times(v.demand/v.feeds.Value, "what it feeds") + ": " +
			b.part + " is the limit of the training"
	default:
		r.Status, r.Bound = results.Inconclusive, ""
		r.Text = loader + "; " + takes + ": whether that is more or less is not certain from " +
			results.Plural(v.restarts, "run") + ", --repeat 5 tells more"
	}
	r.Changes = v.changes(r)
	r.Notes = v.notes()
	return r
}

// times says how often a rate has another one, by less than twice in percent.
func times(x float64, other string) string {
	if x >= 2 {
		return twoDigits(x) + " times " + other
	}
	return fmt.Sprintf("%.0f %% more than %s", 100*(x-1), other)
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
	// machine that is quiet; what differs between restarts, and what the parts miss when
	// they are put together, comes on top.
	leastLead = 1.2
	restless  = 0.25 // of either, from which it is what makes a verdict uncertain
	noGain    = 0.02 // below which a change brings nothing
)

// bound is what bounds a loader by itself, and what comes next.
type bound struct {
	part, next string
	nextRate   float64 // images/s once part takes no time
	unsure     string  // why it is not certain; "" where it is
}

// costliest is the part without which a batch takes least; lead is by how much more it
// saves than the next one.
func (l loader) costliest(parts []string) (part string, lead float64) {
	left := func(part string) float64 { return l.without(part).stepTime() } // s a batch
	alone := func(part string) float64 {
		rest := l
		for _, p := range parts {
			if p != part {
				rest = rest.without(p)
			}
		}
		return rest.stepTime()
	}
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

// bound finds what bounds the loader.
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
	b.next, _ = rest.costliest(slices.DeleteFunc(parts, func(p string) bool { return p == part }))
	missed := math.Abs(math.Log(1 + m.missed))
	certain := lead >= leastLead*(1+2*m.spread)*math.Exp(missed)
	switch {
	case !m.split && b.part != results.PartCopy:
		b.unsure = "reading and preprocessing were not measured apart: " +
			"run it without --quick, or with the preprocess suite"
	case certain:
	case m.spread > restless/2:
		b.unsure = fmt.Sprintf("the loader's top speed differs by %.0f %% between restarts: "+
			"run it again on a quiet machine, with --repeat 3", 200*m.spread)
	case missed > restless:
		b.unsure = fmt.Sprintf("the parts, measured one by one, make %.0f %% of the time that all of them take "+
			"together: the machine did something else meanwhile, run it again on a quiet one", 100*(1+m.missed))
	default:
		b.unsure = b.part + " and the part after it cost about as much: neither alone bounds the loader"
	}
	return b
}
