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
	gpus := copiesTo(env, rs, false)
	for _, c := range gpus {
		c.breakEven()
		c.bounced()
		add("A1", c.Spec+": the batch was not copied from pinned memory", c.lanes(), c.of("pinned"))
		add("A4", c.Spec+": no pageable and pinned copies of the batch to judge by", c.cpuShare(),
			c.of("pinned", "pageable"))
		add("A15", c.Spec+": no copies of the smallest size and of the batch to judge by", c.latency(), c.of("pinned"))
		add("A17", c.Spec+": float32 and float16 were not both copied", c.halves(), c.of("pinned"))
		add("numa", "", c.numa(), nil)
	}
	if links := copiesTo(env, rs, true); len(links) > 0 {
		add("A1", "", assumedLanes(links), nil)
		add("A4", "no copy in host memory to judge by", hostShare(links),
			bench.Needs(func(p params) bool { return p.Device == results.HostDevice }))
	}
	add("A6", "fewer than two GPUs here: no copies run at the same time", severalGPUs(env, gpus), nil)
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

// copiesTo are the copies to each GPU, or to each device behind a simulated link.
func copiesTo(env bench.Env, rs []results.Result, assumed bool) (all []deviceCopies) {
	for _, d := range env.Devices {
		if info := d.Info(); info.AssumedLink() == assumed {
			all = append(all, deviceCopies{info, rs, env.Batch})
		}
	}
	return all
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
func (c deviceCopies) atOnce() *results.Result {
	return c.find("pinned", c.batch.Bytes(), func(p params) bool {
		return p.Concurrent == results.ConcurrentDevices && p.NUMA != results.NUMARemote
	})
}

func linkTitle(r *results.Result) string {
	return cmp.Or(results.As[results.PCIeProof](r.Proof).LinkTitle(), "an unknown link")
}

func seconds(r *results.Result) string { return results.FormatSeconds(results.MedianOf(r, "time")) }

// withRange is a median with its interval, as text.
func withRange(m *results.Metric) string {
	x := results.IntervalOf(m)
	return fmt.Sprintf("%s (%s)", results.FormatSeconds(x.Value), results.FormatRange(x.Lo, x.Hi, m.Unit))
}

// lanes is claim A1 for a real device: the article's figures exist for Gen3 alone.
func (c deviceCopies) lanes() results.Finding {
	r := c.whole("pinned")
	if r == nil {
		return results.Finding{}
	}
	text := fmt.Sprintf("%s over %s: a batch (%s) takes %s pinned", c.Spec, linkTitle(r), c.batch, seconds(r))
	if p := c.whole("pageable"); p != nil {
		text += fmt.Sprintf(", %s pageable", seconds(p))
	}
	if line := r.Reference("line-rate", "time"); line != nil && line.Value != nil {
		text += fmt.Sprintf("; the line alone allows %s", results.FormatSeconds(*line.Value))
	}
	m := r.Metric("time")
	time := results.IntervalOf(m)
	ideal, practice := r.Reference("article-theory", "time"), r.Reference("article-practice", "time")
	if ideal == nil || practice == nil {
		text += "; the article's figures are for its own batch over Gen3 x4, x8 and x16"
		return time.Finding(results.NotMeasured, m.Unit, text)
	}
	text += fmt.Sprintf("; the article says %s in theory and about %s in practice",
		printed(*ideal.Value), printed(*practice.Value))
	return time.Finding(time.Verdict(*ideal.Value, *practice.Value), m.Unit, text)
}

// printed is a time as the article prints it: 4.5 ms.
func printed(s float64) string { return fmt.Sprintf("%.2g ms", 1e3*s) }

// assumedLanes is claim A1 over simulated links, which prove nothing.
func assumedLanes(assumed []deviceCopies) results.Finding {
	var parts []string
	for _, c := range assumed {
		pinned, pageable := c.whole("pinned"), c.whole("pageable")
		if pinned == nil {
			parts = append(parts, c.Link.Title()+" has no result")
			continue
		}
		part := fmt.Sprintf("%s %s pinned", c.Link.Title(), seconds(pinned))
		if c.Loaded {
			part = "link time loaded on " + c.Name + ": " + part
		}
		if pageable != nil {
			part += fmt.Sprintf(" and %s pageable", seconds(pageable))
		}
		if a, ok := theory.Article(c.batch, c.Link); ok {
			part += fmt.Sprintf(" (article: %s in theory, about %s in practice)",
				printed(a.Theory), printed(a.Practice))
		}
		parts = append(parts, part)
	}
	return results.Finding{Assumed: []string{"link"},
		Text: "simulated links prove nothing about links: " + strings.Join(parts, "; ")}
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
		"a pinned one for %.1f %% of its %s",
		c.Spec, 100*share.Value, seconds(pageable), 100*free.Value, seconds(pinned))
	if b := bounceTime(c.rs, c.batch, results.SourceWarm); b != nil {
		text += "; the CPU's own part of it, the copy through a bounce buffer, takes this host " + withRange(b)
	}
	verdict := results.Inconclusive
	switch {
	case share.Lo > cpuBound && free.Hi < cpuFree:
		verdict = results.Holds
	case share.Hi < cpuFree:
		verdict = results.Fails
	}
	return share.Finding(verdict, results.Ratio, text)
}

