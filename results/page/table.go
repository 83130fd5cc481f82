package page

import (
	"strings"

	"dlbench/results/encode"
)

// TableOf turns a table of a comparison into rows.
func TableOf(t encode.Table) Table {
	out := Table{Caption: t.Title()}
	out.Rows = make([][]string, t.Rows)
	for _, c := range t.Columns {
		out.Head, out.Numbers = append(out.Head, c.Head), append(out.Numbers, c.Number)
		for i := range out.Rows {
			cell := c.Cells[i]
			if c.Spread != nil {
				cell = strings.TrimSpace(cell + " " + c.Spread[i])
			}
			out.Rows[i] = append(out.Rows[i], cell)
		}
	}
	for _, n := range t.Notes {
		out.Notes = append(out.Notes, strings.TrimSpace(n.Kind+" "+n.Name+": "+n.Text))
	}
	return out
}
