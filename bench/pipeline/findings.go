package pipeline

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"dlbench/bench"
	"dlbench/bench/theory"
	"dlbench/results"
)

// claims says what the loader feeds and what each part costs it, and judges the articles'
// claims by it.
func claims(env bench.Env, rs []results.Result) []bench.Claim {
	p := finished{rs, env}
	const noLinks = "steps over links of different width were not measured"
	fastest := bench.Needs(func(q params) bool { return q.Step == 0 })
	links := bench.Needs(func(q params) bool { return q.Free == results.FreeLoading && q.Step > 0 })
	soaks := bench.Needs(func(q params) bool { return q.Soak > 0 })
	return []bench.Claim{
		{Name: "feeds", Missing: "what the loader feeds was not measured (step 0s)", Found: p.feeds(), Needs: fastest},
		{Name: "bound", Missing: "the bottleneck was not measured (each part removed in turn)",
			Found: p.parts(), Needs: fastest},
		{Name: "A2", Missing: noLinks, Found: p.serialLanes(), Needs: links},
		{Name: "A3", Missing: noLinks, Found: p.hiddenLanes(), Needs: links},
		{Name: "A5", Missing: "there is no GPU here", Found: p.memory()},
		{Name: "A9", Found: p.disk()},
		{Name: "A13", Missing: "no GPU worked without a pause until it was hot: --soak 60s, on a machine with one",
			Found: p.soaked(), Needs: soaks},
		{Name: "A16", Missing: "what waiting for a step takes was not measured (serial steps from pinned memory)",
			Found: p.spinning(), Needs: links},
	}
}

// finished is the cases of the suite.
type finished struct {
	results.PipelineCases
	env bench.Env
}

func paramsOf(r *results.Result) params { return results.As[params](r.Params) }

// feeds is the headline: the rate that the loader reaches by itself.
func (p finished) feeds() results.Finding {
	r := p.Fastest()
	if r == nil {
		return results.Finding{}
	}
	m, q := r.Metric("throughput"), paramsOf(r)
	x, medians := results.IntervalOf(m), results.RunMedians(m.Samples)
	several := len(medians) >= feedRestarts
	if several {
		x.Lo, x.Hi = slices.Min(medians), slices.Max(medians)
	}
	images := float64(p.env.Batch.Images)
	f := x.Finding(results.Holds, results.PerSecond, fmt.Sprintf("feeds up to %.0f images/s (%.0f to %.0f in %s), "+
		"with %s, %s, prefetch %d and %s kept busy by the step: enough for steps longer than %.4g ms for a batch of %.0f; %s",
		x.Value, x.Lo, x.Hi, results.Plural(len(medians), "run"), results.Plural(q.Workers, "worker"), q.Strategy, q.Prefetch,
		results.Plural(p.env.Step.CPU, "thread"), 1e3*(images/x.Lo), images, theory.DemandsMet(x.Lo, x.Hi)))
	if !several { // one run does not tell how much runs differ
		f.Verdict, f.Lo, f.Hi = results.Inconclusive, nil, nil
	}
	f.Assumed = r.Assumed
	return f
}

// parts says by how much a batch at top speed gets shorter where a part is free: taken
// away first, with the others there, and last, with the others gone. Stages that
// overlap hide each other, so the two differ, and what a part costs lies between.
func (p finished) parts() results.Finding {
	r := p.Fastest()
	if r == nil {
		return results.Finding{}
	}
	times := map[string]float64{} // of a batch, by what is free
	for _, c := range p.Where(func(q params) bool {
		same := paramsOf(r)
		same.Free = q.Free
		return q == same
	}) {
		times[paramsOf(c).Free] = c.Metric("step_time").Median
	}
	whole := times[results.FreeNothing]
	none, ok := times[results.FreeAll]
	var texts []string
	bound, most := "", results.Interval{}
	for _, part := range []struct{ name, others string }{
		{results.PartRead, results.PartPreprocess + "+" + results.PartCopy},
		{results.PartPreprocess, results.PartRead + "+" + results.PartCopy},
		{results.PartCopy, results.FreeLoading},
	} {
		first, ok1 := times[part.name]
		last, ok2 := times[part.others]
		if !ok || !ok1 || !ok2 {
			return results.Finding{}
		}
		a, b := whole-first, last-none
		lo, hi := max(0, min(a, b)), max(0, max(a, b))
		texts = append(texts, part.name+" "+results.FormatSeconds(lo)+" to "+results.FormatSeconds(hi))
		if hi > most.Value {
			bound, most = part.name, results.Interval{Value: hi, Lo: lo, Hi: hi}
		}
	}
	verdict := results.Inconclusive
	if most.Lo > 0.5*whole {
		verdict = results.Holds
	}
	f := most.Finding(verdict, results.Seconds, fmt.Sprintf("the bottleneck is %s; of the %s "+
		"of a batch each part costs, removed first and removed last: %s",
		cmp.Or(bound, "none of the parts"), results.FormatSeconds(whole), strings.Join(texts, ", ")))
	f.Assumed = r.Assumed
	return f
}

