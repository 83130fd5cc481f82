package pipeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"dlbench/bench"
	"dlbench/cuda"
	"dlbench/results"
)

// What claim A13 says: throttling from hot C on, which makes steps of one GPU longer by mostLoss at
// most. A soak of leastSoak is long enough for a GPU to get there if it ever does.
const (
	hot       = 80
	mostLoss  = 0.10
	leastSoak = time.Minute
)

// soakPoints are steps without a pause on the first GPU, none where nothing is to be soaked.
func soakPoints(env bench.Env) []params {
	first := slices.IndexFunc(env.Devices, func(d cuda.Device) bool { return !d.Info().Assumed })
	if env.Soak == 0 || first < 0 {
		return nil
	}
	return []params{{Device: env.Devices[first].Info().Spec, Mem: "pinned", Prefetch: usualAhead, Strategy: results.Online,
		Free: results.FreeLoading, Disk: results.RealDisk, Cache: results.CacheUsed, DType: env.Batch.DType,
		Step: results.Duration(cmp.Or(env.Step.Time, bench.DefaultStep.Time)), StepCPU: env.Step.CPU,
		Soak: results.Duration(env.Soak)}}
}

// soaked is claim A13: how much longer a step of the same work takes once the GPU is throttled.
func (p finished) soaked() results.Finding {
	soaks := p.Where(func(q params) bool { return q.Soak > 0 })
	if len(soaks) == 0 {
		return results.Finding{}
	}
	r := soaks[0]
	g := cmp.Or(results.As[results.Watched](r.Proof).GPU, &results.GPUWatch{})
	if g.Temperature == nil || strings.Contains(g.Lacks, "throttle reasons") {
		return results.Finding{Text: "whether the GPU was throttled is not known" + results.After(": ", g.Lacks)}
	}
	samples, soak := works(r), paramsOf(r).Soak
	tenth, first := (len(samples)+9)/10, slices.IndexFunc(samples, results.Sample.Throttled)
	before, verdict, what := tenth, results.Inconclusive, "was not throttled"
	if first >= 0 {
		before = min(tenth, max(first, 1))
		what = fmt.Sprintf("was throttled after %.0f s of steps", samples[first].T-samples[0].T)
		if g.From != nil {
			what += fmt.Sprintf(" at %.0f C", *g.From)
		}
		what += " (clocks lowered by " + results.InWords(g.Reasons) + ")"
	}
	loss := longer(samples[:before], samples[len(samples)-tenth:])
	heat := func(why string) bool { return strings.HasPrefix(why, cuda.Heat) }
	switch {
	case first > 0 && slices.ContainsFunc(g.Reasons, heat):
		verdict = loss.Verdict(0, mostLoss)
	case first < 0 && g.Temperature.Max >= hot && time.Duration(soak) >= leastSoak:
		verdict = results.Fails
	}
	return loss.Finding(verdict, results.Ratio, fmt.Sprintf("%s %s: at the end of %v the same work took "+
		"%.1f %% longer than at the beginning; it got from %.0f to %.0f C", paramsOf(r).Device, what, soak, 100*loss.Value,
		g.Temperature.Min, g.Temperature.Max))
}

// works are the samples of the time that the GPU works in a step: without what it waits for this
// host, which may be busy.
func works(r *results.Result) []results.Sample {
	samples, stall := slices.Clone(r.Metric("step_time").Samples), r.Metric("stall")
	for i := range samples {
		if stall != nil && i < len(stall.Samples) {
			samples[i].Value -= stall.Samples[i].Value
		}
	}
	return samples
}

// longer is by which share steps at the end take longer than at the beginning.
func longer(beginning, end []results.Sample) results.Interval {
	metric := func(samples []results.Sample) *results.Metric {
		m := &results.Metric{Samples: slices.Clone(samples)}
		results.Summarize(m, results.SummaryOptions{})
		return m
	}
	x := results.RatioOf(metric(end), metric(beginning))
	return results.Interval{Value: x.Value - 1, Lo: x.Lo - 1, Hi: x.Hi - 1}
}
