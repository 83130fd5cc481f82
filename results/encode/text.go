package encode

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"dlbench/results"
)

// spreadLegend explains what stands behind medians.
const spreadLegend = "±: longer side of the median's 95 % interval; a..b: least and greatest sample, " +
	"where they are too few or too alike in sequence for an interval; bands of references likewise"

// runsLegend explains the column between runs.
const runsLegend = "between runs: likewise over the medians of the restarts, the interval from 3 of them; " +
	"it is about where runs center, and a further one may lie outside"

// LeastWidth is the width below which Text does not go.
const LeastWidth = 40

// Text writes r for a terminal that is width columns wide, 0 for no limit
// and never less than 40: a table for each suite, below it the cases that failed
// or were skipped, with reasons, and the warnings, and the findings and the verdict at
// the end.
//
// What was assumed has a table of its own, with the word in its title. A table has the
// parameters that differ, the metrics with their intervals ("±0.4 %"; minimum and maximum
// where there are few samples), how much restarts of the first one differ, the share of
// the line rate and the references. Where that is too wide, columns go in the order of
// their ranks and are named below the table. What then is still too wide is cut.
func Text(w io.Writer, r *results.Report, width int) error {
	if width > 0 {
		width = max(width, LeastWidth)
	}
	var b bytes.Buffer
	if r.Status == results.Interrupted {
		Wrap(&b, fmt.Sprintf("interrupted: what follows are the %d cases that were finished", len(r.Results)), width)
		b.WriteByte('\n')
	}
	ts := Tables(r)
	for _, t := range ts {
		t.Text(&b, width)
	}
	if bytes.ContainsRune(b.Bytes(), '±') || bytes.Contains(b.Bytes(), []byte("..")) {
		Wrap(&b, spreadLegend, width)
		if slices.ContainsFunc(ts, Table.hasRuns) {
			Wrap(&b, runsLegend, width)
		}
		b.WriteByte('\n')
	}
	for _, f := range r.Findings {
		Wrap(&b, findingText(f), width)
	}
	if len(r.Findings) > 0 && (r.Verdict != nil || len(r.Predictions) > 0) {
		b.WriteByte('\n')
	}
	writeVerdict(&b, r, width)
	for _, warning := range r.Warnings {
		Wrap(&b, "warning: "+results.Plain(warning), width)
	}
	_, err := w.Write(append(bytes.TrimRight(b.Bytes(), "\n"), '\n'))
	return err
}

// Text writes the title, the rows and the notes of t, and an empty line.
func (t *Table) Text(b *bytes.Buffer, width int) {
	Wrap(b, t.Title(), width)
	if t.Rows > 0 {
		t.write(b, width)
	}
	if len(t.Demands) > 0 {
		Wrap(b, "demand: "+strings.Join(t.Demands, ", "), width)
	}
	for _, n := range t.Notes {
		Wrap(b, n.String(), width)
	}
	b.WriteByte('\n')
}

// write writes the rows of t under their heads, at most width wide: columns are dropped
// where that can be reached so, and lines cut where it cannot.
func (t *Table) write(b *bytes.Buffer, width int) {
	columns := textColumns(t.Columns)
	var dropped []string
	for width > 0 && total(columns) > width {
		least := slices.MinFunc(columns, func(a, b Column) int { return a.Keep - b.Keep })
		if least.Keep >= KeepAlways {
			break
		}
		i := slices.IndexFunc(columns, func(c Column) bool { return c.Keep == least.Keep })
		name := least.Head
		if name == "" {
			name = "interval of " + columns[i-1].Head
		}
		dropped = append(dropped, name)
		columns = slices.Delete(columns, i, i+1)
	}
	// A metric's interval goes before the metric and needs no second mention.
	dropped = slices.DeleteFunc(dropped, func(name string) bool {
		metric, ok := strings.CutPrefix(name, "interval of ")
		return ok && slices.Contains(dropped, metric)
	})
	for i := range t.Rows + 2 {
		var line strings.Builder
		for _, c := range columns {
			line.WriteString(c.padded(i))
		}
		if text := strings.TrimRight(line.String(), " "); text != "" || i > 0 {
			b.WriteString(results.Clip(text, width) + "\n")
		}
	}
	if len(dropped) > 0 {
		Wrap(b, "left out for want of width: "+strings.Join(dropped, ", "), width)
	}
}

// textColumns gives intervals columns of their own, without a head, close to their values.
// Heads are split at their first space over two lines, so that long names do not make wide
// columns, the last word lowest.
func textColumns(columns []Column) []Column {
	var out []Column
	for _, c := range columns {
		spread, keep := c.Spread, c.KeepSpread
		c.Spread = nil
		out = append(out, c)
		if slices.ContainsFunc(spread, func(s string) bool { return s != "" }) {
			out = append(out, Column{Cells: spread, Keep: keep})
		}
	}
	for i := range out {
		c := &out[i]
		upper, lower, two := strings.Cut(c.Head, " ")
		if !two {
			upper, lower = "", upper
		}
		c.lines = append([]string{upper, lower}, c.Cells...)
		for _, s := range c.lines {
			c.width = max(c.width, utf8.RuneCountInString(s))
		}
		switch {
		case i == 0:
		case c.Head == "":
			c.gap = 1
		default:
			c.gap = 2
		}
	}
	return out
}

// padded is the i-th line of c, as wide as its gap and width.
func (c *Column) padded(i int) string {
	s := c.lines[i]
	pad := strings.Repeat(" ", c.width-utf8.RuneCountInString(s))
	if c.Number {
		s = pad + s
	} else {
		s += pad
	}
	return strings.Repeat(" ", c.gap) + s
}

func total(columns []Column) (n int) {
	for _, c := range columns {
		n += c.gap + c.width
	}
	return n
}

// Wrap writes text in lines of at most width characters, the second and later
// ones indented by two. Words that are longer are broken.
func Wrap(w io.StringWriter, text string, width int) {
	column := 0
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case width > 0 && column+1+n > width:
			w.WriteString("\n  ")
			column = 2
		default:
			w.WriteString(" ")
			column++
		}
		for width > 0 && column+n > width {
			runes := []rune(word)
			w.WriteString(string(runes[:width-column]) + "\n  ")
			word = string(runes[width-column:])
			n, column = utf8.RuneCountInString(word), 2
		}
		w.WriteString(word)
		column += n
	}
	w.WriteString("\n")
}
