package pipeline

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dlbench/bench"
	"dlbench/bench/theory"
	"dlbench/results"
)

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
	all := p.Find("free", results.FreeLoading, "mem", "pinned", "prefetch", prefetch, "step", p.env.Step.Time.String(), "disk", "real")
	if p.env.Disk.Emulated() {
		all = p.Find("free", results.FreeLoading, "mem", "pinned", "prefetch", prefetch, "step", p.env.Step.Time.String())
	}
	all = slices.DeleteFunc(all, func(r *results.Result) bool { return p.rate(r) == 0 }) // a GPU's link is not known before it copies
	if len(all) > 0 {                                                                    // that differ in their link alone
		first := all[0]
		all = slices.DeleteFunc(all, func(r *results.Result) bool { return !results.SameBut(r, first, "device") })
	}
	if len(all) < 2 || p.env.Step.Time == 0 {
		return f
	}
	// By link, not by what came out: a gain may be below 0.
	slices.SortStableFunc(all, func(a, b *results.Result) int { return cmp.Compare(p.rate(a), p.rate(b)) })
	var texts []string
	for _, r := range all {
		texts = append(texts, fmt.Sprintf("%s over %s", results.FormatSeconds(r.Metric("step_time").Median), r.Params.Text("device")))
	}
	slow, fast := all[0], all[len(all)-1]
	a, b := slow.Metric("step_time"), fast.Metric("step_time")
	alo, ahi := results.Bounds(a)
	blo, bhi := results.Bounds(b)
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
	if p.env.Step.Time != bench.DefaultStep.Time || p.env.Batch != theory.ArticleBatch {
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
	for _, r := range p.Find("free", results.FreeLoading, "mem", "pinned") {
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
