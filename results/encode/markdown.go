package encode

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"dlbench/results"
)

// Markdown writes r as tables in GitHub's flavour of Markdown, one for each
// suite, with all columns of Text and the sources of the references, and the
// findings as a list and the verdict.
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
	for _, t := range Tables(r) {
		fmt.Fprintf(&b, "\n### %s\n", EscapeMarkdown(t.Title()))
		if t.Rows > 0 {
			b.WriteByte('\n')
			t.Markdown(&b)
		}
		if len(t.Sources)+len(t.Notes) > 0 {
			b.WriteByte('\n')
		}
		for _, source := range t.Sources {
			fmt.Fprintf(&b, "- %s\n", EscapeMarkdown(source))
		}
		for _, note := range t.Notes {
			fmt.Fprintf(&b, "- %s\n", EscapeMarkdown(note.String()))
		}
	}
	if len(r.Findings) > 0 {
		b.WriteString("\n### Findings\n\n")
		for _, f := range r.Findings {
			fmt.Fprintf(&b, "- %s\n", EscapeMarkdown(findingText(f)))
		}
	}
	markdownVerdict(&b, r)
	if len(r.Warnings) > 0 {
		b.WriteString("\n### Warnings\n\n")
		for _, warning := range r.Warnings {
			fmt.Fprintf(&b, "- %s\n", EscapeMarkdown(results.Plain(warning)))
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (t *Table) Markdown(b *bytes.Buffer) {
	for i := -2; i < t.Rows; i++ { // the heads, the rule, the rows
		for k, c := range t.Columns {
			if k > 0 {
				b.WriteByte(' ')
			}
			switch {
			case i == -2:
				fmt.Fprintf(b, "| %s", EscapeMarkdown(c.Head))
			case i == -1 && c.Number:
				b.WriteString("| ---:")
			case i == -1:
				b.WriteString("| ---")
			case c.Spread != nil && c.Spread[i] != "":
				fmt.Fprintf(b, "| %s %s", EscapeMarkdown(c.Cells[i]), EscapeMarkdown(c.Spread[i]))
			default:
				fmt.Fprintf(b, "| %s", EscapeMarkdown(c.Cells[i]))
			}
		}
		b.WriteString(" |\n")
	}
}

// EscapeMarkdown escapes what would end a cell or start markup.
func EscapeMarkdown(s string) string { return markdownEscapes.Replace(s) }

var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", "&", "&amp;",
)
