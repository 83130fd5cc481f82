package advise

import (
	"fmt"
	"math"
	"slices"
	"time"

	"dlbench/bench/theory"
	"dlbench/results"
)

// loaderVerdict is the answer for a loader of the user's own, the first one that was
// measured; nil where none was. What is said of dlbench's own loader is the comparison.
func loaderVerdict(rep *results.Report, n need) *results.Verdict {
	for _, name := range results.UserLoaders(rep.Results) {
		s := results.ScalingOf(rep.Results, name)
		if r := s.Recommended(); r != nil {
			return (&loaderAnswer{rep: rep, name: name, scaling: s, best: r}).make(n)
		}
	}
	if r := results.WrapOf(rep.Results); r != nil && r.Metric("stalled") != nil && r.Metric("throughput") != nil {
		return scriptVerdict(r, Question{}.need(rep))
	}
	return nil
}

// Shares of the time that a GPU is busy from which loading keeps up, and below which it
// does not: less than 2 % of waiting cannot be told from none.
const keepsUp, fallsBehind = 0.98, 0.95

// scriptVerdict is the answer of a training script that measured itself: how long it waited for
// data decides, also where nobody knows what its steps need.
func scriptVerdict(r *results.Result, n need) *results.Verdict {
	v := &results.Verdict{Loader: results.ScriptLoader, Workers: results.WorkersOf(r), Runs: 1}
	n.answer(v, results.IntervalOf(r.Metric("throughput")))
	waits := results.IntervalOf(r.Metric("stalled"))
	v.GPUBusy, v.GPUBusyFrom = results.Finite(min(1, max(0, 1-waits.Value))), "measured in your training script"
	v.Why = fmt.Sprintf("your training waits for data %.1f %% of the time", 100*waits.Value)
	switch {
	case waits.Hi <= 1-keepsUp:
		v.Answer = results.AnswerYes
	case waits.Lo > 1-fallsBehind:
		v.Answer = results.AnswerNo
	default:
		v.Answer = results.AnswerClose
	}
	return v
}

// loaderAnswer is what the verdict of a loader is made of.
type loaderAnswer struct {
	rep     *results.Report
	name    string
	scaling *results.ScalingLine
	best    *results.Result // with the recommended workers
}

func (a *loaderAnswer) make(n need) *results.Verdict {
	throughput := a.best.Metric("throughput")
	v := &results.Verdict{Loader: a.name, Workers: results.WorkersOf(a.best),
		Runs: max(1, len(results.RunMedians(throughput.Samples)))}
	n.answer(v, results.IntervalOf(throughput))
	v.Bottleneck, v.Limit = a.bottleneck()
	v.Share = a.share(n)
	a.measuredBusy(v, n)
	if results.NoisyShare(throughput.Samples) > mostNoisy {
		v.Answer, v.Why = results.AnswerBusy, whyBusy
		return v
	}
	if v.Answer != results.AnswerYes {
		v.Changes = a.changes(n.rate)
	}
	return v
}

// sameStep is how far a step that was measured may be from the one that is asked about.
const sameStep = 0.01

// measuredBusy has the share of the time that the GPU is busy from the case in which the loader
// fed steps as long as those of n, where there is one. A loader that feeds enough alone may not
// next to them.
func (a *loaderAnswer) measuredBusy(v *results.Verdict, n need) {
	withStep := results.CaseOf(a.rep.Results, "external", func(p results.ExternalParams) bool {
		step := theory.StepFor(n.rate, a.rep.Config.Batch)
		return p.Loader == a.name && n.rate > 0 && math.Abs(time.Duration(p.Step).Seconds()/step-1) < sameStep
	})
	if withStep == nil || withStep.Metric("utilisation") == nil {
		return
	}
	busy := results.IntervalOf(withStep.Metric("utilisation"))
	v.GPUBusy = results.Finite(min(1, busy.Value))
	v.GPUBusyFrom = fmt.Sprintf("measured with %s beside simulated steps; the rate above is without steps",
		results.Plural(results.WorkersOf(withStep), "worker"))
	if v.Answer == results.AnswerYes && busy.Hi < fallsBehind {
		v.Answer = results.AnswerClose
		v.Why = fmt.Sprintf("but with such steps the GPU waits %.0f %% of the time", 100*(1-busy.Value))
	}
}

