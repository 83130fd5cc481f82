package pcie

import (
	"fmt"

	"dlbench/results"
)

// numa says what copying from another NUMA node costs a device; ok is false where that
// was not measured, as on machines with one node.
func (c deviceCopies) numa() (f results.Finding, ok bool) {
	near := c.whole("pinned")
	far := c.caseOf(results.H2D, "pinned", c.batch.DType, c.batch.Bytes(), func(p params) bool { return p.NUMA == results.NUMARemote && p.Concurrent == results.ConcurrentNone })
	if near == nil || far == nil {
		return f, false
	}
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
