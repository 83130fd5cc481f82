package encode

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"dlbench/results"
)

// verdictLines are a report's verdict: what it says, the changes that help, and what it
// rests on; nil without one.
func verdictLines(r *results.Report) (head string, changes, notes []string) {
	v := r.Verdict
	if v == nil {
		return "", nil, nil
	}
	head = "verdict"
	if len(v.Assumed) > 0 {
		head += " (assumed: " + results.Plain(strings.Join(v.Assumed, ", ")) + ")"
	}
	if v.Status != results.Holds && v.Status != "" {
		head += " " + strings.ReplaceAll(results.Plain(v.Status), "-", " ")
	}
	head += ": " + results.Plain(v.Text)
	for _, c := range v.Changes {
		changes = append(changes, results.Plain(c))
	}
	for _, n := range v.Notes {
		notes = append(notes, results.Plain(n))
	}
	return head, changes, notes
}

// PredictionTable returns predictions as rows under their heads: those that were
// checked, with what was measured, or those that were not.
func PredictionTable(all []results.Prediction, checked bool) (heads []string, rows [][]string) {
	heads = []string{"change", "metric", "now", "predicted", "interval", "off by", "cost"}
	if checked {
		heads = []string{"checked", "metric", "predicted", "interval", "measured", "error", "assumed"}
	}
	for _, p := range all {
		if (p.Measured != nil) != checked {
			continue
		}
		value := func(x *float64) string {
			if x == nil {
				return results.NoValue
			}
			return results.FormatValue(*x, p.Unit)
		}
		interval := results.NoValue
		if p.Lo != nil && p.Hi != nil {
			interval = results.FormatRange(*p.Lo, *p.Hi, p.Unit)
		}
		off := results.NoValue
		if p.Error != nil {
			off = fmt.Sprintf("%+.1f %%", 100**p.Error)
			if !checked {
				off = fmt.Sprintf("%.1f %%", 100*math.Abs(*p.Error))
			}
		}
		if checked {
			rows = append(rows, []string{results.Plain(p.Change), results.Plain(p.Metric), value(p.Value), interval, value(p.Measured), off, results.Plain(strings.Join(p.Assumed, ", "))})
			continue
		}
		if p.Extrapolated {
			off += ", extrapolated"
		}
		rows = append(rows, []string{results.Plain(p.Change), results.Plain(p.Metric), value(p.Base), value(p.Value), interval, off, results.Plain(p.Cost)})
	}
	return heads, rows
}

// predictionKeep is how long the columns of predictions are kept where there is no room
// for all.
var predictionKeep = map[string]int{"metric": 1, "cost": 2, "assumed": 2, "now": 3, "interval": 4}

// columnsOf makes columns of rows, the first two and the last one on the left.
func columnsOf(heads []string, rows [][]string) []Column {
	columns := make([]Column, len(heads))
	for i, h := range heads {
		columns[i] = Column{Head: h, Number: i > 1 && i < len(heads)-1, Keep: KeepAlways}
		if k, ok := predictionKeep[h]; ok {
			columns[i].Keep = k
		}
		for _, row := range rows {
			columns[i].Cells = append(columns[i].Cells, row[i])
		}
	}
	return columns
}

// writeVerdict writes the verdict and the predictions behind it for a terminal.
func writeVerdict(w *bytes.Buffer, r *results.Report, width int) {
	for _, checked := range []bool{true, false} {
		heads, rows := PredictionTable(r.Predictions, checked)
		if len(rows) == 0 {
			continue
		}
		t := &Table{Columns: columnsOf(heads, rows), Rows: len(rows)}
		if width > 0 { // what is changed is what may be long
			most := max(24, width-(total(t.Columns)-t.Columns[0].width()))
			for i, c := range t.Columns[0].Cells {
				t.Columns[0].Cells[i] = results.Clip(c, most)
			}
		}
		for _, line := range t.Lines(width) {
			w.WriteString(results.Clip(line, width))
			w.WriteByte('\n')
		}
		w.WriteByte('\n')
	}
	head, changes, notes := verdictLines(r)
	if head == "" {
		return
	}
	Wrap(w, head, width)
	for i, c := range changes {
		Wrap(w, fmt.Sprintf("%d. %s", i+1, c), width)
	}
	for _, n := range notes {
		Wrap(w, "- "+n, width)
	}
}

// markdownVerdict writes the same as a section.
func markdownVerdict(w *bytes.Buffer, r *results.Report) {
	for _, checked := range []bool{true, false} {
		heads, rows := PredictionTable(r.Predictions, checked)
		if len(rows) == 0 {
			continue
		}
		title := "What if"
		if checked {
			title = "Predicted, then measured"
		}
		fmt.Fprintf(w, "\n### %s\n\n", title)
		t := &Table{Columns: columnsOf(heads, rows), Rows: len(rows)}
		t.Markdown(w)
	}
	head, changes, notes := verdictLines(r)
	if head == "" {
		return
	}
	fmt.Fprintf(w, "\n### Verdict\n\n%s\n", EscapeMarkdown(strings.TrimPrefix(head, "verdict: ")))
	if len(changes) > 0 {
		w.WriteByte('\n')
	}
	for i, c := range changes {
		fmt.Fprintf(w, "%d. %s\n", i+1, EscapeMarkdown(c))
	}
	if len(notes) > 0 {
		w.WriteByte('\n')
	}
	for _, n := range notes {
		fmt.Fprintf(w, "- %s\n", EscapeMarkdown(n))
	}
}

// Predictions writes predictions that were not measured as a table that is width
// columns wide, with their notes below it.
func Predictions(w io.Writer, all []results.Prediction, width int) error {
	var b bytes.Buffer
	writeVerdict(&b, &results.Report{Predictions: all}, width)
	for _, p := range all {
		if p.Note != "" {
			Wrap(&b, results.Plain(p.Change)+": "+results.Plain(p.Note), width)
		}
	}
	assumed := map[string]bool{}
	for _, p := range all {
		for _, a := range p.Assumed {
			assumed[results.Plain(a)] = true
		}
	}
	if len(assumed) > 0 {
		Wrap(&b, "assumed, not measured: "+strings.Join(slices.Sorted(maps.Keys(assumed)), ", "), width)
	}
	_, err := w.Write(append(bytes.TrimRight(b.Bytes(), "\n"), '\n'))
	return err
}
