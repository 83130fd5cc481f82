package results

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Columns of WriteCSV before and after those of the parameters.
var (
	csvFirst = []string{"suite", "name"}
	csvLast  = []string{
		"assumed", "status", "reason", "metric", "unit", "better", "median", "lo", "hi", "confidence",
		"min", "max", "mad", "n", "outliers",
	}
)

// WriteCSV writes a row for each metric of each case, in base units, with a
// column for each parameter that a case has; a parameter named like another
// column gets "param_" before it. A case without metrics has one row. A text that
// a spreadsheet would take for a formula gets a single quote before it.
func WriteCSV(w io.Writer, r *Report) error {
	var keys []string
	for _, res := range r.Results {
		for _, p := range res.Params {
			if !slices.Contains(keys, p.Key) {
				keys = append(keys, p.Key)
			}
		}
	}
	head := slices.Clone(csvFirst)
	for _, key := range keys {
		if slices.Contains(csvFirst, key) || slices.Contains(csvLast, key) {
			key = "param_" + key
		}
		head = append(head, cell(key))
	}
	c := csv.NewWriter(w)
	c.Write(append(head, csvLast...)) // Flush keeps the error
	for _, res := range r.Results {
		row := []string{cell(res.Suite), cell(res.Name)}
		for _, key := range keys {
			row = append(row, paramCell(res.Params, key))
		}
		row = append(row, cell(strings.Join(res.Assumed, " ")), cell(res.Status))
		if len(res.Metrics) == 0 {
			row = append(row, cell(res.Reason))
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
func metricCells(m *Metric, reason string) []string {
	if reason == "" {
		reason = m.Reason
	}
	cells := []string{cell(reason), cell(m.Name), cell(m.Unit), cell(m.Better)}
	n := strconv.Itoa(len(m.Samples))
	if m.missing() {
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
func paramCell(ps Params, key string) string {
	for _, p := range ps {
		if p.Key != key {
			continue
		}
		if s, ok := p.Value.(string); ok {
			return cell(s)
		}
		return p.text()
	}
	return ""
}

// cell makes one line of a text that a terminal may print, and guards it against
// being run as a formula by a spreadsheet (OWASP, "CSV Injection").
func cell(s string) string {
	s = Plain(s)
	if s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		return "'" + s
	}
	return s
}
