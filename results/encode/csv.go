package encode

import (
	"cmp"
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"

	"dlbench/results"
)

// Columns of CSV before and after those of the parameters.
var (
	csvFirst = []string{"suite", "name"}
	csvLast  = []string{
		"assumed", "status", "reason", "metric", "unit", "better", "median", "lo", "hi", "confidence",
		"min", "max", "mad", "n", "outliers",
	}
)

// CSV writes a row for each metric of each case, in base units, with a
// column for each parameter that a case has; a parameter named like another
// column gets "param_" before it. A case without metrics has one row. A text that
// a spreadsheet would take for a formula gets a single quote before it.
func CSV(w io.Writer, r *results.Report) error {
	var keys []string
	for i := range r.Results {
		keys = results.AppendNew(keys, results.ParamKeys(&r.Results[i])...)
	}
	head := slices.Clone(csvFirst)
	for _, key := range keys {
		if slices.Contains(csvFirst, key) || slices.Contains(csvLast, key) {
			key = "param_" + key
		}
		head = append(head, CSVCells(key)...)
	}
	c := csv.NewWriter(w)
	c.Write(append(head, csvLast...)) // Flush keeps the error
	for _, res := range r.Results {
		row := CSVCells(res.Suite, res.Name)
		for _, key := range keys {
			row = append(row, paramCell(res.Params, key))
		}
		row = append(row, CSVCells(strings.Join(res.Assumed, " "), res.Status)...)
		if len(res.Metrics) == 0 {
			row = append(row, CSVCells(res.Reason)...)
			c.Write(append(row, make([]string, len(head)+len(csvLast)-len(row))...))
		}
		for i := range res.Metrics {
			c.Write(append(slices.Clone(row), metricCells(&res.Metrics[i], res.Reason)...))
		}
	}
	c.Flush()
	return c.Error()
}

// metricCells are the cells from the reason on; of a metric without a value the
// numbers are empty.
func metricCells(m *results.Metric, reason string) []string {
	cells := CSVCells(cmp.Or(reason, m.Reason), m.Name, m.Unit, m.Better)
	n := strconv.Itoa(len(m.Samples))
	if m.Missing() {
		return append(cells, "", "", "", "", "", "", "", n, "")
	}
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	lo, hi, confidence := "", "", ""
	if m.Lo != nil && m.Hi != nil {
		lo, hi, confidence = number(*m.Lo), number(*m.Hi), number(m.Confidence)
	}
	return append(cells, number(m.Median), lo, hi, confidence,
		number(m.Min), number(m.Max), number(m.MAD), n, strconv.Itoa(m.Outliers))
}

// paramCell is the value of a parameter; only text is guarded, a negative
// number is none.
func paramCell(ps results.Params, key string) string {
	p, _ := ps.Find(key)
	if s, ok := p.Value.(string); ok {
		return CSVCells(s)[0]
	}
	return p.Text()
}

// CSVCells makes each text one line that a terminal may print, and guards it against
// being run as a formula by a spreadsheet (OWASP, "CSV Injection").
func CSVCells(texts ...string) []string {
	cells := make([]string, len(texts))
	for i, s := range texts {
		cells[i] = results.Plain(s)
		if cells[i] != "" && strings.ContainsRune("=+-@", rune(cells[i][0])) {
			cells[i] = "'" + cells[i]
		}
	}
	return cells
}
