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
	return WriteText(w, width, sections(r)...)
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
	blocks := markdown([]Table{Section("", title)})
	if r.Verdict != nil {
		var b bytes.Buffer
		if err := Screen(&b, r, false); err != nil {
			return err
		}
		blocks = append(blocks, "```\n"+b.String()+"```")
	}
	return writeBlocks(w, append(blocks, markdown(sections(r))...))
}

// sections are all that is to be said of a report.
func sections(r *results.Report) []Table {
	var ts []Table
	if r.Status == results.Interrupted {
		ts = append(ts, Section("", "interrupted, so the tables are not complete: "+r.CasesFinished()))
	}
	if ts = append(ts, Tables(r)...); len(r.Results) > 0 {
		ts = append(ts, Section("", spreadLegend))
	}
	var findings []string
	for _, f := range r.Findings {
		findings = append(findings, findingText(f))
	}
	ts = append(ts, Section("Findings", findings...),
		PredictionTable(r.Predictions, true), PredictionTable(r.Predictions, false))
	ts = append(ts, Section("On the answer", cmp.Or(r.Verdict, &results.Verdict{}).Notes...))
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
	return headOf(f.Claim, results.ClaimTitle(f.Claim)) + " " + VerdictText(f) + ": " + results.Plain(f.Text)
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
		if !checked { // the largest error of its kind, either way
			off = strings.TrimLeft(off, "+-")
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
	t.Columns = slices.DeleteFunc(t.Columns, func(c Column) bool {
		return len(results.Without(c.Cells, results.NoValue)) == 0
	})
	return t
}

// Claims writes a line for each claim of the articles, and for what else r has a finding: what the
// article says, and what was found, or why nothing was.
func Claims(w io.Writer, r *results.Report, width int) error {
	var lines []string
	said := map[string]bool{}
	for _, c := range results.Claims {
		for _, f := range r.Findings {
			if f.Claim == c.ID {
				lines, said[c.ID] = append(lines, claimLine(f)), true
			}
		}
		if !said[c.ID] && c.Sentence != "" {
			lines = append(lines, headOf(c.ID, c.Sentence)+": "+c.Silence(r))
		}
	}
	for _, f := range r.Findings { // of a newer dlbench
		if !said[f.Claim] {
			lines = append(lines, claimLine(f))
		}
	}
	lines = append(lines, "Claims A are those of Tim Dettmers, A Full Hardware Guide to Deep Learning, claims B those of "+
		"Jeff Chen on building a machine instead of renting one; how each is judged: dlbench help claims; in full: "+
		"dlbench show --full")
	return WriteText(w, width, Section("", lines...))
}

// headOf is "A7 (2 cores a GPU ...)", or the identifier of an unknown claim alone.
func headOf(id, about string) string {
	if about == "" {
		return results.Plain(id)
	}
	return results.Plain(id) + " (" + about + ")"
}

// claimLine is "A7 (2 cores a GPU ...): holds: with 2 threads ...", the first sentence of what was
// found, or the whole reason why nothing was.
func claimLine(f results.Finding) string {
	text := results.Plain(f.Text)
	if f.Verdict != results.NotMeasured {
		text, _, _ = strings.Cut(text, "; ")
		text, _, _ = strings.Cut(text, ". ")
	}
	c := results.ClaimOf(f.Claim)
	return headOf(c.ID, cmp.Or(c.Sentence, c.Title)) + ": " + VerdictText(f) + ": " + text
}

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
