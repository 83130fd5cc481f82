// Package encode lays a report out as tables and writes them as text, Markdown and CSV,
// and its samples in the Go benchmark format.
package encode

import (
	"slices"
	"strings"

	"dlbench/results"
)

// Table is one suite of a report, or of a comparison, laid out for people. What was
// measured and what was assumed stand in tables of their own. All text is on one line
// each and free of control characters.
type Table struct {
	Suite   string
	Assumed string // the assumed parts: "link and step"; "" in the table of what was measured
	Common  string // the parameters that all rows share: "dir h2d, size 19.44 MB"
	Rows    int
	Columns []Column
	Sources []string // "line rate: 8 GT/s x 128/130 x lanes / 8", for each reference column
	Demands []string // "ResNet-152 148.1 images/s": references that are the same for all rows
	Notes   []Note   // cases that failed or were skipped, values that are missing, warnings
}

// Column is one column of a table. The one with the least keep is the first to
// go where the width does not suffice; those with keepAlways stay.
type Column struct {
	Head   string
	Number bool // aligned right
	Cells  []string
	// Spread holds what stands behind each cell, an interval or "", or is nil.
	Spread     []string
	Keep       int
	KeepSpread int
}

// Ranks of columns. Parameters tell the rows apart and stay, and with them whether
// the rows are proven and the suite's first metric. Then go, from the first to be dropped: the intervals of further metrics, the metrics from the
// last to the third, bands from the last to the first, the second metric, the
// share of the line rate, single references from the last to the first, how the
// restarts differ, and the interval of the first metric.
const (
	KeepAlways    = 1000
	KeepInterval  = 900
	keepRuns      = 890
	keepReference = 800 // less one for each before it
	keepShare     = 700
	keepSecond    = 600
	keepBand      = 500 // likewise
	keepFurther   = 400 // likewise
	KeepOthers    = 200 // likewise
)

// Tables returns the tables of each suite in the order of the results.
func Tables(r *results.Report) []Table {
	var ts []Table
	for i := range r.Results {
		if !slices.ContainsFunc(ts, func(t Table) bool { return t.holds(&r.Results[i]) }) {
			ts = append(ts, Table{Suite: results.Plain(r.Results[i].Suite), Assumed: results.AssumedText(r.Results[i].Assumed)})
		}
	}
	for i := range ts {
		ts[i].fill(r)
	}
	return ts
}

// holds tells whether res belongs into t.
func (t *Table) holds(res *results.Result) bool {
	return t.Suite == results.Plain(res.Suite) && t.Assumed == results.AssumedText(res.Assumed)
}

// Title is "pcie: dir h2d, size 19.44 MB" or "pcie, assumed link: dir h2d".
func (t *Table) Title() string {
	s := t.Suite
	if t.Assumed != "" {
		s += ", assumed " + t.Assumed
	}
	if t.Common != "" {
		s += ": " + t.Common
	}
	return s
}

func (t *Table) fill(r *results.Report) {
	var all, rows []*results.Result
	for i := range r.Results {
		if res := &r.Results[i]; t.holds(res) {
			all = append(all, res)
			if res.Status != results.Skipped {
				rows = append(rows, res)
			}
			if res.Status != results.OK {
				t.AddNote(res.Status, res.Name, res.Reason)
			}
		}
	}
	t.Rows = len(rows)
	t.AddParams(rows)
	t.addProven(rows)
	metrics := t.addMetrics(rows)
	t.addReferences(rows, metrics)
	for _, res := range all {
		for _, w := range res.Warnings {
			t.AddNote("warning", res.Name, w)
		}
	}
}

// AddParams gives each parameter that varies a column and puts the others into
// t.common.
func (t *Table) AddParams(rows []*results.Result) {
	var keys []string
	for _, res := range rows {
		for _, p := range res.Params {
			if !slices.Contains(keys, p.Key) {
				keys = append(keys, p.Key)
			}
		}
	}
	var common []string
	for _, key := range keys {
		c := Column{Head: results.Plain(key), Keep: KeepAlways, Cells: make([]string, len(rows))}
		if key == "bytes" {
			c.Head = "size"
		}
		numbers := true
		for i, res := range rows {
			c.Cells[i] = paramText(res.Params, key)
			numbers = numbers && isNumber(res.Params, key)
		}
		c.Number = numbers
		if len(slices.Compact(slices.Clone(c.Cells))) == 1 {
			common = append(common, c.Head+" "+c.Cells[0])
			continue
		}
		t.Columns = append(t.Columns, c)
	}
	t.Common = strings.Join(common, ", ")
}

// addProven says of each row whether what it claims to have measured is proven,
// where any row tells.
func (t *Table) addProven(rows []*results.Result) {
	c := Column{Head: "proven", Keep: KeepAlways, Cells: make([]string, len(rows))}
	some := false
	for i, res := range rows {
		proven, ok := res.Proof["proven"].(bool)
		ok = ok && res.Status == results.OK
		some = some || ok
		switch {
		case !ok:
			c.Cells[i] = results.NoValue
		case proven:
			c.Cells[i] = "yes"
		default:
			c.Cells[i] = "no"
		}
	}
	if some {
		t.Columns = append(t.Columns, c)
	}
}

// paramText is the value of a parameter for people, NoValue where it is not
// there.
func paramText(ps results.Params, key string) string {
	for _, p := range ps {
		if p.Key != key {
			continue
		}
		if n, ok := p.Value.(int64); ok && key == "bytes" {
			return results.FormatBytes(n)
		}
		return results.Plain(p.Text())
	}
	return results.NoValue
}

func isNumber(ps results.Params, key string) bool {
	for _, p := range ps {
		if p.Key == key {
			switch p.Value.(type) {
			case string, bool:
				return false
			}
		}
	}
	return true
}
