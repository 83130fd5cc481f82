package bench

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"dlbench/bench/theory"
	"dlbench/results"
)

// pipelineFindings judges A2, A3, A5 and A9, says what the loader feeds, and what each
// part costs it.
func pipelineFindings(env Env, rs []results.Result) []results.Finding {
	p := pipelineResults{env: env, rs: rs}
	fs := []results.Finding{p.feeds(), p.parts()}
	fs = append(fs, p.lanes("A2", "0"), p.lanes("A3", p.ahead()), memoryFinding(env))
	if f, ok := p.disk(); ok {
		fs = append(fs, f)
	}
	return fs
}

// pipelineResults finds cases of the suite.
type pipelineResults struct {
	env Env
	rs  []results.Result
}

// find returns the OK cases with these parameters, in order.
func (p pipelineResults) find(pairs ...string) []*results.Result {
	return pick(p.rs, func(r *results.Result) bool {
		if r.Suite != "pipeline" || r.Metric("step_time") == nil {
			return false
		}
		for i := 0; i < len(pairs); i += 2 {
			if r.Params.Text(pairs[i]) != pairs[i+1] {
				return false
			}
		}
		return true
	})
}

// same tells whether two cases have the same parameters, but for one.
func same(a, b *results.Result, but string) bool {
	for _, q := range a.Params {
		if q.Key != but && a.Params.Text(q.Key) != b.Params.Text(q.Key) {
			return false
		}
	}
	return len(a.Params) == len(b.Params)
}

// fastest is the case of the loader's top speed that feeds most.
func (p pipelineResults) fastest() *results.Result {
	var best *results.Result
	for _, r := range p.find("step", "0s", "free", nothing) {
		if r.Metric("throughput") != nil && (best == nil || r.Metric("throughput").Median > best.Metric("throughput").Median) &&
			(best == nil || alike(r, best)) {
			best = r
		}
	}
	return best
}

// alike tells whether two cases load the same data in the same way, whatever else
// differs.
func alike(a, b *results.Result) bool {
	for _, key := range []string{"strategy", "disk", "cpus"} {
		if a.Params.Text(key) != b.Params.Text(key) {
			return false
		}
	}
	return true
}

// runs are the medians of a metric in each restart.
func runs(m *results.Metric) (medians []float64) {
	by := map[int][]float64{}
	most := 0
	for _, s := range m.Samples {
		by[s.Run] = append(by[s.Run], s.Value)
		most = max(most, s.Run)
	}
	for i := range most + 1 {
		if len(by[i]) > 0 {
			medians = append(medians, middle(by[i]))
		}
	}
	return medians
}

