package pcie

import (
	"fmt"

	"dlbench/results"
)

// numa says what copying from another NUMA node costs a device; ok is false where that
// was not measured, as on machines with one node.
func (c deviceCopies) numa() (f results.Finding, ok bool) {
	near := c.whole("pinned")
	afar := results.Pick(c.rs, func(r *results.Result) bool {
		return r.Suite == "pcie" && r.Params.Text("device") == c.device && r.Params.Text("numa") == results.NUMARemote && r.Params.Text("dir") == results.H2D &&
			r.Params.Text("mem") == "pinned" && r.Params.Text("dtype") == c.batch.DType && r.Params.Text("source") == results.SourceWarm &&
			r.Params.Text("concurrent") == results.ConcurrentNone && r.Params.Int("bytes") == c.batch.Bytes()
	})
	if near == nil || len(afar) == 0 {
		return f, false
	}
	far := afar[0]
	q := ratio(far.Metric("time"), near.Metric("time"))
	f = results.Finding{Claim: "numa", Verdict: results.Inconclusive, Value: results.Finite(q.value), Lo: results.Finite(q.lo), Hi: results.Finite(q.hi), Unit: results.Ratio}
	f.Text = fmt.Sprintf("%s: a batch from pinned memory takes %s from NUMA node %v, far from the GPU, and %s from its own node %v",
		c.device, results.FormatSeconds(results.MedianOf(far, "time")), results.As[results.PCIeProof](far.Proof).CopiedFromNode, results.FormatSeconds(results.MedianOf(near, "time")), results.As[results.PCIeProof](near.Proof).NUMANode)
	switch {
	case q.lo > 1+sameMargin:
		f.Verdict, f.Text = results.Holds, f.Text+": keep the loader and its buffers on the GPU's node"
	case q.hi < 1+sameMargin:
		f.Verdict, f.Text = results.Fails, f.Text+": the node makes no difference here"
	}
	return f, true
}
