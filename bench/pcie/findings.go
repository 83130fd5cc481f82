package pcie

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"dlbench/bench"
	"dlbench/bench/theory"
	"dlbench/cuda"
	"dlbench/results"
)

// claims judges by the copies what is claimed of each GPU, of simulated links, and of several
// GPUs; it adds to them when page-locking has paid for itself.
func claims(env bench.Env, rs []results.Result) (all []bench.Claim) {
	add := func(name, missing string, found results.Finding, needs func(results.Params) bool) {
		all = append(all, bench.Claim{Name: name, Missing: missing, Found: found, Needs: needs})
	}
	var gpus, links []deviceCopies
	for _, d := range env.Devices {
		c := deviceCopies{d.Info(), rs, env.Batch}
		add("A1", c.Spec+": the batch was not copied from pinned memory", c.lanes(), c.of("pinned"))
		if c.AssumedLink() {
			links = append(links, c)
			continue
		}
		gpus = append(gpus, c)
		c.breakEven()
		add("A4", c.Spec+": no pageable and pinned copies of the batch to judge by", c.cpuShare(),
			c.of("pinned", "pageable"))
		add("A15", c.Spec+": no copies of the smallest size and of the batch to judge by", c.latency(), c.of("pinned"))
		add("A17", c.Spec+": float32 and float16 were not both copied", c.halves(), c.of("pinned"))
		add("numa", "", c.numa(), nil)
	}
	if len(links) > 0 {
		add("A4", "no copy in host memory to judge by", links[0].hostShare(),
			bench.Needs(func(p params) bool { return p.Device == results.HostDevice }))
	}
	add("A6", "copies of two GPUs or more at the same time were not measured", severalGPUs(env, gpus),
		bench.Needs(atOnce))
	gpus = slices.DeleteFunc(gpus, func(c deviceCopies) bool { return c.whole("pinned") == nil })
	for _, same := range results.Grouped(gpus, func(c deviceCopies) string { return c.Name }) {
		add("siblings", "", siblings(same), nil)
	}
	return all
}

// deviceCopies finds the copies from host memory to one device.
type deviceCopies struct {
	cuda.Info
	rs    []results.Result
	batch theory.Batch
}

// of are the device's undisturbed copies to it from kinds of memory.
func (c deviceCopies) of(mem ...string) func(results.Params) bool {
	return bench.Needs(func(p params) bool {
		return p.Device == c.Spec && p.Dir == results.H2D && slices.Contains(mem, p.Mem) && p.Undisturbed()
	})
}

// find returns the OK case of that point from warm caches, nil when it is not there.
func (c deviceCopies) find(mem string, bytes int64, fit func(params) bool) *results.Result {
	return results.CaseOf(c.rs, "pcie", func(p params) bool {
		return p.Device == c.Spec && p.Dir == results.H2D && p.Mem == mem && p.DType == c.batch.DType &&
			p.Source == results.SourceWarm && p.Bytes == bytes && fit(p)
	})
}

// whole returns the copy of the batch from a kind of memory, with nothing that disturbs it.
func (c deviceCopies) whole(mem string) *results.Result {
	return c.find(mem, c.batch.Bytes(), params.Undisturbed)
}

// as returns the copy of the batch as elements of a type from pinned memory.
func (c deviceCopies) as(dtype string) *results.Result {
	c.batch.DType = dtype
	return c.whole("pinned")
}

// atOnce returns the copy of the batch from pinned memory while all other devices copy.
func (c deviceCopies) atOnce() *results.Result { return c.find("pinned", c.batch.Bytes(), atOnce) }

func atOnce(p params) bool {
	return p.Concurrent == results.ConcurrentDevices && p.NUMA != results.NUMARemote
}

func linkTitle(r *results.Result) string {
	return cmp.Or(results.As[results.PCIeProof](r.Proof).LinkTitle(), "an unknown link")
}

func seconds(r *results.Result) string { return results.FormatSeconds(results.MedianOf(r, "time")) }

