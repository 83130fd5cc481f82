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

// severalGPUs is claim A6: by how much devices slow each other down that copy at once,
// and whether what is left meets the demand of the article's step.
func severalGPUs(env bench.Env, all []deviceCopies) results.Finding {
	if len(all) < 2 {
		return results.Finding{}
	}
	var parts, missing []string
	worst := results.Interval{Value: math.Inf(1)}
	least, most := math.Inf(1), math.Inf(1) // images/s of the slowest device, by its interval
	certain := true
	for _, x := range all {
		alone, shared := x.whole("pinned"), x.atOnce()
		if alone == nil || shared == nil {
			missing = append(missing, x.Spec)
			continue
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
	}
	ports := sharedPorts(env, all)
	if len(missing) > 0 {
		text := "copies at once were not measured on " + strings.Join(missing, ", ")
		judged := bench.Needs(func(p params) bool { return atOnceOn(p, missing) })
		text += results.After(": ", bench.WhyNot(all[0].rs, judged))
		return results.Finding{Text: strings.Join(append([]string{text}, ports...), "; ")}
	}
	text := fmt.Sprintf("when all %d GPUs copy batches from pinned memory at once, ", len(all))
	texts := append([]string{text + strings.Join(parts, ", ")}, ports...)
	texts = append(texts, fmt.Sprintf("the slowest still receives %.0f images/s%s", least,
		theory.DemandsMet(least, least, ", enough for ", ", not for ")))
	if !certain {
		texts = append(texts, "the other copies paused at times, so it may be less")
	}
	lanes := fewestLanes(all)
	if lanes == 0 && len(all) > fewGPUs {
		texts = append(texts, "how many lanes each has is not known")
	}
	demand := theory.Demands[0].Rate()
	verdict := severalVerdict(len(all), least > demand && certain, most < demand, lanes)
	return worst.Finding(verdict, results.Ratio, strings.Join(texts, "; "))
}

// atOnceOn says whether a case is one of those by which devices are judged among others: the
// copy alone and that with all others.
func atOnceOn(p params, devices []string) bool {
	return slices.Contains(devices, p.Device) && p.Dir == results.H2D && p.Mem == "pinned" &&
		(p.Undisturbed() || p.Concurrent == results.ConcurrentDevices)
}

func rate(r *results.Result) string {
	return results.FormatValue(results.MedianOf(r, "bandwidth"), results.BytesPerSecond)
}

// fewestLanes is the width of the narrowest link, 0 where one is not known.
func fewestLanes(all []deviceCopies) int {
	lanes := math.MaxInt
	for _, x := range all {
		l, err := theory.ParseLink(results.As[results.PCIeProof](x.whole("pinned").Proof).Link)
		if err != nil {
			return 0
		}
		lanes = min(lanes, l.Lanes)
	}
	return lanes
}

// fewGPUs is up to how many GPUs claim A6 says that lanes do not matter; with more it
// wants wantLanes for each.
const (
	fewGPUs   = 3
	wantLanes = 8
)

// severalVerdict judges A6 for n devices: whether the slowest surely meets the demand or
// surely misses it, and how many lanes the narrowest has, 0 for unknown.
func severalVerdict(n int, met, missed bool, narrow int) string {
	switch {
	case !met && !missed:
		return results.Inconclusive
	case n <= fewGPUs && met: // whatever the lanes
		return results.Holds
	case n <= fewGPUs:
		return results.Fails
	case narrow == 0:
		return results.Inconclusive
	case (narrow >= wantLanes) == met: // enough with that many lanes, or not enough with fewer
		return results.Holds
	}
	return results.Fails
}

// sharedPorts names the links that devices share: all of them pass one port.
func sharedPorts(env bench.Env, all []deviceCopies) (texts []string) {
	spec := map[string]string{}
	var pcis []string
	for _, x := range all {
		if x.PCI != "" {
			pcis = append(pcis, x.PCI)
			spec[x.PCI] = x.Spec
		}
	}
	for _, p := range host.SharedPorts(env.Root, pcis) {
		var names []string
		for _, d := range p.Devices {
			names = append(names, spec[d])
		}
		what := "the port"
		if w := cmp.Or(p.Link.Width, p.Link.MaxWidth); w > 0 {
			what = fmt.Sprintf("the x%d port", w)
		}
		texts = append(texts, fmt.Sprintf("%s share %s %s", results.InWords(names), what, p.Port))
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
	})
	fastest := best.whole("pinned")
	least := results.Interval{Value: 1, Lo: math.NaN(), Hi: math.NaN()}
	var slow []string
	for _, x := range all {
		r := x.whole("pinned")
		share := results.RatioOf(r.Metric("bandwidth"), fastest.Metric("bandwidth"))
		if share.Value < least.Value {
			least = share
		}
		if share.Hi >= siblingShare {
			continue
		}
		text := fmt.Sprintf("%s copies at %s over %s, %s of the same model at %s over %s",
			x.Spec, rate(r), linkTitle(r), best.Spec, rate(fastest), linkTitle(fastest))
		slow = append(slow, text)
		r.Warnf("%s", text)
	}
	if len(slow) > 0 {
		text := strings.Join(slow, "; ") + ": look at its slot, riser and link"
		return least.Finding(results.Fails, results.Ratio, text)
	}
	text := fmt.Sprintf("%d GPUs of the model %s copy alike: the slowest at %.0f %% of the fastest, %s",
		len(all), best.Name, 100*least.Value, rate(fastest))
	return least.Finding(results.Holds, results.Ratio, text)
}
