package pipeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"dlbench/bench"
	"dlbench/bench/theory"
	"dlbench/results"
)

// pipelineFindings judges A2, A3, A5 and A9, says what the loader feeds, and what each
// part costs it.
func pipelineFindings(env bench.Env, rs []results.Result) []results.Finding {
	p := finished{results.PipelineCases(rs), env}
	fs := []results.Finding{p.feeds(), p.parts()}
	fs = append(fs, p.lanes("A2", 0), p.lanes("A3", p.leastPrefetch()), memoryFinding(env))
	if f, ok := p.disk(); ok {
		fs = append(fs, f)
	}
	return fs
}

// finished is the cases of the suite.
type finished struct {
	results.PipelineCases
	env bench.Env
}

func paramsOf(r *results.Result) params { return results.As[params](r.Params) }

// feeds is the headline: the rate that the loader reaches by itself.
func (p finished) feeds() results.Finding {
	f := results.Finding{Claim: "feeds", Verdict: results.NotMeasured,
		Text: "the loader's top speed was not measured (step 0s)"}
	r := p.Fastest()
	if r == nil {
		return f
	}
	m := r.Metric("throughput")
	medians := results.RunMedians(m.Samples)
	lo, hi := results.Bounds(m) // what one run says
	by := " by the interval's lower end"
	restarted := len(medians) >= feedRestarts
	if restarted {
		lo, hi = slices.Min(medians), slices.Max(medians)
		by = " by the slowest restart"
	}
	x := m.Median
	if lo >= x {
		by = ""
	}
	f.Value, f.Unit, f.Assumed = &x, results.PerSecond, r.Assumed
	f.Verdict = results.Inconclusive
	images := p.env.Batch.Images
	f.Text = fmt.Sprintf("feeds up to %.0f images/s: any step of batch %d longer than %.4g ms%s",
		x, images, 1e3*theory.StepFor(lo, images), by) // by the slowest, to be safe
	if restarted {
		f.Lo, f.Hi = &lo, &hi
		f.Verdict = results.Holds
		f.Text += fmt.Sprintf(" (%.0f to %.0f images/s in %d restarts)", lo, hi, len(medians))
	} else {
		f.Text += fmt.Sprintf("; how much that differs between runs is not known from %d of them: --repeat %d",
			len(medians), feedRestarts)
	}
	q := paramsOf(r)
	f.Text += fmt.Sprintf(", with %s, %s, prefetch %d and %s kept busy by the step",
		results.Plural(q.Workers, "worker"), q.Strategy, q.Prefetch, results.Plural(p.env.Step.CPU, "thread"))
	var enough, not []string
	for _, d := range theory.Demands {
		name := fmt.Sprintf("%s (%.0f)", d.Name, d.Rate())
		switch {
		case lo > d.Rate():
			enough = append(enough, name)
		case hi < d.Rate():
			not = append(not, name)
		default:
			not = append(not, name+" perhaps")
		}
	}
	if len(enough) > 0 {
		f.Text += ". Enough for " + strings.Join(enough, ", ")
	}
	if len(not) > 0 {
		f.Text += ". Not for " + strings.Join(not, ", ")
	}
	return f
}

// parts says by how much a batch at top speed gets shorter where a part is free: taken
// away first, with the others there, and last, with the others gone. Stages that
// overlap hide each other, so the two differ, and what a part costs lies between.
func (p finished) parts() results.Finding {
	f := results.Finding{Claim: "bound", Verdict: results.NotMeasured,
		Text: "what bounds the loader was not measured (parts made free in turn)"}
	r := p.Fastest()
	if r == nil {
		return f
	}
	batchTime := func(free string) (float64, bool) {
		q := paramsOf(r)
		q.Free = free
		found := p.Where(func(o params) bool { return o == q })
		if len(found) == 0 {
			return 0, false
		}
		return found[0].Metric("step_time").Median, true
	}
	whole, _ := batchTime(results.FreeNothing)
	none, ok := batchTime(results.FreeAll)
	if !ok {
		return f
	}
	var texts []string
	bound, most := "", 0.0
	for _, part := range []struct{ name, others string }{
		{results.PartRead, results.PartPreprocess + "+" + results.PartCopy},
		{results.PartPreprocess, results.PartRead + "+" + results.PartCopy},
		{results.PartCopy, results.FreeLoading},
	} {
		first, ok1 := batchTime(part.name)
		last, ok2 := batchTime(part.others)
		if !ok1 || !ok2 {
			return f
		}
		a, b := whole-first, last-none
		lo, hi := max(0, min(a, b)), max(0, max(a, b))
		texts = append(texts, part.name+" "+results.FormatSeconds(lo)+" to "+results.FormatSeconds(hi))
		if hi > most {
			bound, most = part.name, hi
			f.Value, f.Lo, f.Hi = &hi, &lo, &hi
		}
	}
	f.Unit, f.Assumed = results.Seconds, r.Assumed
	f.Verdict = results.Inconclusive
	if f.Lo == nil {
		f.Text = fmt.Sprintf("no part costs a batch at top speed, of %s, a time that can be told",
			results.FormatSeconds(whole))
		return f
	}
	if *f.Lo > 0.5*whole {
		f.Verdict = results.Holds
	}
	f.Text = fmt.Sprintf("%s bounds the loader: of %s for a batch at top speed each part costs, "+
		"taken away first and last: %s", bound, results.FormatSeconds(whole), strings.Join(texts, ", "))
	return f
}

