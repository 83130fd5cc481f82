package results

import (
	"slices"
	"strings"
)

// table is one suite of a report, laid out for people. What was measured and what
// was assumed stand in tables of their own.
type table struct {
	suite   string
	assumed string // the assumed parts: "link"; "" in the table of what was measured
	common  string // the parameters that all rows share: "dir h2d, size 19.44 MB"
	rows    int
	columns []column
	sources []string // "line rate: 8 GT/s x 128/130 x lanes / 8", for each reference column
	demands []string // "ResNet-152 148.1 images/s": references that are the same for all rows
	notes   []note   // cases that failed or were skipped, values that are missing, warnings
}

// column is one column of a table. The one with the least keep is the first to
// go where the width does not suffice; those with keepAlways stay.
type column struct {
	head  string
	right bool
	keep  int
	cells []string
	// spread holds what stands behind each cell, an interval or "".
	spread     []string
	keepSpread int
}

// Ranks of columns. Parameters tell the rows apart and stay, and with them whether
// the rows are proven and the suite's first metric. Then go, from the first to be dropped: the intervals of further metrics, the metrics from the
// last to the third, bands from the last to the first, the second metric, the
// share of the line rate, single references from the last to the first, how the
// restarts differ, and the interval of the first metric.
const (
	keepAlways    = 1000
	keepInterval  = 900
	keepRuns      = 890
	keepReference = 800 // less one for each before it
	keepShare     = 700
	keepSecond    = 600
	keepBand      = 500 // likewise
	keepFurther   = 400 // likewise
	keepOthers    = 200 // likewise
)

// tables returns the tables of each suite in the order of the results.
func tables(r *Report) []table {
	var ts []table
	for i := range r.Results {
		if !slices.ContainsFunc(ts, func(t table) bool { return t.holds(&r.Results[i]) }) {
			ts = append(ts, table{suite: r.Results[i].Suite, assumed: assumedText(&r.Results[i])})
		}
	}
	for i := range ts {
		ts[i].fill(r)
	}
	return ts
}

// holds tells whether res belongs into t.
func (t *table) holds(res *Result) bool {
	return t.suite == res.Suite && t.assumed == assumedText(res)
}

func assumedText(res *Result) string { return plain(strings.Join(res.Assumed, " and ")) }

// title is "pcie: dir h2d, size 19.44 MB" or "pcie, assumed link: dir h2d".
func (t *table) title() string {
	s := plain(t.suite)
	if t.assumed != "" {
		s += ", assumed " + t.assumed
	}
	if t.common != "" {
		s += ": " + t.common
	}
	return s
}

func (t *table) fill(r *Report) {
	var all, rows []*Result
	for i := range r.Results {
		if res := &r.Results[i]; t.holds(res) {
			all = append(all, res)
			if res.Status != Skipped {
				rows = append(rows, res)
			}
			if res.Status != OK {
				t.note(res.Status, res.Name, res.Reason)
			}
		}
	}
	t.rows = len(rows)
	t.addParams(rows)
	t.addProven(rows)
	metrics := t.addMetrics(rows)
	t.addReferences(rows, metrics)
	for _, res := range all {
		for _, w := range res.Warnings {
			t.note("warning", res.Name, w)
		}
	}
}

// addParams gives each parameter that varies a column and puts the others into
// t.common.
func (t *table) addParams(rows []*Result) {
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
		c := column{head: plain(key), keep: keepAlways, cells: make([]string, len(rows))}
		if key == "bytes" {
			c.head = "size"
		}
		numbers := true
		for i, res := range rows {
			c.cells[i] = paramText(res.Params, key)
			numbers = numbers && isNumber(res.Params, key)
		}
		c.right = numbers
		if len(slices.Compact(slices.Clone(c.cells))) == 1 {
			common = append(common, c.head+" "+c.cells[0])
			continue
		}
		t.columns = append(t.columns, c)
	}
	t.common = strings.Join(common, ", ")
}

// addProven says of each row whether what it claims to have measured is proven,
// where any row tells.
func (t *table) addProven(rows []*Result) {
	c := column{head: "proven", keep: keepAlways, cells: make([]string, len(rows))}
	some := false
	for i, res := range rows {
		proven, ok := res.Proof["proven"].(bool)
		ok = ok && res.Status == OK
		some = some || ok
		switch {
		case !ok:
			c.cells[i] = NoValue
		case proven:
			c.cells[i] = "yes"
		default:
			c.cells[i] = "no"
		}
	}
	if some {
		t.columns = append(t.columns, c)
	}
}

// paramText is the value of a parameter for people, NoValue where it is not
// there.
func paramText(ps Params, key string) string {
	for _, p := range ps {
		if p.Key != key {
			continue
		}
		if n, ok := p.Value.(int64); ok && key == "bytes" {
			return FormatBytes(n)
		}
		return plain(format(p.Value))
	}
	return NoValue
}

func isNumber(ps Params, key string) bool {
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