// times says how long the batch takes from pinned memory, whose copy is r, and from pageable
// memory, and what the article says of it.
func (c deviceCopies) times(r *results.Result) string {
	text := linkTitle(r) + ": " + seconds(r) + " pinned"
	if pageable := c.whole("pageable"); pageable != nil {
		text += ", " + seconds(pageable) + " pageable"
	}
	ideal, practice := r.Reference("article-theory", "time"), r.Reference("article-practice", "time")
	if ideal == nil || practice == nil {
		return text + " (the article's figures are for its own batch over Gen3 x4, x8 and x16)"
	}
	return text + fmt.Sprintf(" (article: %.2g ms in theory, about %.2g ms in practice)",
		1e3**ideal.Value, 1e3**practice.Value)
}

// lanes is claim A1: the article's figures exist for Gen3 alone, and simulated links prove
// nothing about links.
func (c deviceCopies) lanes() results.Finding {
	r := c.whole("pinned")
	if r == nil {
		return results.Finding{}
	}
	text := fmt.Sprintf("a batch (%s) to %s over %s", c.batch, c.Spec, c.times(r))
	if c.AssumedLink() {
		return results.Finding{Text: text, Assumed: []string{"link"}}
	}
	time, verdict := results.IntervalOf(r.Metric("time")), results.NotMeasured
	ideal, practice := r.Reference("article-theory", "time"), r.Reference("article-practice", "time")
	if ideal != nil && practice != nil {
		verdict = time.Verdict(*ideal.Value, *practice.Value)
	}
	return time.Finding(verdict, results.Seconds, text)
}

// Bounds of claim A4's verdict: what share of its time a pageable copy must at least
// block its caller, and up to which share a copy counts as free of the CPU.
const (
	cpuBound = 0.5
	cpuFree  = 0.05
)

// cpuShare is claim A4 for a real device: how long copies block their caller. The
// CPU time of a pageable copy proves less, since drivers wait by spinning.
func (c deviceCopies) cpuShare() results.Finding {
	pageable, pinned := c.whole("pageable"), c.whole("pinned")
	if pageable == nil || pinned == nil {
		return results.Finding{}
	}
	share := results.RatioOf(pageable.Metric("submit"), pageable.Metric("time"))
	free := results.RatioOf(pinned.Metric("submit"), pinned.Metric("time"))
	text := fmt.Sprintf("%s: a pageable copy holds its caller for %.0f %% of its %s, "+
		"a pinned one for %.1f %% of its %s%s",
		c.Spec, 100*share.Value, seconds(pageable), 100*free.Value, seconds(pinned), results.After("; ", c.bounce()))
	verdict := results.Inconclusive
	switch {
	case share.Lo > cpuBound && free.Hi < cpuFree:
		verdict = results.Holds
	case share.Hi < cpuFree:
		verdict = results.Fails
	}
	return share.Finding(verdict, results.Ratio, text)
}

// bounced returns the copy of the batch within host memory through a bounce buffer.
func (c deviceCopies) bounced(source string) *results.Result {
	return results.CaseOf(c.rs, "pcie", func(p params) bool {
		return p.Device == results.HostDevice && p.Mem == results.Bounce && p.Source == source &&
			p.Bytes == c.batch.Bytes()
	})
}

// bounce says how long the host takes to carry the batch through a bounce buffer, "" where
// that was not measured.
func (c deviceCopies) bounce() string {
	var texts []string
	for _, source := range []string{results.SourceWarm, results.SourceCold} {
		if r := c.bounced(source); r != nil {
			x := results.IntervalOf(r.Metric("time"))
			texts = append(texts, fmt.Sprintf("%s (%s) from %s caches", seconds(r),
				results.FormatRange(x.Lo, x.Hi, results.Seconds), source))
		}
	}
	return results.After("the CPU's part of a pageable copy takes this host ", strings.Join(texts, ", "))
}

// hostShare is the measured half of claim A4 without a GPU: the CPU's part of a
// pageable copy.
func (c deviceCopies) hostShare() results.Finding {
	link := []string{"link"}
	warm := c.bounced(results.SourceWarm)
	if warm == nil {
		return results.Finding{Assumed: link}
	}
	f := results.IntervalOf(warm.Metric("time")).Finding(results.NotMeasured, results.Seconds, c.bounce())
	f.Assumed = link
	return f
}

