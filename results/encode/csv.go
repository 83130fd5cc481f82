package encode

import (
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
		head = append(head, CSVCell(key))
	}
	c := csv.NewWriter(w)
	c.Write(append(head, csvLast...)) // Flush keeps the error
	for _, res := range r.Results {
		row := []string{CSVCell(res.Suite), CSVCell(res.Name)}
		for _, key := range keys {
			row = append(row, paramCell(res.Params, key))
		}
		row = append(row, CSVCell(strings.Join(res.Assumed, " ")), CSVCell(res.Status))
		if len(res.Metrics) == 0 {
			row = append(row, CSVCell(res.Reason))
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
	if reason == "" {
		reason = m.Reason
	}
	cells := []string{CSVCell(reason), CSVCell(m.Name), CSVCell(m.Unit), CSVCell(m.Better)}
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
		return CSVCell(s)
	}
	return p.Text()
}

// CSVCell makes one line of a text that a terminal may print, and guards it against
// being run as a formula by a spreadsheet (OWASP, "CSV Injection").
func CSVCell(s string) string {
	s = results.Plain(s)
	if s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		return "'" + s
	}
	return s
}
