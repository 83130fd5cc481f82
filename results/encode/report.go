package encode

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"dlbench/results"
)

// spreadLegend explains what stands behind medians.
const spreadLegend = "±: longer side of the median's 95 % interval; a..b: least and greatest sample, " +
	"where samples are too few or follow each other too closely for an interval; or the band of a reference"

// Text writes r for a terminal that is width columns wide, as WriteText: a table for each
// suite, below it the cases that failed or were skipped, with reasons, and the warnings,
// and the findings, the predictions and the verdict's notes at the end.
//
// What was simulated has a table of its own, with the word in its title. A table has the
// parameters that differ, the metrics with their intervals ("±0.4 %"; minimum and maximum
// where there are few samples), how much runs differ in the first one, the share of the
// line rate and the references.
func Text(w io.Writer, r *results.Report, width int) error {
	return WriteText(w, width, append([]Table{Section("", interrupted(r)...)}, sections(r)...)...)
}

// Markdown writes r in GitHub's flavour of Markdown: what it is of, the first screen, and
// what Text writes.
func Markdown(w io.Writer, r *results.Report) error {
	title := r.Tool.Name + " " + r.Tool.Version
	for _, s := range []string{r.Label, r.Host.CPU.Model} {
		title += results.After(", ", s)
	}
	if !r.Started.IsZero() {
		title += ", " + r.Started.UTC().Format("2006-01-02 15:04 UTC")
	}
	blocks := markdown([]Table{Section("", title), Section("", interrupted(r)...)})
	if r.Verdict != nil {
		var b bytes.Buffer
		if err := Screen(&b, r, false); err != nil {
			return err
		}
		blocks = append(blocks, "```\n"+b.String()+"```")
	}
	return writeBlocks(w, append(blocks, markdown(sections(r))...))
}

func interrupted(r *results.Report) (lines []string) {
	if r.Status == results.Interrupted {
		lines = append(lines, "interrupted, so the tables are not complete: "+r.CasesFinished())
	}
	return lines
}

// sections are all that is to be said of a report.
func sections(r *results.Report) []Table {
	ts := Tables(r)
	if len(ts) > 0 {
		ts = append(ts, Section("", spreadLegend))
	}
	var findings []string
	for _, f := range r.Findings {
		findings = append(findings, findingText(f))
	}
	ts = append(ts, Section("Findings", findings...),
		PredictionTable(r.Predictions, true), PredictionTable(r.Predictions, false))
	if r.Verdict != nil {
		ts = append(ts, Section("On the answer", r.Verdict.Notes...))
	}
	if d := r.Dataset; d != nil && d.Network != nil {
		ts = append(ts, Section("Over the network", "read "+d.Network.String()))
	}
	return append(ts, Section("Warnings", r.Warnings...))
}

// VerdictText is the verdict of a finding: "holds, simulated link and step".
func VerdictText(f results.Finding) string {
	return strings.ReplaceAll(results.Plain(f.Verdict), "-", " ") +
		results.After(", simulated ", results.AssumedText(f.Assumed))
}

// findingText is a finding as a line: "A9 (loading ahead from disk) holds, simulated disk: ...".
func findingText(f results.Finding) string {
	s := results.Plain(f.Claim)
	if t := results.ClaimTitle(f.Claim); t != "" {
		s += " (" + t + ")"
	}
	return s + " " + VerdictText(f) + ": " + results.Plain(f.Text)
}

// PredictionTable has a row for each prediction: those that were checked, with what was
// measured, or those that were not. Columns in which none has anything are left out.
func PredictionTable(all []results.Prediction, checked bool) Table {
	t := NewTable("What if", "change", "metric", "now", "predicted", "interval", "measured", "off by", "cost", "simulated")
	if checked {
		t.Suite = "Predicted, then measured"
	}
	for _, p := range all {
		if (p.Measured != nil) != checked {
			continue
		}
		number := func(x *float64) float64 { return *cmp.Or(x, new(math.NaN())) }
		value := func(x *float64) string { return results.FormatValue(number(x), p.Unit) }
		off := ""
		if p.Error != nil {
			off = fmt.Sprintf("%+.1f %%", 100**p.Error)
		}
		if p.Extrapolated {
			off = results.List(off, "extrapolated")
		}
		t.Row(p.Change, p.Metric, value(p.Base), value(p.Value), results.FormatRange(number(p.Lo), number(p.Hi), p.Unit),
			value(p.Measured), off, p.Cost, strings.Join(p.Assumed, ", "))
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		c.Number, c.Extra = i >= 2 && i <= 6, i == 1 || i == 2 || i == 4
		for k, cell := range c.Cells {
			c.Cells[k] = cmp.Or(results.Plain(cell), results.NoValue)
		}
	}
	t.Columns = slices.DeleteFunc(t.Columns, func(c Column) bool { return len(results.Without(c.Cells, results.NoValue)) == 0 })
	return t
}

// CSV writes a row for each metric of each case, in base units, with a
// column for each parameter that a case has. A case without metrics has one row.
func CSV(w io.Writer, r *results.Report) error {
	var keys []string
	for i := range r.Results {
		keys = results.AppendNew(keys, results.ParamKeys(&r.Results[i])...)
	}
	t := NewTable("", slices.Concat([]string{"suite", "name"}, keys, []string{
		"assumed", "status", "reason", "metric", "unit", "better", "median", "lo", "hi", "confidence",
		"min", "max", "mad", "n", "outliers",
	})...)
	for _, res := range r.Results {
		row := []string{res.Suite, res.Name}
		for _, key := range keys {
			row = append(row, res.Params.Text(key))
		}
		row = append(row, strings.Join(res.Assumed, " "), res.Status)
		if len(res.Metrics) == 0 {
			t.Row(append(row, res.Reason)...)
		}
		for i := range res.Metrics {
			t.Row(slices.Concat(row, metricCells(&res.Metrics[i], res.Reason))...)
		}
	}
	return t.CSV(w)
}

// metricCells are the cells from the reason on; of a metric without a value the
// numbers are empty.
func metricCells(m *results.Metric, reason string) []string {
	values := []*float64{&m.Median, m.Lo, m.Hi, &m.Confidence, &m.Min, &m.Max, &m.MAD}
	if m.Lo == nil {
		values[3] = nil
	}
	if m.Missing() {
		clear(values)
	}
	cells := []string{cmp.Or(reason, m.Reason), m.Name, m.Unit, m.Better}
	for _, x := range values {
		cell := ""
		if x != nil {
			cell = strconv.FormatFloat(*x, 'g', -1, 64)
		}
		cells = append(cells, cell)
	}
	return append(cells, strconv.Itoa(len(m.Samples)), strconv.Itoa(m.Outliers))
}