// feeds is the headline: the rate that the loader reaches by itself.
func (p pipelineResults) feeds() results.Finding {
	f := results.Finding{Claim: "feeds", Verdict: results.NotMeasured, Text: "the loader's top speed was not measured (step 0s)"}
	r := p.fastest()
	if r == nil {
		return f
	}
	m := r.Metric("throughput")
	medians := runs(m)
	lo, hi := math.Inf(1), 0.0
	for _, x := range medians {
		lo, hi = min(lo, x), max(hi, x)
	}
	if len(medians) < feedRestarts { // what one run tells
		lo, hi = bounds(m)
	}
	x := m.Median
	f.Value, f.Unit, f.Assumed = &x, results.PerSecond, r.Assumed
	f.Verdict = results.Inconclusive
	limit := 1e3 * theory.StepFor(lo, p.env.Batch.Images) // by the slowest, to be safe
	f.Text = fmt.Sprintf("feeds up to %.0f images/s: any step of batch %d longer than %.4g ms", x, p.env.Batch.Images, limit)
	if len(medians) >= feedRestarts {
		f.Lo, f.Hi = &lo, &hi
		f.Verdict = results.Holds
		f.Text += fmt.Sprintf(" (%.0f to %.0f images/s in %d restarts)", lo, hi, len(medians))
	} else {
		f.Text += fmt.Sprintf("; how much that differs between runs is not known from %d of them: --repeat %d", len(medians), feedRestarts)
	}
	f.Text += fmt.Sprintf(", with %s, %s, prefetch %d and %s kept busy by the step",
		plural(int(r.Params.Int("workers")), "worker"), r.Params.Text("strategy"), r.Params.Int("prefetch"), plural(p.env.Step.CPU, "thread"))
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

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// parts says by how much a batch at top speed gets shorter where a part is free: taken
// away first, with the others there, and last, with the others gone. Stages that
// overlap hide each other, so the two differ, and what a part costs lies between.
func (p pipelineResults) parts() results.Finding {
	f := results.Finding{Claim: "bound", Verdict: results.NotMeasured, Text: "what bounds the loader was not measured (parts made free in turn)"}
	r := p.fastest()
	if r == nil {
		return f
	}
	batchTime := func(free string) (float64, bool) {
		for _, o := range p.find("free", free) {
			if same(o, r, "free") {
				return o.Metric("step_time").Median, true
			}
		}
		return 0, false
	}
	others := map[string]string{partRead: partPreprocess + "+" + partCopy, partPreprocess: partRead + "+" + partCopy, partCopy: loading}
	whole, _ := batchTime(nothing)
	none, ok := batchTime(everything)
	if !ok {
		return f
	}
	var texts []string
	bound, most := "", 0.0
	for _, part := range []string{partRead, partPreprocess, partCopy} {
		first, ok1 := batchTime(part)
		last, ok2 := batchTime(others[part])
		if !ok1 || !ok2 {
			return f
		}
		a, b := whole-first, last-none
		lo, hi := max(0, min(a, b)), max(0, max(a, b))
		texts = append(texts, fmt.Sprintf("%s %s to %s", part, ms(lo), ms(hi)))
		if hi > most {
			bound, most = part, hi
			f.Value, f.Lo, f.Hi = &hi, &lo, &hi
		}
	}
	f.Unit, f.Assumed = results.Seconds, r.Assumed
	f.Verdict = results.Inconclusive
	if f.Lo == nil {
		f.Text = fmt.Sprintf("no part costs a batch at top speed, of %s, a time that can be told", ms(whole))
		return f
	}
	if *f.Lo > 0.5*whole {
		f.Verdict = results.Holds
	}
	f.Text = fmt.Sprintf("%s bounds the loader: of %s for a batch at top speed each part costs, taken away first and last: %s", bound, ms(whole), strings.Join(texts, ", "))
	return f
}

// Margins of A2 and A3: the gain that counts as the article's, and as none.
const (
	articleGain  = 0.032 // (216+9)/(216+2) - 1
	sameGain     = 0.01
	serialMargin = 0.01
)

// lanes is claim A2, steps after copies, or A3, copies under steps: what the widest
// link gains over the narrowest.
func (p pipelineResults) lanes(claim, prefetch string) results.Finding {
	f := results.Finding{Claim: claim, Verdict: results.NotMeasured,
		Text: "steps over links of different width were not measured"}
	how := "one after the other"
	if prefetch != "0" {
		how = fmt.Sprintf("copied under the step before (pinned, prefetch %s)", prefetch)
	}
	all := p.find("free", loading, "mem", "pinned", "prefetch", prefetch, "step", p.env.Step.Time.String(), "disk", "real")
	if p.env.Disk.Emulated() {
		all = p.find("free", loading, "mem", "pinned", "prefetch", prefetch, "step", p.env.Step.Time.String())
	}
	all = slices.DeleteFunc(all, func(r *results.Result) bool { return p.rate(r) == 0 }) // a GPU's link is not known before it copies
	if len(all) > 0 {                                                                    // that differ in their link alone
		first := all[0]
		all = slices.DeleteFunc(all, func(r *results.Result) bool { return !same(r, first, "device") })
	}
	if len(all) < 2 || p.env.Step.Time == 0 {
		return f
	}
	// By link, not by what came out: a gain may be below 0.
	slices.SortStableFunc(all, func(a, b *results.Result) int { return cmp.Compare(p.rate(a), p.rate(b)) })
	var texts []string
	for _, r := range all {
		texts = append(texts, fmt.Sprintf("%s over %s", ms(r.Metric("step_time").Median), r.Params.Text("device")))
	}
	slow, fast := all[0], all[len(all)-1]
	a, b := slow.Metric("step_time"), fast.Metric("step_time")
	alo, ahi := bounds(a)
	blo, bhi := bounds(b)
	gain, lo, hi := a.Median/b.Median-1, alo/bhi-1, ahi/blo-1
	f.Value, f.Lo, f.Hi, f.Unit, f.Assumed = &gain, &lo, &hi, results.Ratio, slow.Assumed
	f.Verdict = results.Inconclusive
	where := ""
	if len(slow.Assumed) > 0 {
		where = " over assumed links"
	}
	text := fmt.Sprintf("batches %s: %s a step, so %s gains %.2f %% over %s%s", how, strings.Join(texts, ", "),
		fast.Params.Text("device"), 100*gain, slow.Params.Text("device"), where)
	if claim == "A3" {
		switch {
		case lo > -sameGain && hi < sameGain:
			f.Verdict = results.Holds
		case lo > sameGain || hi < -sameGain:
			f.Verdict = results.Fails
		}
		f.Text = text + ", where the article has 0 %"
		return f
	}
	f.Text = text + ", where the article has 3.2 % from its 9 and 2 ms in practice and a step of 216 ms"
	if p.env.Step.Time != DefaultStep.Time || p.env.Batch != theory.ArticleBatch {
		f.Verdict = results.NotMeasured // another step and batch have another gain
		return f
	}
	switch { // some gain, of the article's order
	case lo > serialMargin/2 && hi < 2*articleGain:
		f.Verdict = results.Holds
	case hi < serialMargin/2 || lo > 2*articleGain:
		f.Verdict = results.Fails
	}
	return f
}

// ahead is the least prefetch above 0 that was measured over several devices.
func (p pipelineResults) ahead() string {
	least, devices := int64(0), map[int64]string{}
	for _, r := range p.find("free", loading, "mem", "pinned") {
		n, device := r.Params.Int("prefetch"), r.Params.Text("device")
		if first, ok := devices[n]; ok && first != device && n > 0 && (least == 0 || n < least) {
			least = n
		} else if !ok {
			devices[n] = device
		}
	}
	if least == 0 {
		return lanesAhead
	}
	return strconv.FormatInt(least, 10)
}

// rate is what the assumed link of a case is given, B/s; 0 for a GPU.
func (p pipelineResults) rate(r *results.Result) float64 {
	for _, d := range p.env.Devices {
		if i := d.Info(); i.Spec == r.Params.Text("device") {
			return i.Rates.Pinned
		}
	}
	return 0
}

// memoryFinding is claim A5: RAM at least as large as the largest GPU's memory.
func memoryFinding(env Env) results.Finding {
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
	for _, serial := range p.find("strategy", strategyTensor, "prefetch", "0", "step", step.String(), "free", nothing) {
		if serial.Params.Text("disk") == "real" {
			continue
		}
		for _, ahead := range p.find("strategy", strategyTensor, "step", step.String(), "free", nothing, "disk", serial.Params.Text("disk"), "device", serial.Params.Text("device")) {
			if ahead.Params.Int("prefetch") == 0 || !same(ahead, serial, "prefetch") {
				continue
			}
			s, a := serial.Metric("step_time"), ahead.Metric("step_time")
			exposed, hidden := s.Median-step.Seconds(), a.Median-step.Seconds()
			_, hi := bounds(a)
			lo, _ := bounds(a)
			f.Value, f.Unit, f.Assumed = &hidden, results.Seconds, ahead.Assumed
			switch {
			case hi < (1+sameGain)*step.Seconds():
				f.Verdict = results.Holds
			case lo > (1+sameGain)*step.Seconds():
				f.Verdict = results.Fails
			}
			f.Text = fmt.Sprintf("over an assumed disk %s a batch of tensors makes a step %s longer when it is read in turn, and %s with prefetch %d",
				serial.Params.Text("disk"), ms(exposed), ms(max(0, hidden)), ahead.Params.Int("prefetch"))
			return f, true
		}
	}
	return f, false
}
