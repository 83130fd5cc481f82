package compare

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"dlbench/results"
	"dlbench/results/encode"
)

// JSON writes c as indented JSON that ends with a newline.
func (c *Comparison) JSON(w io.Writer) error {
	return results.EncodeJSON(w, c, "\t")
}

// Markdown writes the tables and lines of Text in GitHub's flavour of
// Markdown.
func (c *Comparison) Markdown(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n", encode.EscapeMarkdown(c.title()))
	for _, t := range c.Tables() {
		fmt.Fprintf(&b, "\n### %s\n", encode.EscapeMarkdown(t.Title()))
		t.Markdown(&b)
	}
	encode.MarkdownList(&b, slices.Concat(c.counts(), c.unpairedText(), c.differencesText(), c.Notes))
	fmt.Fprintf(&b, "\n%s\n", encode.EscapeMarkdown(c.Method))
	_, err := w.Write(b.Bytes())
	return err
}

var csvHead = []string{
	"suite", "base", "label", "base_name", "name", "assumed", "metric", "unit", "better",
	"base_median", "base_lo", "base_hi", "base_n", "base_runs", "median", "lo", "hi", "n", "runs",
	"ratio", "ratio_lo", "ratio_hi", "p", "verdict", "reason", "pairs",
}

// CSV writes a row for each metric of each case and other side, in base units,
// and one for each case that cannot be compared, with "missing" or its status as the
// verdict. Texts are guarded as CSV of a report does.
func (c *Comparison) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.Write(csvHead) // Flush keeps the error
	record := func(suite, label string, a, b CaseSide, rest ...string) {
		cells := encode.CSVCells(suite, c.Sides[0].Label, label, a.Name, b.Name, strings.Join(a.Assumed, " "))
		out.Write(append(cells, rest...))
	}
	alone := func(verdict, reason string) []string {
		cells := make([]string, len(csvHead)-6)
		copy(cells[len(cells)-3:], encode.CSVCells(verdict, reason))
		return cells
	}
	for _, cc := range c.Cases {
		for k := 1; k < len(c.Sides); k++ {
			a, b, label := cc.Sides[0], cc.Sides[k], c.Sides[k].Label
			switch {
			case b.Name == "":
			case a.Status != results.OK || b.Status != results.OK:
				word, _ := row{Case: &cc}.word(k)
				record(cc.Suite, label, a, b, alone(word, eitherReason(a, b))...)
			default:
				for _, m := range cc.Metrics {
					record(cc.Suite, label, a, b, m.cells(k)...)
				}
			}
		}
	}
	for _, u := range c.Unpaired {
		for _, name := range u.Base {
			suite, _, _ := strings.Cut(name, "/")
			record(suite, u.Label, CaseSide{Name: name}, CaseSide{}, alone("missing", u.Reason)...)
		}
		for _, name := range u.Other {
			suite, _, _ := strings.Cut(name, "/")
			record(suite, u.Label, CaseSide{}, CaseSide{Name: name}, alone("missing in base", u.Reason)...)
		}
	}
	out.Flush()
	return out.Error()
}

// eitherReason is why a or b is not OK; both may say the same.
func eitherReason(a, b CaseSide) string {
	reasons := results.AppendNew(nil, a.Reason, b.Reason)
	return strings.Join(slices.DeleteFunc(reasons, func(s string) bool { return s == "" }), "; ")
}

// cells are those of the k-th side from the metric on.
func (m *Metric) cells(k int) []string {
	number := func(x *float64, digits int) string {
		if x == nil {
			return ""
		}
		return strconv.FormatFloat(*x, 'g', digits, 64)
	}
	estimate := func(e *Estimate) []string {
		if e == nil {
			return make([]string, 5)
		}
		interval := []string{number(&e.Median, -1), number(e.Lo, -1), number(e.Hi, -1)}
		return append(interval, strconv.Itoa(e.N), strconv.Itoa(e.Runs))
	}
	derived := func(x *float64) string { return number(x, 6) } // further digits differ from one processor to another
	s := m.Sides[k]
	return slices.Concat(encode.CSVCells(m.Name, m.Unit, m.Better), estimate(m.Sides[0].Estimate), estimate(s.Estimate),
		[]string{derived(s.Ratio), derived(s.RatioLo), derived(s.RatioHi), derived(s.P)},
		encode.CSVCells(s.Verdict, s.Reason), []string{strconv.Itoa(s.Pairs)})
}
