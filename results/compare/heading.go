package compare

import (
	"fmt"
	"slices"

	"dlbench/results"
)

// headingWidth is how much of a label stands above a column.
const headingWidth = 20

// headings are what the sides are called above columns: the start of a label that
// is too long, the end of it where starts are alike, and a number where those are.
func headings(sides []Side) []string {
	start := func(_ int, label string) string { return results.Clip(label, headingWidth) }
	end := func(_ int, label string) string {
		if r := []rune(label); len(r) > headingWidth {
			return "…" + string(r[len(r)-headingWidth+1:])
		}
		return label
	}
	number := func(k int, label string) string { return results.Clip(fmt.Sprintf("%d %s", k+1, label), headingWidth) }
	var heads []string
	for _, short := range []func(int, string) string{start, end, number} {
		heads = nil
		for k, s := range sides {
			heads = append(heads, short(k, results.Plain(s.Label)))
		}
		if len(slices.Compact(slices.Sorted(slices.Values(heads)))) == len(sides) {
			break
		}
	}
	return heads
}
