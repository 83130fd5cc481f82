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
	"dlbench/cuda"
	"dlbench/results"
)

// atOnce is what a device copies alone and while all others copy, host to device and
// pinned.
type atOnce struct {
	info        cuda.Info
	solo, under *results.Result // nil when there is none
	kept        quotient        // share of its rate that is left
	flattered   bool            // the others stood still at times
}

// devicesAtOnce are the real devices with what they copied.
func devicesAtOnce(env bench.Env, rs []results.Result) (list []atOnce) {
	for _, d := range env.Devices {
		info := d.Info()
		if info.AssumedLink() {
			continue
		}
		c := deviceCopies{rs: rs, device: info.Spec, batch: env.Batch}
		a := atOnce{info: info, solo: c.whole("pinned"), under: c.beside(results.ConcurrentDevices)}
		if a.solo != nil && a.under != nil {
			a.kept, a.flattered = ratio(a.under.Metric("bandwidth"), a.solo.Metric("bandwidth")), flattered(a.under)
		}
		list = append(list, a)
	}
	return list
}

// beside is the copy of the batch from pinned memory while others copy.
func (c deviceCopies) beside(what string) *results.Result {
	return c.caseOf(results.H2D, "pinned", c.batch.DType, c.batch.Bytes(), func(p params) bool { return p.Concurrent == what && p.NUMA != results.NUMARemote })
}

// fewGPUs is up to how many GPUs claim A6 says that lanes do not matter; with more it
// wants wantLanes for each.
const (
	fewGPUs   = 3
	wantLanes = 8
)

// severalGPUs is claim A6: by how much devices slow each other down that copy at once,
// and whether what is left meets the demand of the article's step.
func severalGPUs(env bench.Env, rs []results.Result) results.Finding {
	f := results.Finding{Claim: "A6", Verdict: results.NotMeasured, Text: "fewer than two GPUs here: nothing copies at once"}
	all := devicesAtOnce(env, rs)
	if len(all) < 2 {
		return f
	}
	var parts, missing []string
	worst := atOnce{kept: quotient{value: math.Inf(1)}}
	least, most := math.Inf(1), math.Inf(1) // images/s of the slowest device, by its interval
	narrow, lanes, certain := math.MaxInt, true, true
	for _, a := range all {
		if a.solo == nil || a.under == nil {
			missing = append(missing, a.info.Spec)
			continue
		}
		m, t := a.under.Metric("bandwidth"), a.under.Metric("time")
		parts = append(parts, fmt.Sprintf("%s is %.0f %% slower (%s instead of %s)", a.info.Spec, 100*max(0, 1-a.kept.value),
			results.FormatValue(m.Median, m.Unit), results.FormatValue(results.MedianOf(a.solo, "bandwidth"), m.Unit)))
		if a.kept.value < worst.kept.value {
			worst = a
		}
		certain = certain && !a.flattered
		lo, hi := results.Bounds(t)
		least, most = min(least, float64(env.Batch.Images)/hi), min(most, float64(env.Batch.Images)/lo)
		if l, err := theory.ParseLink(results.As[results.PCIeProof](a.solo.Proof).Link); err == nil {
			narrow = min(narrow, l.Lanes)
		} else {
			lanes = false
		}
	}
	shared := sharedPorts(env, all)
	if len(missing) > 0 {
		f.Text = strings.Join(append([]string{"copies at once were not measured on " + strings.Join(missing, ", ")}, shared...), "; ")
		return f
	}
	f.Value, f.Lo, f.Hi, f.Unit = results.Finite(worst.kept.value), results.Finite(worst.kept.lo), results.Finite(worst.kept.hi), results.Ratio
	demand := theory.Demands[0].Rate()
	var met, not []string
	for _, d := range theory.Demands {
		text := fmt.Sprintf("%s (%.0f)", d.Name, d.Rate())
		if least > d.Rate() {
			met = append(met, text)
		} else {
			not = append(not, text)
		}
	}
	texts := []string{fmt.Sprintf("when all %d GPUs copy batches from pinned memory at once, %s", len(all), strings.Join(parts, ", "))}
	texts = append(texts, shared...)
	text := fmt.Sprintf("the slowest still receives %.0f images/s", least)
	if len(met) > 0 {
		text += ", enough for " + strings.Join(met, ", ")
	}
	if len(not) > 0 {
		text += ", not for " + strings.Join(not, ", ")
	}
	texts = append(texts, text)
	if !certain {
		texts = append(texts, "what copied meanwhile stood still at times, so that it may be less")
	}
	if !lanes && len(all) > fewGPUs {
		texts = append(texts, "how many lanes each has is not known")
	}
	f.Text = strings.Join(texts, "; ")
	f.Verdict = severalVerdict(len(all), least > demand && certain, most < demand, narrow, lanes)
	return f
}

