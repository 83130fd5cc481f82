package encode

import (
	"fmt"
	"strings"

	"dlbench/results"
)

// Nodes are the tables of what nodes measured together, one for each suite.
func Nodes(n *results.Nodes) []Table {
	ts, parts := Group(n.Cases, func(c results.NodesCase) (string, []string) { return c.Suite, c.Assumed })
	for i := range ts {
		ts[i].Columns = NewTable("", "case", "all nodes", "a node", "slowest").Columns
		ts[i].Suite = fmt.Sprintf("%s on %s at once", ts[i].Suite, results.Plural(n.Size, "node"))
		for _, c := range parts[i] {
			total := results.NoValue
			if c.Total != nil {
				total = results.FormatValue(*c.Total, c.Unit)
			}
			lo, hi := c.Ends()
			ts[i].Row(results.Plain(strings.TrimPrefix(c.Name, c.Suite+"/")), total,
				results.FormatRange(lo, hi, c.Unit), fmt.Sprintf("rank %d", c.Slowest))
		}
	}
	about := Section("")
	for _, lost := range n.Lost {
		about.AddNote("", "", fmt.Sprintf("rank %d of %d %s", lost.Rank, n.Size, results.Plain(lost.Reason)))
	}
	if n.Skew != nil {
		const skew = "The nodes began each round of a case within %s of each other (median; at most %s), by their clocks."
		about.AddNote("", "", fmt.Sprintf(skew, results.FormatSeconds(n.Skew.Median), results.FormatSeconds(n.Skew.Max)))
	}
	return append(ts, about)
}
