package pcie

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"dlbench/bench"
	"dlbench/bench/host"
	"dlbench/bench/theory"
	"dlbench/results"
)

// Claim A6: up to how many GPUs lanes do not matter, and how many each wants with more.
const (
	fewGPUs   = 3
	wantLanes = 8
)

// severalGPUs is claim A6: by how much devices slow each other down that copy at once,
// and whether what is left meets the demand of the article's step.
func severalGPUs(env bench.Env, all []deviceCopies) results.Finding {
	if len(all) < 2 {
		return results.Finding{}
	}
	var parts []string
	worst := results.Interval{Value: math.Inf(1)}
	least, most := math.Inf(1), math.Inf(1) // images/s of the slowest device, by its interval
	lanes := math.MaxInt                    // of the narrowest link, 0 where one is not known
	certain := true
	for _, x := range all {
		alone, shared := x.whole("pinned"), x.atOnce()
		if alone == nil || shared == nil {
			return results.Finding{}
		}
		kept := results.RatioOf(shared.Metric("bandwidth"), alone.Metric("bandwidth"))
		if kept.Value < worst.Value {
			worst = kept
		}
		parts = append(parts, fmt.Sprintf("%s is %.0f %% slower (%s instead of %s)",
			x.Spec, 100*max(0, 1-kept.Value), rate(shared), rate(alone)))
		certain = certain && !flattered(shared)
		time, images := results.IntervalOf(shared.Metric("time")), float64(env.Batch.Images)
		least, most = min(least, images/time.Hi), min(most, images/time.Lo)
		link, _ := theory.ParseLink(results.As[results.PCIeProof](alone.Proof).Link)
		lanes = min(lanes, link.Lanes)
	}
	texts := []string{fmt.Sprintf("when all %d GPUs copy batches from pinned memory at once, %s",
		len(all), strings.Join(parts, ", "))}
	texts = append(texts, sharedPorts(env, all)...)
	texts = append(texts, fmt.Sprintf("the slowest still receives %.0f images/s%s", least,
		", "+theory.DemandsMet(least, least)))
	if !certain {
		texts = append(texts, "the other copies paused at times, so it may be less")
	}
	if lanes == 0 {
		texts = append(texts, "how many lanes each has is not known")
	}
	demand := theory.Demands[0].Rate()
	met, missed := least > demand && certain, most < demand
	enough := len(all) <= fewGPUs || lanes >= wantLanes // by the claim
	verdict := results.Holds
	switch {
	case !met && !missed, len(all) > fewGPUs && lanes == 0:
		verdict = results.Inconclusive
	case met != enough:
		verdict = results.Fails
	}
	return worst.Finding(verdict, results.Ratio, strings.Join(texts, "; "))
}

func rate(r *results.Result) string {
	return results.FormatValue(results.MedianOf(r, "bandwidth"), results.BytesPerSecond)
}

// sharedPorts names the links that devices share: all of them pass one port.
func sharedPorts(env bench.Env, all []deviceCopies) (texts []string) {
	spec := map[string]string{}
	var pcis []string
	for _, x := range all {
		pcis = append(pcis, x.PCI)
		spec[x.PCI] = x.Spec
	}
	for _, p := range host.SharedPorts(env.Root, pcis) {
		var names []string
		for _, d := range p.Devices {
			names = append(names, spec[d])
		}
		text := results.InWords(names) + " share the port " + p.Port
		if w := cmp.Or(p.Link.Width, p.Link.MaxWidth); w > 0 {
			text += fmt.Sprintf(" of x%d", w)
		}
		texts = append(texts, text)
	}
	return texts
}

// siblingShare is the share of its siblings' rate below which a device is slow.
const siblingShare = 0.8

// siblings compares devices of one model, and warns of one that is much slower than the
// others: a slot with fewer lanes, a riser, a link that came up slow.
func siblings(all []deviceCopies) results.Finding {
	if len(all) < 2 {
		return results.Finding{}
	}
	best := slices.MaxFunc(all, func(a, b deviceCopies) int {
		return cmp.Compare(results.MedianOf(a.whole("pinned"), "bandwidth"),
			results.MedianOf(b.whole("pinned"), "bandwidth"))
	}).whole("pinned")
	least := results.Interval{Value: math.Inf(1)}
	verdict, slow := results.Holds, ""
	for _, x := range all {
		r := x.whole("pinned")
		share := results.RatioOf(r.Metric("bandwidth"), best.Metric("bandwidth"))
		if share.Value < least.Value {
			least = share
		}
		if share.Hi < siblingShare {
			text := fmt.Sprintf("%s copies at %s over %s, others of the same model at up to %s over %s: "+
				"look at its slot, riser and link", x.Spec, rate(r), linkTitle(r), rate(best), linkTitle(best))
			r.Warnf("%s", text)
			verdict, slow = results.Fails, slow+"; "+text
		}
	}
	return least.Finding(verdict, results.Ratio, fmt.Sprintf("of %d GPUs of the model %s the slowest copies at "+
		"%.0f %% of the fastest, %s%s", len(all), all[0].Name, 100*least.Value, rate(best), slow))
}
