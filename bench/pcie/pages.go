package pcie

import (
	"fmt"
	"strconv"
	"strings"

	"dlbench/results"
)

// pageReport is where the pages of a buffer lie. What the kernel does not tell has a
// reason instead.
type pageReport struct {
	nodes     map[int]int // pages by NUMA node, of those that were asked for
	noNodes   string      // why nodes is not known; "" also where there is one node only
	huge      float64     // share of the buffer that lies in transparent huge pages
	hugeKnown bool
}

// report adds the pages to the proof, and warns when most of them are not on the node
// where they should be; -1 is for one that is not known.
func (p pageReport) report(r *results.Result, proof *results.PCIeProof, want int) {
	if p.hugeKnown {
		proof.HugePages = &results.OrUnknown[float64]{Value: p.huge}
	} else {
		proof.HugePages = &results.OrUnknown[float64]{Why: "unknown"}
	}
	if p.noNodes != "" {
		proof.PagesByNode = &results.OrUnknown[map[string]int]{Why: "unknown: " + p.noNodes}
		return
	}
	if p.nodes == nil {
		return
	}
	all, away := 0, 0
	by := map[string]int{}
	for node, n := range p.nodes {
		by[strconv.Itoa(node)] = n
		all += n
		if node != want {
			away += n
		}
	}
	proof.PagesByNode = &results.OrUnknown[map[string]int]{Value: by}
	if want >= 0 && 2*away > all {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d of %d pages of the buffer do not lie on NUMA node %d, where the thread that copies is", away, all, want))
	}
}

// hugeBytes is how much of the memory from start to end lies in transparent huge pages,
// by the text of /proc/self/smaps; known tells whether a mapping there covers any of it.
func hugeBytes(smaps string, start, end uint64) (huge uint64, known bool) {
	inside := false
	for line := range strings.Lines(smaps) {
		if span, _, ok := strings.Cut(line, " "); ok {
			if lo, hi, ok := strings.Cut(span, "-"); ok {
				a, err1 := strconv.ParseUint(lo, 16, 64)
				b, err2 := strconv.ParseUint(hi, 16, 64)
				inside = err1 == nil && err2 == nil && a < end && b > start
				known = known || inside
				continue
			}
		}
		if rest, ok := strings.CutPrefix(line, "AnonHugePages:"); ok && inside {
			if f := strings.Fields(rest); len(f) > 0 {
				kb, _ := strconv.ParseUint(f[0], 10, 32)
				huge += kb << 10
			}
		}
	}
	return min(huge, end-start), known
}
