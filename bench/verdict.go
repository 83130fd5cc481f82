package bench

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dlbench/bench/theory"
	"dlbench/results"
)

// boundGPU is the Bound of a loader that is ahead of the demand.
const boundGPU = "gpu"

// Demanded is what a verdict holds the loader against.
type Demanded struct {
	Step Step   // of the user
	GPU  string // or one of theory.GPUs
}

// Conclude adds to a report what bounds the machine, what would help, and how far the
// predictions behind that could be checked. A report without the pipeline suite gets
// none.
func Conclude(rep *results.Report, d Demanded) {
	rep.Predictions, rep.Verdict = nil, nil
	if !slices.ContainsFunc(rep.Results, func(r results.Result) bool { return r.Suite == "pipeline" }) {
		return
	}
	m, err := newLoaderModel(rep)
	if err != nil {
		rep.Verdict = &results.Verdict{Status: results.NotMeasured, Text: "no verdict: " + oneLine(err)}
		return
	}
	m.intervals = true
	v := &verdict{m: m, bound: m.bound(), checks: m.checks()}
	v.demand, v.demandName, v.given = demandOf(d.Step, d.GPU, m.batch.Images)
	for _, c := range m.usual() {
		p, err := m.predict(v.checks, 0, c)
		if err != nil { // not here
			continue
		}
		p.Cost = c.cost
		v.whatIfs = append(v.whatIfs, p)
	}
	for _, c := range v.checks {
		rep.Predictions = append(rep.Predictions, c.Prediction)
	}
	rep.Predictions = append(rep.Predictions, v.whatIfs...)
	rep.Verdict = v.make()
	rep.Findings = append(slices.DeleteFunc(rep.Findings, func(f results.Finding) bool { return f.Claim == "B4" }), v.finding(rep.Verdict))
}

// finding is claim B4: that it is loading, and not the GPU, which holds training up.
func (v *verdict) finding(r *results.Verdict) results.Finding {
	f := results.Finding{Claim: "B4", Verdict: results.Inconclusive, Value: r.Margin, Unit: results.Ratio, Assumed: r.Assumed}
	of := fmt.Sprintf("of the %.0f images/s that %s takes the loader can feed %.0f", v.demand, v.demandName, *r.Feeds)
	ahead, behind := v.against()
	switch {
	case ahead:
		f.Verdict, f.Text = results.Fails, of+": the GPU is the limit, not loading"
	case behind:
		f.Verdict, f.Text = results.Holds, of+": "+cmp.Or(r.Bound, "loading")+" is the limit, not the GPU"
	default:
		f.Text = of + ", and what is the limit is not certain"
	}
	return f
}

// verdict is what one is made of.
type verdict struct {
	m          *loaderModel
	bound      bound
	checks     []checked
	whatIfs    []results.Prediction
	demand     float64
	demandName string
	given      bool // by the user
}

// feeds is the loader's top speed, with the ends of its restarts or its interval.
func (v *verdict) feeds() (x, lo, hi float64) {
	t := v.m.base.Metric("throughput")
	lo, hi = bounds(t)
	if medians := runs(t); len(medians) > 1 {
		lo, hi = slices.Min(medians), slices.Max(medians)
	}
	return t.Median, lo, hi
}

// against tells whether the loader is certainly ahead of the demand, or behind it. How
// much restarts differ is not known of a single one.
func (v *verdict) against() (ahead, behind bool) {
	_, lo, hi := v.feeds()
	if len(runs(v.m.base.Metric("throughput"))) < 2 {
		lo, hi = lo*(1-realError), hi*(1+realError)
	}
	return lo > v.demand, hi < v.demand
}

