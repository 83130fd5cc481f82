package encode

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"dlbench/results"
)

// LeastWidth is the width below which WriteText does not go.
const LeastWidth = 40

// WriteText writes tables for a terminal that is width columns wide, 0 for no limit and
// never less than LeastWidth. Where a table is too wide, columns go in the order of their
// ranks and are named below the table; cells of those that stay are wrapped.
func WriteText(w io.Writer, width int, ts ...Table) error {
	if width > 0 {
		width = max(width, LeastWidth)
	}
	var b bytes.Buffer
	for i := range ts {
		ts[i].text(&b, width)
	}
	_, err := w.Write(append(bytes.TrimRight(b.Bytes(), "\n"), '\n'))
	return err
}

// text writes the title, the rows and the lines below them, and an empty line.
func (t *Table) text(b *bytes.Buffer, width int) {
	lines := t.Lines()
	if t.Rows == 0 && len(lines) == 0 {
		return
	}
	if title := t.Title(); title != "" {
		b.WriteString(Wrap(title, width))
	}
	if t.Rows > 0 {
		columns, dropped := fitting(t.Columns, width)
		w := t.writer(columns, func(s string) string { return s })
		w.Style().Size.WidthMax = width // cuts what no wrapping makes narrower
		b.WriteString(w.Render() + "\n")
		if len(dropped) > 0 {
			b.WriteString(Wrap("columns that do not fit: "+strings.Join(dropped, ", "), width))
		}
	}
	for _, line := range lines {
		b.WriteString(Wrap(line, width))
	}
	b.WriteByte('\n')
}

// fitting are the columns of a text, and what had to be left out for its width. An interval
// has a column of its own, without a head.
func fitting(all []Column, width int) (columns []Column, dropped []string) {
	total := -len(gap)
	for _, c := range all {
		spread := Column{Cells: c.Spread, Main: c.Main, spread: true}
		c.Spread = nil
		for _, one := range []Column{c, spread} {
			if one.width = one.natural(); one.width > 0 {
				columns, total = append(columns, one), total+one.width+len(gap)
			}
		}
	}
	if width == 0 {
		return columns, nil
	}
	give := func(least int) { // the widest columns give way
		for ; total > width; total-- {
			widest := slices.MaxFunc(columns, func(a, b Column) int { return a.width - b.width }).width
			if widest <= least {
				break
			}
			columns[slices.IndexFunc(columns, func(c Column) bool { return c.width == widest })].width--
		}
	}
	give(wideColumn)
	for _, goes := range []func(c Column) bool{
		func(c Column) bool { return c.spread && !c.Main },
		func(c Column) bool { return c.Extra },
		func(c Column) bool { return c.spread },
	} {
		for i := len(columns) - 1; i > 0 && total > width; i-- {
			if c := columns[i]; goes(c) {
				dropped = results.AppendNew(dropped, cmp.Or(c.Head, "some intervals"))
				columns, total = slices.Delete(columns, i, i+1), total-c.width-len(gap)
			}
		}
	}
	give(leastColumn)
	return columns, dropped
}

const (
	gap         = "  " // between columns
	leastColumn = 4
	wideColumn  = 32 // whose cells are wrapped before anything is left out
	longestWord = 20 // of a head, above which it does not widen its column
)

// natural is the width that c takes where there is room: heads are broken between words.
func (c *Column) natural() (n int) {
	for _, word := range strings.Fields(c.Head) {
		n = max(n, min(longestWord, text.StringWidth(word)))
	}
	for _, s := range c.Cells {
		n = max(n, text.LongestLineLen(s))
	}
	return n
}

// writer are columns of t as go-pretty takes them, each text as escape gives it.
func (t *Table) writer(columns []Column, escape func(string) string) table.Writer {
	w := table.NewWriter()
	w.SetStyle(table.Style{
		Box:     table.BoxStyle{MiddleVertical: gap, UnfinishedRow: "…"},
		Format:  table.FormatOptions{Header: text.FormatDefault},
		Options: table.Options{SeparateColumns: true},
	})
	w.SuppressTrailingSpaces()
	rows := make([]table.Row, t.Rows+1)
	var configs []table.ColumnConfig
	heads := ""
	for k, c := range columns {
		heads += c.Head
		rows[0] = append(rows[0], escape(c.Head))
		for i, cell := range c.Cells {
			if c.Spread != nil && c.Spread[i] != "" {
				cell += " " + c.Spread[i]
			}
			rows[i+1] = append(rows[i+1], escape(cell))
		}
		config := table.ColumnConfig{Number: k + 1, VAlignHeader: text.VAlignBottom,
			WidthMax: c.width, WidthMaxEnforcer: text.WrapSoft}
		if c.Number {
			config.Align, config.AlignHeader = text.AlignRight, text.AlignRight
		}
		configs = append(configs, config)
	}
	if heads != "" {
		w.AppendHeader(rows[0])
	}
	w.AppendRows(rows[1:])
	w.SetColumnConfigs(configs)
	return w
}

// Wrap is text in lines of at most width columns, 0 for no limit, the second and later ones
// indented by two. Words that are longer are broken.
func Wrap(s string, width int) string {
	if s = strings.Join(strings.Fields(s), " "); width > 0 && text.StringWidth(s) > width {
		s = strings.Join(wrapped(s, width-2), "\n  ")
	}
	return s + "\n"
}

// wrapped is text in lines of at most width columns.
func wrapped(s string, width int) []string {
	lines := strings.Split(text.WrapSoft(results.Plain(s), width), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return lines
}

// WriteMarkdown writes tables in GitHub's flavour of Markdown.
func WriteMarkdown(w io.Writer, ts ...Table) error { return writeBlocks(w, markdown(ts)) }

func writeBlocks(w io.Writer, blocks []string) error {
	_, err := io.WriteString(w, strings.Join(blocks, "\n\n")+"\n")
	return err
}

// markdown are the headings, tables, lists and paragraphs of ts. What has no title is no
// list.
func markdown(ts []Table) (blocks []string) {
	for i := range ts {
		t := &ts[i]
		title, lines := t.Title(), t.Lines()
		if title != "" && t.Rows+len(lines) > 0 {
			blocks = append(blocks, "### "+escapeMarkdown(title))
		}
		if t.Rows > 0 {
			blocks = append(blocks, t.writer(t.Columns, escapeMarkdown).RenderMarkdown())
		}
		for k, s := range lines {
			if lines[k] = escapeMarkdown(s); title != "" {
				lines[k] = "- " + lines[k]
			}
		}
		if len(lines) > 0 {
			blocks = append(blocks, strings.Join(lines, "\n"))
		}
	}
	return blocks
}

// escapeMarkdown escapes what would start markup.
var escapeMarkdown = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", "&", "&amp;",
).Replace

// CSV writes the columns of t. Each text is on one line, and what a spreadsheet would run
// as a formula gets a single quote before it (OWASP, "CSV Injection"); numbers do not.
func (t *Table) CSV(w io.Writer) error {
	cell := func(s string) string {
		if s = results.Plain(s); s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
			if _, err := strconv.ParseFloat(s, 64); err != nil {
				return "'" + s
			}
		}
		return s
	}
	_, err := io.WriteString(w, t.writer(t.Columns, cell).RenderCSV()+"\n")
	return err
}