// bounceTime is how long the host takes to carry the batch through a bounce buffer.
func bounceTime(rs []results.Result, b theory.Batch, source string) *results.Metric {
	r := results.CaseOf(rs, "pcie", func(p params) bool {
		return p.Device == results.HostDevice && p.Mem == results.Bounce && p.Source == source && p.Bytes == b.Bytes()
	})
	if r == nil {
		return nil
	}
	return r.Metric("time")
}

// hostShare is the measured half of claim A4 without a GPU: the CPU's part of a
// pageable copy, against the time that simulated links take.
func hostShare(assumed []deviceCopies) results.Finding {
	rs, b := assumed[0].rs, assumed[0].batch
	warm, cold := bounceTime(rs, b, results.SourceWarm), bounceTime(rs, b, results.SourceCold)
	if warm == nil {
		return results.Finding{Assumed: []string{"link"}}
	}
	time := results.IntervalOf(warm)
	text := "the CPU's part of a pageable copy, measured: " + withRange(warm) + " a batch from warm caches"
	if cold != nil {
		text += ", " + withRange(cold) + " from cold ones"
		if other := results.IntervalOf(cold); other.Lo < time.Hi && time.Lo < other.Hi {
			text += ": they differ by no more than the noise"
		}
	}
	var shares []string
	for _, c := range assumed {
		share := time.Value / theory.Time(b.Bytes(), c.Rates.Pageable)
		shares = append(shares, fmt.Sprintf("%.0f %% over %s", 100*share, c.Link.Title()))
	}
	text += "; share of a simulated pageable copy: " + strings.Join(shares, ", ")
	f := time.Finding(results.NotMeasured, results.Seconds, text)
	f.Assumed = []string{"link"}
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
	verdict := share.Verdict(math.Inf(-1), latencyFree)
	text := fmt.Sprintf("%s: a copy of %s takes %s from call to end, %.2f %% of a batch%s",
		c.Spec, results.FormatBytes(smallest), results.FormatValue(m.Median, m.Unit), 100*share.Value,
		map[string]string{
			results.Holds: "; next to a batch it can be ignored",
			results.Fails: "; more than 1 %, so not to be ignored",
		}[verdict])
	return share.Finding(verdict, results.Ratio, text)
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
	verdict := q.Verdict(1+sameMargin, math.Inf(1))
	text := fmt.Sprintf("%s: a batch from pinned memory takes %s from NUMA node %v, far from the GPU, "+
		"and %s from its own node %v%s",
		c.Spec, seconds(far), results.As[results.PCIeProof](far.Proof).CopiedFromNode,
		seconds(near), results.As[results.PCIeProof](near.Proof).NUMANode,
		map[string]string{
			results.Holds: ": keep the loader and its buffers on the GPU's node",
			results.Fails: ": the node makes no difference here",
		}[verdict])
	return q.Finding(verdict, results.Ratio, text)
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

// bounced warns of copies from pinned memory where registration is refused as not
// supported, as under confidential computing: pinned memory is bounced there, too.
func (c deviceCopies) bounced() {
	refused := slices.ContainsFunc(c.rs, func(r results.Result) bool {
		p := results.As[params](r.Params)
		return r.Suite == "pcie" && p.Device == c.Spec && p.Mem == "registered" &&
			r.Status == results.Skipped && strings.Contains(r.Reason, registrationRefused)
	})
	r := c.whole("pinned")
	if r == nil || !refused {
		return
	}
	text := "host memory cannot be registered here, as under confidential computing, " +
		"where copies from pinned memory pass an encrypted bounce buffer as well"
	if p := c.whole("pageable"); p != nil {
		share := results.MedianOf(r, "time") / results.MedianOf(p, "time")
		text += fmt.Sprintf(": pinned copies take %.2f of a pageable one's time", share)
	}
	r.Warnf("%s", text)
}