func (v *verdict) make() *results.Verdict {
	x, lo, hi := v.feeds()
	ahead, behind := v.against()
	margin := x/v.demand - 1
	b := v.bound
	r := &results.Verdict{Status: results.Holds, Loader: b.part, Bound: b.part, Feeds: results.Finite(x), Demand: results.Finite(v.demand), DemandName: v.demandName,
		Margin: results.Finite(margin), Next: b.next, NextFeeds: results.Finite(b.nextRate), Assumed: v.m.base.Assumed}
	loader := fmt.Sprintf("the loader feeds %.0f images/s (%.0f to %.0f), and %s bounds it; without that it would be %s, at %.0f images/s", x, lo, hi, b.part, b.next, b.nextRate)
	against := fmt.Sprintf("%s takes %.0f images/s", v.demandName, v.demand)
	switch {
	case b.doubt != "" && !(v.given && ahead):
		r.Status, r.Bound, r.Loader, r.Next, r.NextFeeds = results.Inconclusive, "", "", "", nil
		r.Text = fmt.Sprintf("what bounds the loader is not certain: %s. It feeds %.0f images/s (%.0f to %.0f); %s", b.doubt, x, lo, hi, against)
		switch {
		case ahead:
			r.Text += ", which is less: there the GPU is the limit"
		case behind:
			r.Text += ", which is more: loading is the limit of the training, whichever its part"
		}
	case ahead:
		r.Bound = boundGPU
		if b.doubt != "" {
			r.Loader, r.Next, r.NextFeeds = "", "", nil
		}
		r.Text = against + " and the loader feeds " + times(x/v.demand, "that") + ": there the GPU is the limit"
		if b.doubt == "" {
			r.Text = loader + "; " + r.Text
		}
		if !v.given {
			r.Text += ", and nothing below would help; a faster one is helped by it"
		}
	case behind:
		r.Text = loader + "; " + against + ", which is " + times(v.demand/x, "what it feeds") + ": " + b.part + " is the limit of the training"
	default:
		r.Status, r.Bound = results.Inconclusive, ""
		r.Text = loader + "; " + against + ": whether that is more or less is not certain from " + plural(len(runs(v.m.base.Metric("throughput"))), "run") + ", --repeat 5 tells more"
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

// changes are those that help, settings before purchases, each by what it brings.
func (v *verdict) changes(r *results.Verdict) (lines []string) {
	if r.Bound == boundGPU && v.given {
		return []string{"nothing: the GPU is the limit"}
	}
	if r.Status == results.Inconclusive && r.Loader == "" {
		return lines
	}
	if goDecoder(v.m) {
		lines = append(lines, "free: install libjpeg-turbo, which decodes at three times the speed or more: then measure again")
	}
	var help []results.Prediction
	var unsure []string
	for _, p := range v.whatIfs {
		switch {
		case p.Cost == "" || p.Value == nil || *p.Value < (1+noGain)**p.Base:
		case *p.Lo <= *p.Base:
			unsure = append(unsure, fmt.Sprintf("%s (%.0f to %.0f images/s)", p.Change, *p.Lo, *p.Hi))
		default:
			help = append(help, p)
		}
	}
	slices.SortStableFunc(help, func(a, b results.Prediction) int {
		return cmp.Or(cmp.Compare(order(a.Cost), order(b.Cost)), -cmp.Compare(*a.Value, *b.Value))
	})
	for _, p := range help {
		lines = append(lines, v.advice(p))
	}
	if len(unsure) > 0 {
		lines = append(lines, "not certain to bring anything, by what was measured here: "+strings.Join(unsure, ", "))
	} else if len(help) == 0 {
		lines = append(lines, "none of the changes that were tried brings more than 2 %")
	}
	return lines
}

func order(cost string) int {
	if cost == results.Free {
		return 0
	}
	return 1
}

// advice is a change in words, with what it brings and what that rests on.
func (v *verdict) advice(p results.Prediction) string {
	s := fmt.Sprintf("%s: %s: %.0f instead of %.0f images/s (%+.0f %%; %.0f to %.0f)", p.Cost, p.Change, *p.Value, *p.Base, 100*(*p.Value / *p.Base - 1), *p.Lo, *p.Hi)
	if v.given && *p.Base < v.demand {
		switch {
		case *p.Lo > v.demand:
			s += ", enough"
		case *p.Hi > v.demand:
			s += ", perhaps enough"
		default:
			s += ", not enough"
		}
	}
	return s + "; " + rests(p)
}

// rests says what a prediction rests on.
func rests(p results.Prediction) string {
	var s []string
	if p.Error != nil {
		e := fmt.Sprintf("its model was off by up to %.1f %%", 100**p.Error)
		if p.Checks > 0 {
			e += fmt.Sprintf(" in %s of this kind", plural(p.Checks, "check"))
		} else {
			e += " in four of five checks, none of them of this kind"
		}
		s = append(s, e)
	} else if !strings.Contains(p.Note, measuredHere) {
		s = append(s, "unchecked")
	}
	if p.Extrapolated {
		s = append(s, "extrapolated")
	}
	if p.Note != "" {
		s = append(s, p.Note)
	}
	return strings.Join(s, "; ")
}

// mostLost is the share of the CPU time that may be missing before it is told.
const mostLost = 0.1

// granted is the share of the CPU time that the loader had, of what it could use by its
// replay; 1 where it is not known.
func (m *loaderModel) granted() float64 {
	cpu := m.base.Metric("cpu")
	o := m.replay.Run()
	step, work := m.base.Metric("step_time").Median, o.By.Preprocess/max(o.Mean(), 1e-9)
	if cpu == nil || step <= 0 || work < 0.5 { // it waits for something else
		return 1
	}
	busy := float64(m.replay.Workers + m.replay.Busy)
	return min(1, cpu.Median/step/(work*float64(m.replay.Workers)*min(1, m.cores/busy)))
}

// goDecoder tells whether Go's decoder stood in for libjpeg-turbo.
func goDecoder(m *loaderModel) bool {
	name, ok := m.base.Proof["decoder"].(string)
	return ok && strings.HasPrefix(name, "Go")
}

// notes are what the verdict rests on, and what it says of the articles' other claims.
func (v *verdict) notes() (lines []string) {
	m := v.m
	if name, ok := m.base.Proof["decoder"].(string); ok {
		if goDecoder(m) {
			lines = append(lines, "decoded by "+name+", since libjpeg-turbo is missing: a loader that has it is three times as fast or more, and bound by something else perhaps")
		} else {
			lines = append(lines, "decoded by "+name+", as loaders in Python that use this library would")
		}
	}
	if m.split && !m.apart && !slices.Contains(m.base.Assumed, "disk") {
		lines = append(lines, "reading and preprocessing are told apart by the preprocess suite alone, not in the pipeline")
	}
	for _, part := range []struct{ name, what string }{
		{"link", "the link is assumed: what is said of copies follows from " + m.base.Params.Text("device")},
		{"disk", "the disk is assumed: what is said of reading follows from " + m.base.Params.Text("disk")},
	} {
		if slices.Contains(m.base.Assumed, part.name) {
			lines = append(lines, part.what)
		}
	}
	if lost := 1 - m.granted(); lost > mostLost {
		lines = append(lines, fmt.Sprintf("other programs took %.0f %% of the CPU time that the loader could use: its speed on a quiet machine is higher", 100*lost))
	}
	if _, emulated := m.diskOf(m.base); !emulated && m.rep.Dataset != nil {
		lines = append(lines, "the data was read from the page cache, as in all epochs but the first where it fits into RAM")
	}
	var needs []string
	for _, d := range theory.Demands {
		if n, ok := theory.CoresNeeded(m.rates, d.Rate()); ok {
			text := twoDigits(n.Threads) + " for " + d.Name
			if n.Extrapolated {
				text = "at least " + text + " (extrapolated)"
			}
			needs = append(needs, text)
		}
	}
	if len(needs) > 0 {
		lines = append(lines, fmt.Sprintf("cores a GPU (A7, A17): %s, beside %s that the step keeps busy", strings.Join(needs, ", "), plural(m.replay.Busy, "thread")))
	}
	for _, p := range v.whatIfs {
		if p.Kind == kindGPUs && p.Value != nil {
			lines = append(lines, fmt.Sprintf("%s is fed %.0f images/s (%.0f to %.0f; A6, extrapolated, each with a link as now)", p.Change, *p.Value, *p.Lo, *p.Hi))
		}
	}
	if f := memoryFinding(Env{Host: m.rep.Host}); f.Verdict != results.NotMeasured {
		word := "at least as much as"
		if f.Verdict == results.Fails {
			word = "less than"
		}
		lines = append(lines, fmt.Sprintf("RAM against the largest GPU's memory (A5): %s; that is %s the article asks for", f.Text, word))
	}
	return lines
}
