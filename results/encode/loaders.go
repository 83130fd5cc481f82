package encode

import (
	"cmp"
	"fmt"

	"dlbench/results"
)

// memoryLegend explains what the memory of a loader is.
const memoryLegend = "memory: PSS of all processes, where shared pages count by share; the most of what was seen " +
	"after each sample"

// addLoaders adds what only loaders in processes of their own have: how far the pixels of each
// are from another decoder's.
func (t *Table) addLoaders(rows []*results.Result) {
	const suite = "external"
	if t.Suite != suite {
		return
	}
	against := ""
	some := t.Add(Column{Head: "pixels off", Extra: true}, func(i int) (cell, spread string) {
		p := results.As[results.ExternalProof](rows[i].Proof).Pixels
		if p == nil {
			return "", ""
		}
		against = cmp.Or(against, p.Against)
		return fmt.Sprintf("%.2g, max %.0f", p.Mean, p.Max), ""
	})
	if some {
		t.Sources = append(t.Sources, "pixels off: mean and largest difference from "+results.Plain(against)+
			" in levels of 256, of one crop of one image")
	}
	for _, r := range rows {
		if r.Metric("memory") != nil {
			t.Sources = append(t.Sources, memoryLegend)
			return
		}
	}
}