// latencyFree is the share of a batch up to which claim A15's latency can be ignored.
const latencyFree = 0.01

// latency is claim A15: what the smallest copy costs, as a share of a batch.
func (c deviceCopies) latency() results.Finding {
	first, whole := c.find("pinned", smallest, params.Undisturbed), c.whole("pinned")
	if first == nil || whole == nil || first.Metric("latency") == nil {
		return results.Finding{}
	}
	m := first.Metric("latency")
	share := results.RatioOf(m, whole.Metric("time"))
	text := fmt.Sprintf("%s: a copy of %s takes %s from call to end, %.2f %% of a batch; up to %g %% can be ignored",
		c.Spec, results.FormatBytes(smallest), results.FormatValue(m.Median, m.Unit), 100*share.Value, 100*latencyFree)
	return share.Finding(share.Verdict(math.Inf(-1), latencyFree), results.Ratio, text)
}

// sameMargin is how far from equal something may be that is called the same.
const sameMargin = 0.02

// halves is claim A17's second half: 16 bits halve the bytes, and the time with them.
func (c deviceCopies) halves() results.Finding {
	full, half := c.as("float32"), c.as("float16")
	if full == nil || half == nil {
		return results.Finding{}
	}
	share := results.RatioOf(half.Metric("time"), full.Metric("time"))
	text := fmt.Sprintf("%s: a float16 batch takes %.3f of a float32 batch's time, half its bytes",
		c.Spec, share.Value)
	if levels := c.as("uint8"); levels != nil && levels.Metric("normalised") != nil {
		q := results.RatioOf(levels.Metric("normalised"), full.Metric("time"))
		text += fmt.Sprintf("; copied as uint8 and normalised on the device, a batch takes "+
			"%.3f (%.3f-%.3f) of the float32 batch's time", q.Value, q.Lo, q.Hi)
	}
	return share.Finding(share.Verdict(0.5*(1-sameMargin), 0.5*(1+sameMargin)), results.Ratio, text)
}

// numa says what copying from another NUMA node costs a device; there is no finding where
// that was not measured, as on machines with one node.
func (c deviceCopies) numa() results.Finding {
	near := c.whole("pinned")
	far := c.find("pinned", c.batch.Bytes(), func(p params) bool {
		return p.NUMA == results.NUMARemote && p.Concurrent == results.ConcurrentNone
	})
	if near == nil || far == nil {
		return results.Finding{}
	}
	q := results.RatioOf(far.Metric("time"), near.Metric("time"))
	text := fmt.Sprintf("%s: a batch from pinned memory takes %s from NUMA node %v, far from the GPU, "+
		"and %s from its own node %v: where these differ, keep the loader and its buffers on the GPU's node",
		c.Spec, seconds(far), results.As[results.PCIeProof](far.Proof).CopiedFromNode,
		seconds(near), results.As[results.PCIeProof](near.Proof).NUMANode)
	return q.Finding(q.Verdict(1+sameMargin, math.Inf(1)), results.Ratio, text)
}

// breakEven adds, to the copies from page-locked memory, after how many batches
// the pinning has paid for itself against pageable memory.
func (c deviceCopies) breakEven() {
	pageable := c.whole("pageable")
	for _, mem := range []string{"pinned", "registered"} {
		r := c.whole(mem)
		if r == nil || pageable == nil || r.Metric("pin") == nil {
			continue
		}
		gain := results.MedianOf(pageable, "time") - results.MedianOf(r, "time")
		if gain <= 0 {
			r.Warnf("pinning does not pay here: a pageable copy is as fast")
			continue
		}
		n := r.Metric("pin").Median / gain
		r.Metrics = append(r.Metrics, results.Metric{Name: "pin_break_even", Unit: results.Batches,
			Better: results.Lower, Median: n, Min: n, Max: n})
	}
}
