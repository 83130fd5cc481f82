package advise

import (
	"fmt"

	"dlbench/bench/theory"
	"dlbench/results"
)

// loaderVerdict is the answer for a loader of the user's own, the first one that was
// measured; nil where none was. What is said of dlbench's own loader is the comparison.
func loaderVerdict(rep *results.Report, d Demanded) *results.Verdict {
	for _, name := range results.UserLoaders(rep.Results) {
		s := results.ScalingOf(rep.Results, name)
		if r := s.Recommended(); r != nil {
			return (&loaderAnswer{rep: rep, name: name, scaling: s, best: r}).make(d)
		}
	}
	return nil
}

// loaderAnswer is what the verdict of a loader is made of.
type loaderAnswer struct {
	rep     *results.Report
	name    string
	scaling results.LoaderScaling
	best    *results.Result // with the recommended workers
}

func (a *loaderAnswer) make(d Demanded) *results.Verdict {
	feeds, workers := results.IntervalOf(a.best.Metric("throughput")), results.WorkersOf(a.best)
	v := &results.Verdict{Status: results.Holds, Feeds: results.Finite(feeds.Value)}
	v.Text = fmt.Sprintf("%s feeds %.0f images/s (%.0f to %.0f) with %s", a.name, feeds.Value, feeds.Lo, feeds.Hi,
		results.Plural(workers, "worker"))
	part, why := a.bottleneck()
	v.Loader = part
	demand, name, given := d.rate(a.rep.Config.Batch)
	if given {
		v.Demand, v.DemandName, v.Margin = &demand, name, results.Finite(feeds.Value/demand-1)
		share := fmt.Sprintf("; %s needs %.0f", name, demand)
		switch {
		case feeds.Lo >= demand:
			v.Bound = boundGPU
			v.Text += share + ": yes, it keeps up"
		case feeds.Hi < demand:
			v.Bound = part
			v.Text += share + fmt.Sprintf(": no, that is %.0f %% of it", 100*feeds.Value/demand)
		default:
			v.Status = results.Inconclusive
			v.Text += share + ": too close to call"
		}
	} else {
		v.Status = results.Inconclusive
		v.Text += "; name what your GPU needs with --gpu or --step"
	}
	v.Text += ". " + why
	if given && feeds.Lo < demand {
		v.Changes = a.changes(demand)
	}
	return v
}

// Shares of what there is from which a part of a loader counts as busy.
const (
	busyShare = 0.85
	readShare = 0.5 // of the bytes that were read, those that came from a device
)

// bottleneck is the part of the loader that limits it, as far as can be told from outside,
// "" where it cannot, and a sentence about it.
func (a *loaderAnswer) bottleneck() (part, why string) {
	rate := results.MedianOf(a.best, "throughput")
	all, main := rate*results.MedianOf(a.best, "cpu"), rate*results.MedianOf(a.best, "main_cpu") // CPUs busy
	workers, usable := float64(results.WorkersOf(a.best)), a.rep.Host.CPU.Usable
	proof := results.As[results.ExternalProof](a.best.Proof)
	cpus := fmt.Sprintf("%.2f of %.4g CPUs were busy", all, usable)
	switch {
	case !(all > 0):
		return "", "What limits it cannot be told: the CPU time of its processes is not known"
	case usable > 0 && all >= busyShare*usable:
		return "cores", "All cores are busy: the limit is the CPU (" + cpus + ")"
	case main >= busyShare:
		return "main process", fmt.Sprintf("The limit is the training process itself, which is busy %.0f %% of the time: "+
			"more workers do not help", 100*main)
	case workers > 0 && all-main >= busyShare*workers:
		return "workers", "The workers are busy all the time: more of them help (" + cpus + ")"
	case proof.FromDevice != nil && float64(*proof.FromDevice) > readShare*float64(*proof.BytesRead):
		return results.PartRead, "It waits for the disk (" + cpus + ")"
	}
	return "", "What limits it cannot be told from outside: " + cpus + ", and little was read from the disk"
}

// changes are what would bring a loader to the demand.
func (a *loaderAnswer) changes(demand float64) (lines []string) {
	if own := results.ScalingOf(a.rep.Results, results.OwnLoader).Recommended(); own != nil {
		x := results.IntervalOf(own.Metric("throughput"))
		lines = append(lines, fmt.Sprintf("a faster loader: dlbench's own feeds %.0f images/s (%.0f to %.0f) "+
			"on the same cores, %s", x.Value, x.Lo, x.Hi, enough(x, demand)))
	}
	for _, name := range results.UserLoaders(a.rep.Results) {
		if r := results.ScalingOf(a.rep.Results, name).Recommended(); name != a.name && r != nil {
			x := results.IntervalOf(r.Metric("throughput"))
			lines = append(lines, fmt.Sprintf("%s instead: %.0f images/s (%.0f to %.0f), %s",
				name, x.Value, x.Lo, x.Hi, enough(x, demand)))
		}
	}
	if n, ok := theory.CoresNeeded(a.scaling.Rates(), demand); ok && n.Extrapolated {
		lines = append(lines, fmt.Sprintf("more cores: at least %s workers, a core for each (extrapolated from what %s did)",
			twoDigits(n.Threads), results.Plural(results.WorkersOf(a.scaling[len(a.scaling)-1]), "worker")))
	}
	return lines
}

// enough says whether a rate meets a demand.
func enough(x results.Interval, demand float64) string {
	switch {
	case x.Lo >= demand:
		return "enough"
	case x.Hi < demand:
		return "not enough"
	}
	return "perhaps enough"
}
