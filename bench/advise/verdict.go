package advise

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"dlbench/results"
)

// boundGPU is the Bound of a loader that is ahead of the demand.
const boundGPU = "gpu"

// Demanded is what a verdict holds the loader against.
type Demanded struct {
	Step time.Duration // that the user gave for a batch; 0 where none was given
	GPU  string        // or one of theory.GPUs
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
		rep.Verdict = &results.Verdict{Status: results.NotMeasured, Text: "no verdict: " + results.OneLine(err)}
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
	lo, hi = results.Bounds(t)
	if medians := results.MediansOfRuns(t); len(medians) > 1 {
		lo, hi = slices.Min(medians), slices.Max(medians)
	}
	return t.Median, lo, hi
}

// against tells whether the loader is certainly ahead of the demand, or behind it. How
// much restarts differ is not known of a single one.
func (v *verdict) against() (ahead, behind bool) {
	_, lo, hi := v.feeds()
	if len(results.MediansOfRuns(v.m.base.Metric("throughput"))) < 2 {
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
		r.Text = loader + "; " + against + ": whether that is more or less is not certain from " + results.Plural(len(results.MediansOfRuns(v.m.base.Metric("throughput"))), "run") + ", --repeat 5 tells more"
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
