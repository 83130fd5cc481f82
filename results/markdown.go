package results

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// WriteMarkdown writes r as tables in GitHub's flavour of Markdown, one for each
// suite, with all columns of WriteText and the sources of the references, and the
// findings as a list and the verdict.
func WriteMarkdown(w io.Writer, r *Report) error {
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
	fmt.Fprintf(&b, "%s\n", markdown(Plain(title)))
	if r.Status == Interrupted {
		b.WriteString("\nInterrupted: only the finished cases are here.\n")
	}
	for _, t := range Tables(r) {
		fmt.Fprintf(&b, "\n### %s\n", markdown(t.title()))
		if t.Rows > 0 {
			b.WriteByte('\n')
			t.markdown(&b)
		}
		if len(t.Sources)+len(t.Notes) > 0 {
			b.WriteByte('\n')
		}
		for _, source := range t.Sources {
			fmt.Fprintf(&b, "- %s\n", markdown(source))
		}
		for _, note := range t.Notes {
			fmt.Fprintf(&b, "- %s\n", markdown(note.String()))
		}
	}
	if len(r.Findings) > 0 {
		b.WriteString("\n### Findings\n\n")
		for _, f := range r.Findings {
			fmt.Fprintf(&b, "- %s\n", markdown(findingText(f)))
		}
	}
	markdownVerdict(&b, r)
	if len(r.Warnings) > 0 {
		b.WriteString("\n### Warnings\n\n")
		for _, warning := range r.Warnings {
			fmt.Fprintf(&b, "- %s\n", markdown(Plain(warning)))
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (t *Table) markdown(b *bytes.Buffer) {
	for i := -2; i < t.Rows; i++ { // the heads, the rule, the rows
		for k, c := range t.Columns {
			if k > 0 {
				b.WriteByte(' ')
			}
			switch {
			case i == -2:
				fmt.Fprintf(b, "| %s", markdown(c.Head))
			case i == -1 && c.Number:
				b.WriteString("| ---:")
			case i == -1:
				b.WriteString("| ---")
			case c.Spread != nil && c.Spread[i] != "":
				fmt.Fprintf(b, "| %s %s", markdown(c.Cells[i]), markdown(c.Spread[i]))
			default:
				fmt.Fprintf(b, "| %s", markdown(c.Cells[i]))
			}
		}
		b.WriteString(" |\n")
	}
}

// markdown escapes what would end a cell or start markup.
func markdown(s string) string { return markdownEscapes.Replace(s) }

var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", "&", "&amp;",
)