// memoryFinding is claim A5: RAM at least as large as the largest GPU's memory.
func memoryFinding(env bench.Env) results.Finding {
	f := results.Finding{Claim: "A5", Verdict: results.NotMeasured,
		Text: "no GPU here whose memory the RAM could be held against"}
	var most int64
	for _, g := range env.Host.GPUs {
		most = max(most, g.Memory)
	}
	total := env.Host.Memory.Total
	if env.Host.Memory.Limit > 0 {
		total = min(total, env.Host.Memory.Limit)
	}
	if most == 0 || total == 0 {
		return f
	}
	ratio := float64(total) / float64(most)
	f.Value, f.Unit, f.Verdict = &ratio, results.Ratio, results.Holds
	if ratio < 1 {
		f.Verdict = results.Fails
	}
	f.Text = fmt.Sprintf("this process may use %s of RAM; the largest GPU has %s",
		results.FormatBytes(total), results.FormatBytes(most))
	return f
}

// disk is claim A9 in the pipeline: whole tensors from an assumed disk, read in turn
// with the step and ahead of it.
func (p finished) disk() (results.Finding, bool) {
	f := results.Finding{Claim: "A9"}
	step := p.env.Step.Time
	if step == 0 {
		return f, false
	}
	for _, serial := range p.Where(func(q params) bool {
		return q.Strategy == results.StrategyTensor && q.Prefetch == 0 && time.Duration(q.Step) == step &&
			q.Free == results.FreeNothing && q.Disk != results.RealDisk
	}) {
		of := paramsOf(serial)
		for _, ahead := range p.Where(func(q params) bool {
			sameBut := of
			sameBut.Prefetch = q.Prefetch
			return q.Prefetch > 0 && q == sameBut
		}) {
			s, a := serial.Metric("step_time"), ahead.Metric("step_time")
			exposed, hidden := s.Median-step.Seconds(), a.Median-step.Seconds()
			f.Value, f.Unit, f.Assumed = &hidden, results.Seconds, ahead.Assumed
			f.Verdict = results.IntervalOf(a).Verdict(0, (1+sameGain)*step.Seconds())
			f.Text = fmt.Sprintf("over an assumed disk %s a batch of tensors makes a step %s longer "+
				"when it is read in turn, and %s with prefetch %d", of.Disk, results.FormatSeconds(exposed),
				results.FormatSeconds(max(0, hidden)), paramsOf(ahead).Prefetch)
			return f, true
		}
	}
	return f, false
}

// Margins of A2 and A3: the gain that counts as the article's, and as none.
const (
	articleGain  = 0.032 // (216+9)/(216+2) - 1
	sameGain     = 0.01
	serialMargin = 0.01
)

// lanes is claim A2, steps after copies, or A3, copies under steps: what the widest
// link gains over the narrowest.
func (p finished) lanes(claim string, prefetch int) results.Finding {
	f := results.Finding{Claim: claim, Verdict: results.NotMeasured,
		Text: "steps over links of different width were not measured"}
	how := "one after the other"
	if prefetch > 0 {
		how = fmt.Sprintf("copied under the step before (pinned, prefetch %d)", prefetch)
	}
	all := p.byLink(prefetch)
	if len(all) < 2 || p.env.Step.Time == 0 {
		return f
	}
	var texts []string
	for _, r := range all {
		texts = append(texts, results.FormatSeconds(r.Metric("step_time").Median)+" over "+paramsOf(r).Device)
	}
	slow, fast := all[0], all[len(all)-1]
	x := results.RatioOf(slow.Metric("step_time"), fast.Metric("step_time"))
	gain := results.Interval{Value: x.Value - 1, Lo: x.Lo - 1, Hi: x.Hi - 1}
	f.Value, f.Lo, f.Hi, f.Unit, f.Assumed = &gain.Value, &gain.Lo, &gain.Hi, results.Ratio, slow.Assumed
	where := ""
	if len(slow.Assumed) > 0 {
		where = " over assumed links"
	}
	f.Text = fmt.Sprintf("batches %s: %s a step, so %s gains %.2f %% over %s%s", how, strings.Join(texts, ", "),
		paramsOf(fast).Device, 100*gain.Value, paramsOf(slow).Device, where)
	if claim == "A3" {
		f.Text += ", where the article has 0 %"
		f.Verdict = gain.Verdict(-sameGain, sameGain)
		return f
	}
	f.Text += ", where the article has 3.2 % from its 9 and 2 ms in practice and a step of 216 ms"
	if p.env.Step.Time == bench.DefaultStep.Time && p.env.Batch == theory.ArticleBatch { // others have another gain
		f.Verdict = gain.Verdict(serialMargin/2, 2*articleGain) // some gain, of the article's order
	}
	return f
}

// byLink are cases of steps alone that differ in their links, from the slowest link to the
// fastest: not by what came out, since a gain may be below 0. GPUs are not among them,
// whose links are not known before they copy.
func (p finished) byLink(prefetch int) []*results.Result {
	var first *params
	all := p.Where(func(q params) bool {
		if q.Free != results.FreeLoading || q.Mem != "pinned" || q.Prefetch != prefetch || p.linkRate(q.Device) == 0 ||
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
		return cmp.Compare(p.linkRate(paramsOf(a).Device), p.linkRate(paramsOf(b).Device))
	})
	return all
}

// leastPrefetch is the least prefetch above 0 that was measured over several links.
func (p finished) leastPrefetch() int {
	least := 0
	for _, r := range p.Where(func(q params) bool { return q.Prefetch > 0 }) {
		if n := paramsOf(r).Prefetch; (least == 0 || n < least) && len(p.byLink(n)) > 1 {
			least = n
		}
	}
	return cmp.Or(least, lanesAhead)
}

// linkRate is what the assumed link of a device is given, B/s; 0 for a GPU.
func (p finished) linkRate(device string) float64 {
	if d := p.env.Device(device); d != nil {
		return d.Info().Rates.Pinned
	}
	return 0
}
