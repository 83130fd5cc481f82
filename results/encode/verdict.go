package encode

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"strings"

	"dlbench/results"
)

// PredictionTable has a row for each prediction: those that were checked, with what was
// measured, or those that were not.
func PredictionTable(all []results.Prediction, checked bool) Table {
	heads := []string{"change", "metric", "now", "predicted", "interval", "off by", "cost"}
	if checked {
		heads = []string{"checked", "metric", "predicted", "interval", "measured", "error", "assumed"}
	}
	t := Table{Columns: make([]Column, len(heads))}
	for i, h := range heads {
		t.Columns[i] = Column{Head: h, Number: i > 1 && i < len(heads)-1, Keep: cmp.Or(predictionKeep[h], KeepAlways)}
	}
	for _, p := range all {
		if (p.Measured != nil) != checked {
			continue
		}
		t.Rows++
		for i, cell := range predictionCells(p) {
			t.Columns[i].Cells = append(t.Columns[i].Cells, cell)
		}
	}
	return t
}

// predictionKeep is how long the columns of predictions are kept where there is no room
// for all.
var predictionKeep = map[string]int{"metric": 1, "cost": 2, "assumed": 2, "now": 3, "interval": 4}

func predictionCells(p results.Prediction) []string {
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
	change, metric, off := results.Plain(p.Change), results.Plain(p.Metric), results.NoValue
	if p.Measured != nil {
		if p.Error != nil {
			off = fmt.Sprintf("%+.1f %%", 100**p.Error)
		}
		assumed := results.Plain(strings.Join(p.Assumed, ", "))
		return []string{change, metric, value(p.Value), interval, value(p.Measured), off, assumed}
	}
	if p.Error != nil {
		off = fmt.Sprintf("%.1f %%", 100*math.Abs(*p.Error))
	}
	if p.Extrapolated {
		off += ", extrapolated"
	}
	return []string{change, metric, value(p.Base), value(p.Value), interval, off, results.Plain(p.Cost)}
}

// writeVerdict writes the predictions behind the verdict, and its notes, for a terminal.
func writeVerdict(w *bytes.Buffer, r *results.Report, width int) {
	for _, checked := range []bool{true, false} {
		t := PredictionTable(r.Predictions, checked)
		if t.Rows == 0 {
			continue
		}
		if width > 0 { // what is changed is what may be long
			columns := textColumns(t.Columns)
			most := max(24, width-(total(columns)-columns[0].width))
			for i, c := range t.Columns[0].Cells {
				t.Columns[0].Cells[i] = results.Clip(c, most)
			}
		}
		t.write(w, width)
		w.WriteByte('\n')
	}
	if r.Verdict == nil {
		return
	}
	for _, n := range r.Verdict.Notes {
		Wrap(w, "- "+results.Plain(n), width)
	}
}

// markdownVerdict writes the same as sections.
func markdownVerdict(w *bytes.Buffer, r *results.Report) {
	for _, checked := range []bool{true, false} {
		t := PredictionTable(r.Predictions, checked)
		if t.Rows == 0 {
			continue
		}
		title := "What if"
		if checked {
			title = "Predicted, then measured"
		}
		fmt.Fprintf(w, "\n### %s\n", title)
		t.Markdown(w)
	}
	if r.Verdict != nil {
		MarkdownList(w, r.Verdict.Notes)
	}
}
