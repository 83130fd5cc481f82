package encode

import (
	"fmt"
	"strings"

	"dlbench/results"
)

// memoryLegend explains what the memory of a loader is.
const memoryLegend = "memory: PSS of all processes, where shared pages count by share; the most of what was seen " +
	"after each sample"

// addLoaders adds lines on what only loaders in processes of their own have: how far the pixels of
// each are from another decoder's, and what their memory is.
func (t *Table) addLoaders(rows []*results.Result) {
	var pixels []string
	against := ""
	for _, r := range rows {
		if p := results.As[results.ExternalProof](r.Proof).Pixels; p != nil {
			name := results.As[results.ExternalParams](r.Params).Loader
			pixels = results.AppendNew(pixels, fmt.Sprintf("%s %.2g (at most %.0f)", name, p.Mean, p.Max))
			against = p.Against
		}
	}
	if len(pixels) > 0 {
		line := fmt.Sprintf("pixels off %s's, of 256 levels, in one crop: %s", against, strings.Join(pixels, ", "))
		t.Sources = append(t.Sources, results.Plain(line))
	}
	if t.Suite == "external" {
		t.Sources = append(t.Sources, memoryLegend)
	}
}
