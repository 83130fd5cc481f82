package encode

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"dlbench/results"
)

// Markdown writes r as tables in GitHub's flavour of Markdown, one for each
// suite, with all columns of Text and the sources of the references, and the
// findings as a list, below the verdict.
func Markdown(w io.Writer, r *results.Report) error {
	var b bytes.Buffer
	title := r.Tool.Name + " " + r.Tool.Version
	for _, s := range []string{r.Label, r.Host.CPU.Model} {
		if s != "" {
			title += ", " + s
		}
	}
	if !r.Started.IsZero() {
		title += ", " + r.Started.UTC().Format("2006-01-02 15:04 UTC")
	}
	fmt.Fprintf(&b, "%s\n", EscapeMarkdown(results.Plain(title)))
	if r.Status == results.Interrupted {
		b.WriteString("\nInterrupted: only the finished cases are here.\n")
	}
	if r.Verdict != nil {
		b.WriteString("\n```\n")
		if err := Screen(&b, r, false); err != nil {
			return err
		}
		b.WriteString("```\n")
	}
	for _, t := range Tables(r) {
		fmt.Fprintf(&b, "\n### %s\n", EscapeMarkdown(t.Title()))
		t.Markdown(&b)
	}
	if len(r.Findings) > 0 {
		b.WriteString("\n### Findings\n")
		var all []string
		for _, f := range r.Findings {
			all = append(all, findingText(f))
		}
		MarkdownList(&b, all)
	}
	markdownVerdict(&b, r)
	if len(r.Warnings) > 0 {
		b.WriteString("\n### Warnings\n")
		MarkdownList(&b, r.Warnings)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// Markdown writes t, and below it where its references come from, and its notes.
func (t *Table) Markdown(b *bytes.Buffer) {
	if t.Rows > 0 {
		b.WriteByte('\n')
		for i := -2; i < t.Rows; i++ { // the heads, the rule, the rows
			for k, c := range t.Columns {
				if k > 0 {
					b.WriteByte(' ')
				}
				b.WriteString("| " + c.markdown(i))
			}
			b.WriteString(" |\n")
		}
	}
	all := slices.Clone(t.Sources)
	for _, n := range t.Notes {
		all = append(all, n.String())
	}
	MarkdownList(b, all)
}

// markdown is the i-th cell of c; -1 is the rule below the head, -2.
func (c *Column) markdown(i int) string {
	switch {
	case i == -2:
		return EscapeMarkdown(c.Head)
	case i == -1 && c.Number:
		return "---:"
	case i == -1:
		return "---"
	case c.Spread != nil && c.Spread[i] != "":
		return EscapeMarkdown(c.Cells[i] + " " + c.Spread[i])
	}
	return EscapeMarkdown(c.Cells[i])
}

// MarkdownList writes what is in all as a list, a line each.
func MarkdownList(b *bytes.Buffer, all []string) {
	if len(all) > 0 {
		b.WriteByte('\n')
	}
	for _, s := range all {
		fmt.Fprintf(b, "- %s\n", EscapeMarkdown(strings.TrimSpace(results.Plain(s))))
	}
}

// EscapeMarkdown escapes what would end a cell or start markup.
func EscapeMarkdown(s string) string { return markdownEscapes.Replace(s) }

var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", "&", "&amp;",
)
