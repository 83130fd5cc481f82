package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"dlbench/results"
)

// pageWidth is the columns of text that goes to no terminal.
const pageWidth = 120

// terminalWidth is the columns of w when it is a terminal, otherwise 0.
func terminalWidth(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			return width
		}
	}
	return 0
}

// textWidth is the columns of the text that c prints.
func textWidth(c *cobra.Command) int {
	columns, _ := strconv.Atoi(os.Getenv("COLUMNS"))
	return cmp.Or(max(0, columns), terminalWidth(c.OutOrStdout()), pageWidth)
}

// colours tells whether the text that c prints may be bold: on a terminal, unless NO_COLOR
// is set.
func colours(c *cobra.Command) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && terminalWidth(c.OutOrStdout()) > 0
}

// forms write what a command found out, by the names that --format has for them.
type forms map[string]func(io.Writer) error

// addFormat adds --format, by default the first of names.
func addFormat(c *cobra.Command, names ...string) {
	choice(c, new(string), "format", "what to print", names...)
}

func formatOf(c *cobra.Command) string { return c.Flag("format").Value.String() }

// print prints the form that was asked for. An error of standard output is returned once.
func (f forms) print(c *cobra.Command) error {
	w := bufio.NewWriter(c.OutOrStdout())
	err := f[formatOf(c)](w)
	return cmp.Or(err, w.Flush())
}

// jsonOf writes v as JSON.
func jsonOf(v any) func(io.Writer) error {
	return func(w io.Writer) error { return results.EncodeJSON(w, v, "  ") }
}

// columns are lines whose cells, each ended by a tab, stand below each other.
type columns struct{ *tabwriter.Writer }

func newColumns(w io.Writer, flags uint) columns {
	return columns{tabwriter.NewWriter(w, 0, 0, 2, ' ', flags)}
}

// row adds a line.
func (c columns) row(format string, args ...any) { fmt.Fprintf(c, format+"\n", args...) }

// bar shows how far a command is, on a terminal only.
type bar struct {
	*progressbar.ProgressBar
	room int // columns for the name of what runs
}

// barSteps is the resolution of the bar, barWidth the columns that it and the
// times behind it take.
const (
	barSteps = 1000
	barWidth = 50
)

func newBar(w io.Writer) *bar {
	width := terminalWidth(w)
	p := progressbar.NewOptions(barSteps, progressbar.OptionSetWriter(w), progressbar.OptionSetVisibility(width > 0),
		progressbar.OptionSetWidth(24), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(), progressbar.OptionSetElapsedTime(true),
		progressbar.OptionSetPredictTime(true))
	return &bar{p, max(10, width-barWidth)}
}

// update shows what runs, and the share that is done.
func (b *bar) update(name string, share float64) {
	b.Describe(fmt.Sprintf("%-*.*s", b.room, b.room, name))
	b.Set(int(share * barSteps))
}