// memory is claim A5: RAM at least as large as the largest GPU's memory.
func (p finished) memory() results.Finding {
	var most int64
	for _, g := range p.env.Host.GPUs {
		most = max(most, g.Memory)
	}
	total := p.env.Host.Memory.Total
	if limit := p.env.Host.Memory.Limit; limit > 0 {
		total = min(total, limit)
	}
	switch {
	case len(p.env.Host.GPUs) == 0:
		return results.Finding{}
	case most == 0:
		return results.Finding{Text: "the memory of the GPUs is not known"}
	case total == 0:
		return results.Finding{Text: "how much RAM there is cannot be read here"}
	}
	ratio := float64(total) / float64(most)
	return results.Finding{Value: &ratio, Unit: results.Ratio,
		Verdict: results.Interval{Lo: ratio, Hi: ratio}.Verdict(1, math.Inf(1)),
		Text: fmt.Sprintf("this process may use %s of RAM; the largest GPU has %s",
			results.FormatBytes(total), results.FormatBytes(most))}
}

// disk is claim A9 in the pipeline: whole tensors from a simulated disk, read in turn
// with the step and ahead of it.
func (p finished) disk() (f results.Finding) {
	step := p.env.Step.Time
	tensors := p.Where(func(q params) bool {
		return q.Strategy == results.StrategyTensor && time.Duration(q.Step) == step && step > 0 &&
			q.Free == results.FreeNothing && q.Disk != results.RealDisk
	})
	for _, ahead := range tensors {
		of := paramsOf(ahead)
		same := of
		same.Prefetch = 0
		i := slices.IndexFunc(tensors, func(r *results.Result) bool { return paramsOf(r) == same })
		if i < 0 || of.Prefetch == 0 || f.Value != nil {
			continue
		}
		a := ahead.Metric("step_time")
		exposed, hidden := tensors[i].Metric("step_time").Median-step.Seconds(), a.Median-step.Seconds()
		f = results.Finding{Value: &hidden, Unit: results.Seconds, Assumed: ahead.Assumed,
			Verdict: results.IntervalOf(a).Verdict(0, (1+sameGain)*step.Seconds()),
			Text: fmt.Sprintf("from the simulated disk %s a batch of tensors makes a step %s longer "+
				"without prefetch, and %s longer with prefetch %d", of.Disk, results.FormatSeconds(exposed),
				results.FormatSeconds(max(0, hidden)), of.Prefetch)}
	}
	return f
}

// Margins of A2 and A3: the gain that counts as the article's, and as none.
const (
	articleGain  = 0.032 // (216+9)/(216+2) - 1
	sameGain     = 0.01
	serialMargin = 0.01
)

// serialLanes is claim A2, steps after copies: some gain, of the article's order.
func (p finished) serialLanes() results.Finding {
	f := p.lanes(true, "one after the other", "3.2 % (9 and 2 ms in practice, and a step of 216 ms)",
		serialMargin/2, 2*articleGain)
	if p.env.Step.Time != bench.DefaultStep.Time || p.env.Batch != theory.ArticleBatch { // others have another gain
		f.Verdict = results.NotMeasured
	}
	return f
}

// hiddenLanes is claim A3, copies under steps: no gain.
func (p finished) hiddenLanes() results.Finding {
	return p.lanes(false, "during the step before", "0 %", -sameGain, sameGain)
}

// lanes is what the widest link gains over the narrowest with batches that are copied so, as
// a share that should lie between lo and hi.
func (p finished) lanes(serial bool, how, article string, lo, hi float64) results.Finding {
	all := p.byLink(serial)
	if len(all) < 2 || p.env.Step.Time == 0 {
		return results.Finding{}
	}
	var texts []string
	for _, r := range all {
		texts = append(texts, results.FormatSeconds(r.Metric("step_time").Median)+" over "+paramsOf(r).Device)
	}
	slow, fast := all[0], all[len(all)-1]
	x := results.RatioOf(slow.Metric("step_time"), fast.Metric("step_time"))
	gain := results.Interval{Value: x.Value - 1, Lo: x.Lo - 1, Hi: x.Hi - 1}
	f := gain.Finding(gain.Verdict(lo, hi), results.Ratio, fmt.Sprintf("batches copied %s (pinned, prefetch %d): "+
		"a step takes %s, so %s gains %.2f %% over %s, in the article %s", how, paramsOf(fast).Prefetch,
		strings.Join(texts, ", "), paramsOf(fast).Device, 100*gain.Value, paramsOf(slow).Device, article))
	f.Assumed = slow.Assumed
	return f
}

// byLink are cases of steps alone that differ in their links, from the slowest link to the
// fastest: not by what came out, since a gain may be below 0. GPUs are not among them,
// whose links are not known before they copy.
func (p finished) byLink(serial bool) []*results.Result {
	var first *params
	all := p.Where(func(q params) bool {
		if q.Free != results.FreeLoading || q.Mem != "pinned" || (q.Prefetch == 0) != serial || linkRate(q.Device) == 0 ||
			time.Duration(q.Step) != p.env.Step.Time || q.Disk != results.RealDisk && !p.env.Disk.Emulated() {
			return false
		}
		if first == nil {
			first = &q
		}
		sameBut := *first
		sameBut.Device = q.Device
		return q == sameBut
	})
	slices.SortStableFunc(all, func(a, b *results.Result) int {
		return cmp.Compare(linkRate(paramsOf(a).Device), linkRate(paramsOf(b).Device))
	})
	return all
}

// linkRate is what the simulated link of a device is given, B/s; 0 for a GPU.
func linkRate(device string) float64 {
	d, _ := theory.ParseDevice(device) // as a report names it
	return d.Rates.Pinned
}