// Shares of what there is from which a part of a loader counts as busy.
const (
	busyShare = 0.85
	leastBusy = 0.5 // of the cores, for more of them to be a change that may help
	someNoise = 0.1 // of the samples: of a machine that is not quiet
	readShare = 0.5 // of the bytes that were read, those that came from a device

	// leastApart is the share of the CPU time that worker processes use at least: with less, the
	// workers are threads of the training process.
	leastApart = 0.1
)

// bottleneck is the part of the loader that limits it, as far as can be told from outside,
// "" where it cannot, and a sentence about it.
func (a *loaderAnswer) bottleneck() (part, why string) {
	rate := results.MedianOf(a.best, "throughput")
	all, main := rate*results.MedianOf(a.best, "cpu"), rate*results.MedianOf(a.best, "main_cpu") // CPUs busy
	workers, usable := float64(results.WorkersOf(a.best)), a.rep.Host.CPU.Usable
	work, threads := all-main, all-main < leastApart*all
	if threads {
		work = all
	}
	fromDisk, known := a.fromDisk()
	busy := fmt.Sprintf("%.2f of %.4g CPUs were busy", all, usable)
	if known {
		busy += fmt.Sprintf(", %.0f %% of the data came from the disk", 100*fromDisk)
	}
	rates := a.scaling.Rates
	switch {
	case !(all > 0):
		return "", "What limits it cannot be told: the CPU time of its processes is not known"
	case usable > 0 && all >= busyShare*usable:
		return "cores", "All cores are busy: the limit is the CPU (" + busy + ")"
	case main >= busyShare && !threads:
		return "main process", "The training process is busy all the time: more workers do not help (" + busy + ")"
	case workers > 0 && work >= busyShare*workers && rates[len(rates)-1].Threads > int(workers):
		noisy := func(r *results.Result) bool { return results.NoisyShare(r.Metric("throughput").Samples) >= someNoise }
		if slices.ContainsFunc(a.scaling.Cases, noisy) {
			busy += "; other programs may have taken the rest"
		}
		return "workers", "The workers are busy all the time, but more of them feed no more (" + busy + ")"
	case workers > 0 && work >= busyShare*workers:
		return "workers", "The workers are busy all the time: more of them may help (" + busy + ")"
	case fromDisk > readShare:
		return results.PartRead, "It waits for the disk (" + busy + ")"
	}
	return "", "What limits it cannot be told from outside: " + busy
}

// fromDisk is the share of the data that came from a device and not from memory, as far as it is known.
// A mapped file is not read by system calls.
func (a *loaderAnswer) fromDisk() (share float64, known bool) {
	proof := results.As[results.ExternalProof](a.best.Proof)
	if proof.FromDevice == nil || proof.BytesRead == nil {
		return 0, false
	}
	return float64(*proof.FromDevice) / float64(max(*proof.FromDevice, *proof.BytesRead, 1)), true
}

// changes are what would feed more: a faster loader, and more cores.
func (a *loaderAnswer) changes(need float64) (all []results.Change) {
	now := results.MedianOf(a.best, "throughput")
	for _, name := range append(results.UserLoaders(a.rep.Results), results.OwnLoader) {
		r := results.ScalingOf(a.rep.Results, name).Recommended()
		if name == a.name || r == nil || results.MedianOf(r, "throughput") < (1+noGain)*now {
			continue
		}
		x := results.IntervalOf(r.Metric("throughput"))
		all = append(all, results.Change{Name: "a loader as fast as " + name, Value: x.Value, Lo: x.Lo, Hi: x.Hi,
			Enough: results.Enough(x.Lo, x.Hi, need), Evidence: "measured on the same cores", Cost: results.Free})
	}
	rates := a.scaling.Rates
	last := rates[len(rates)-1]
	busy := now * results.MedianOf(a.best, "cpu") // CPUs
	if last.Threads < 1 || results.WorkersOf(a.best) != last.Threads || busy < leastBusy*a.rep.Host.CPU.Usable {
		return all // more workers brought nothing, or cores are idle: more of them help nothing
	}
	up := 2 * last.Value
	down := up * theory.EfficiencyOf(rates, last.Threads)
	return append(all, results.Change{Name: "twice the cores", Value: (up + down) / 2, Lo: down, Hi: up,
		Enough: results.Enough(down, up, need), Cost: results.Purchase,
		Evidence: "extrapolated from " + results.Plural(last.Threads, "worker")})
}