// severalVerdict judges A6 for n devices: whether the slowest surely meets the demand or
// surely misses it, how many lanes the narrowest has, and whether all links are known.
func severalVerdict(n int, met, missed bool, narrow int, known bool) string {
	switch {
	case !met && !missed:
		return results.Inconclusive
	case n <= fewGPUs && met: // whatever the lanes
		return results.Holds
	case n <= fewGPUs:
		return results.Fails
	case !known:
		return results.Inconclusive
	case (narrow >= wantLanes) == met: // enough with that many lanes, or not enough with fewer
		return results.Holds
	}
	return results.Fails
}

// sharedPorts names the links that devices share: all of them pass one port.
func sharedPorts(env bench.Env, all []atOnce) (texts []string) {
	spec := map[string]string{}
	var pcis []string
	for _, a := range all {
		if a.info.PCI != "" {
			pcis = append(pcis, a.info.PCI)
			spec[a.info.PCI] = a.info.Spec
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
		texts = append(texts, fmt.Sprintf("%s share %s %s", conjoin(names), what, p.Port))
	}
	return texts
}

// conjoin is "a, b and c".
func conjoin(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// siblingShare is the share of its siblings' rate below which a device is slow.
const siblingShare = 0.8

// siblings holds devices of one model against each other, and warns of one that is much
// slower than the others: a slot with fewer lanes, a riser, a link that came up slow.
func siblings(env bench.Env, rs []results.Result) (fs []results.Finding) {
	models := map[string][]atOnce{}
	var order []string
	for _, a := range devicesAtOnce(env, rs) {
		if a.solo == nil {
			continue
		}
		if models[a.info.Name] == nil {
			order = append(order, a.info.Name)
		}
		models[a.info.Name] = append(models[a.info.Name], a)
	}
	for _, name := range order {
		all := models[name]
		if len(all) < 2 {
			continue
		}
		best := slices.MaxFunc(all, func(a, b atOnce) int {
			return cmp.Compare(results.MedianOf(a.solo, "bandwidth"), results.MedianOf(b.solo, "bandwidth"))
		})
		rate := func(a atOnce) string {
			return results.FormatValue(results.MedianOf(a.solo, "bandwidth"), results.BytesPerSecond)
		}
		f := results.Finding{Claim: "siblings", Verdict: results.Holds, Unit: results.Ratio, Value: results.Finite(1)}
		var slow []string
		for _, a := range all {
			q := ratio(a.solo.Metric("bandwidth"), best.solo.Metric("bandwidth"))
			if q.value < *f.Value {
				f.Value, f.Lo, f.Hi = results.Finite(q.value), results.Finite(q.lo), results.Finite(q.hi)
			}
			if q.hi >= siblingShare {
				continue
			}
			text := fmt.Sprintf("%s copies at %s over %s, %s of the same model at %s over %s", a.info.Spec, rate(a), linkTitle(a.solo), best.info.Spec, rate(best), linkTitle(best.solo))
			slow = append(slow, text)
			a.solo.Warnings = append(a.solo.Warnings, text)
		}
		if len(slow) > 0 {
			f.Verdict = results.Fails
			f.Text = strings.Join(slow, "; ") + ": look at its slot, riser and link"
		} else {
			f.Text = fmt.Sprintf("%d GPUs of the model %s copy alike: the slowest at %.0f %% of the fastest, %s", len(all), name, 100**f.Value, rate(best))
		}
		fs = append(fs, f)
	}
	return fs
}
