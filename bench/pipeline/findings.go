package pipeline

import (
	"fmt"
	"math"
	"strings"

	"dlbench/bench"
	"dlbench/bench/theory"
	"dlbench/results"
)

// pipelineFindings judges A2, A3, A5 and A9, says what the loader feeds, and what each
// part costs it.
func pipelineFindings(env bench.Env, rs []results.Result) []results.Finding {
	p := pipelineResults{results.PipelineCases{Rs: rs}, env}
	fs := []results.Finding{p.feeds(), p.parts()}
	fs = append(fs, p.lanes("A2", "0"), p.lanes("A3", p.ahead()), memoryFinding(env))
	if f, ok := p.disk(); ok {
		fs = append(fs, f)
	}
	return fs
}

// pipelineResults finds cases of the suite.
type pipelineResults struct {
	results.PipelineCases
	env bench.Env
}

// feeds is the headline: the rate that the loader reaches by itself.
func (p pipelineResults) feeds() results.Finding {
	f := results.Finding{Claim: "feeds", Verdict: results.NotMeasured, Text: "the loader's top speed was not measured (step 0s)"}
	r := p.Fastest()
	if r == nil {
		return f
	}
	m := r.Metric("throughput")
	medians := results.MediansOfRuns(m)
	lo, hi := math.Inf(1), 0.0
	for _, x := range medians {
		lo, hi = min(lo, x), max(hi, x)
	}
	if len(medians) < feedRestarts { // what one run tells
		lo, hi = results.Bounds(m)
	}
	x := m.Median
	f.Value, f.Unit, f.Assumed = &x, results.PerSecond, r.Assumed
	f.Verdict = results.Inconclusive
	by := ""
	switch {
	case lo >= x:
	case len(medians) >= feedRestarts:
		by = " by the slowest restart"
	default:
		by = " by the interval's lower end"
	}
	limit := 1e3 * theory.StepFor(lo, p.env.Batch.Images) // by the slowest, to be safe
	f.Text = fmt.Sprintf("feeds up to %.0f images/s: any step of batch %d longer than %.4g ms%s", x, p.env.Batch.Images, limit, by)
	if len(medians) >= feedRestarts {
		f.Lo, f.Hi = &lo, &hi
		f.Verdict = results.Holds
		f.Text += fmt.Sprintf(" (%.0f to %.0f images/s in %d restarts)", lo, hi, len(medians))
	} else {
		f.Text += fmt.Sprintf("; how much that differs between runs is not known from %d of them: --repeat %d", len(medians), feedRestarts)
	}
	f.Text += fmt.Sprintf(", with %s, %s, prefetch %d and %s kept busy by the step",
		results.Plural(int(r.Params.Int("workers")), "worker"), r.Params.Text("strategy"), r.Params.Int("prefetch"), results.Plural(p.env.Step.CPU, "thread"))
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
func (p pipelineResults) parts() results.Finding {
	f := results.Finding{Claim: "bound", Verdict: results.NotMeasured, Text: "what bounds the loader was not measured (parts made free in turn)"}
	r := p.Fastest()
	if r == nil {
		return f
	}
	batchTime := func(free string) (float64, bool) {
		for _, o := range p.Find("free", free) {
			if results.SameBut(o, r, "free") {
				return o.Metric("step_time").Median, true
			}
		}
		return 0, false
	}
	others := map[string]string{results.PartRead: results.PartPreprocess + "+" + results.PartCopy, results.PartPreprocess: results.PartRead + "+" + results.PartCopy, results.PartCopy: results.FreeLoading}
	whole, _ := batchTime(results.FreeNothing)
	none, ok := batchTime(results.FreeAll)
	if !ok {
		return f
	}
	var texts []string
	bound, most := "", 0.0
	for _, part := range []string{results.PartRead, results.PartPreprocess, results.PartCopy} {
		first, ok1 := batchTime(part)
		last, ok2 := batchTime(others[part])
		if !ok1 || !ok2 {
			return f
		}
		a, b := whole-first, last-none
		lo, hi := max(0, min(a, b)), max(0, max(a, b))
		texts = append(texts, fmt.Sprintf("%s %s to %s", part, results.FormatSeconds(lo), results.FormatSeconds(hi)))
		if hi > most {
			bound, most = part, hi
			f.Value, f.Lo, f.Hi = &hi, &lo, &hi
		}
	}
	f.Unit, f.Assumed = results.Seconds, r.Assumed
	f.Verdict = results.Inconclusive
	if f.Lo == nil {
		f.Text = fmt.Sprintf("no part costs a batch at top speed, of %s, a time that can be told", results.FormatSeconds(whole))
		return f
	}
	if *f.Lo > 0.5*whole {
		f.Verdict = results.Holds
	}
	f.Text = fmt.Sprintf("%s bounds the loader: of %s for a batch at top speed each part costs, taken away first and last: %s", bound, results.FormatSeconds(whole), strings.Join(texts, ", "))
	return f
}

// memoryFinding is claim A5: RAM at least as large as the largest GPU's memory.
func memoryFinding(env bench.Env) results.Finding {
	f := results.Finding{Claim: "A5", Verdict: results.NotMeasured, Text: "no GPU here whose memory the RAM could be held against"}
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
	f.Text = fmt.Sprintf("this process may use %s of RAM; the largest GPU has %s", results.FormatBytes(total), results.FormatBytes(most))
	return f
}

// disk is claim A9 in the pipeline: whole tensors from an assumed disk, read in turn
// with the step and ahead of it.
func (p pipelineResults) disk() (results.Finding, bool) {
	f := results.Finding{Claim: "A9", Verdict: results.Inconclusive}
	step := p.env.Step.Time
	if step == 0 {
		return f, false
	}
	for _, serial := range p.Find("strategy", results.StrategyTensor, "prefetch", "0", "step", step.String(), "free", results.FreeNothing) {
		if serial.Params.Text("disk") == "real" {
			continue
		}
		for _, ahead := range p.Find("strategy", results.StrategyTensor, "step", step.String(), "free", results.FreeNothing, "disk", serial.Params.Text("disk"), "device", serial.Params.Text("device")) {
			if ahead.Params.Int("prefetch") == 0 || !results.SameBut(ahead, serial, "prefetch") {
				continue
			}
			s, a := serial.Metric("step_time"), ahead.Metric("step_time")
			exposed, hidden := s.Median-step.Seconds(), a.Median-step.Seconds()
			_, hi := results.Bounds(a)
			lo, _ := results.Bounds(a)
			f.Value, f.Unit, f.Assumed = &hidden, results.Seconds, ahead.Assumed
			switch {
			case hi < (1+sameGain)*step.Seconds():
				f.Verdict = results.Holds
			case lo > (1+sameGain)*step.Seconds():
				f.Verdict = results.Fails
			}
			f.Text = fmt.Sprintf("over an assumed disk %s a batch of tensors makes a step %s longer when it is read in turn, and %s with prefetch %d",
				serial.Params.Text("disk"), results.FormatSeconds(exposed), results.FormatSeconds(max(0, hidden)), ahead.Params.Int("prefetch"))
			return f, true
		}
	}
	return f, false
}
