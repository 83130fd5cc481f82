package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"dlbench/bench"
	"dlbench/results"
)

// pageWidth is the columns of text that goes to no terminal.
const pageWidth = 120

// checked is a writer that remembers its first error.
type checked struct {
	io.Writer
	err error
}

func (c *checked) Write(p []byte) (n int, err error) {
	n, err = c.Writer.Write(p)
	c.err = cmp.Or(c.err, err)
	return n, err
}

// unwritten is what standard output's error means to the user; nil for none.
func (c *checked) unwritten() error {
	switch {
	case c.err == nil:
		return nil
	case errors.Is(c.err, syscall.EPIPE):
		return errors.New("standard output was closed before all was printed")
	}
	if path, ok := errors.AsType[*fs.PathError](c.err); ok {
		return fmt.Errorf("standard output: %w", path.Err)
	}
	return fmt.Errorf("standard output: %w", c.err)
}

// columnsSet are the columns that the environment asks for, 0 for none.
func columnsSet() int {
	columns, _ := strconv.Atoi(os.Getenv("COLUMNS"))
	return max(0, columns)
}

// terminalWidth is the columns of w when it is a terminal, otherwise 0. The environment
// can ask for others.
func terminalWidth(w io.Writer) int {
	if c, ok := w.(*checked); ok {
		w = c.Writer
	}
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			return cmp.Or(columnsSet(), width)
		}
	}
	return 0
}

// textWidth is the columns of the text that c prints.
func textWidth(c *cobra.Command) int {
	return cmp.Or(columnsSet(), terminalWidth(c.OutOrStdout()), pageWidth)
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

// bar shows how far a command is, on a terminal only.
type bar struct {
	*progressbar.ProgressBar
	w       io.Writer
	visible bool
	room    int // columns for the name of what runs
}

// barSteps is the resolution of the bar, barWidth the columns that it takes.
const (
	barSteps = 1000
	barWidth = 24
)

func newBar(w io.Writer) *bar {
	width := terminalWidth(w)
	p := progressbar.NewOptions(barSteps, progressbar.OptionSetWriter(w), progressbar.OptionSetVisibility(width > 0),
		progressbar.OptionSetWidth(12), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(), progressbar.OptionSetElapsedTime(false),
		progressbar.OptionSetPredictTime(false))
	return &bar{p, w, width > 0, max(10, width-barWidth)}
}

// update shows what runs, and the share that is done.
func (b *bar) update(name string, share float64) {
	b.Describe(fmt.Sprintf("%-*.*s", b.room, b.room, name))
	b.Set(int(share * barSteps))
}

// runProgress shows how far a run is: "[2/4] preprocess, threads 2   19 s of about 150 s".
type runProgress struct {
	bar   *bar
	began time.Time
	mutex sync.Mutex
	last  bench.Progress
	again *time.Timer
}

func newRunProgress(w io.Writer) *runProgress {
	p := &runProgress{bar: newBar(w), began: time.Now()}
	p.last.Case, p.last.Suite = "reading the machine and the data", "dlbench"
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.again = time.AfterFunc(drawEvery, p.draw)
	return p
}

// drawEvery is how long a run is silent at most.
const drawEvery = 500 * time.Millisecond

func (p *runProgress) update(x bench.Progress) {
	p.mutex.Lock()
	p.last = x
	p.mutex.Unlock()
	p.draw()
}

func (p *runProgress) draw() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if !p.bar.visible || p.bar.IsFinished() {
		return
	}
	p.again.Reset(drawEvery)
	text, times := progressText(p.last, time.Since(p.began))
	room := max(0, p.bar.room-len(times)-1)
	p.bar.update(fmt.Sprintf("%-*.*s %s", room, room, text, times), p.last.Whole)
}

// keep has a line stay above the bar. Where there is none it is printed if it is a notice.
func (p *runProgress) keep(text string, notice bool) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	text = results.Plain(text)
	if p.bar.visible {
		p.bar.Clear()
		text = results.Clip(text, p.bar.room+barWidth)
	}
	if p.bar.visible || notice {
		fmt.Fprintln(p.bar.w, text)
	}
}

// finish takes the bar away.
func (p *runProgress) finish() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.bar.Finish()
}

// progressText is a run's progress in words.
func progressText(x bench.Progress, elapsed time.Duration) (text, times string) {
	what, isCase := strings.CutPrefix(x.Case, x.Suite+"/")
	if isCase { // else it is a sentence, which may name a path
		what = strings.NewReplacer("/", ", ", "=", " ").Replace(what)
	}
	text = x.Suite + ", " + what
	if x.All > 0 {
		text = fmt.Sprintf("[%d/%d] %s", x.Number, x.All, text)
	}
	times = fmt.Sprintf("%.0f s", elapsed.Seconds())
	if x.Expected > 0 {
		times += fmt.Sprintf(" of about %.0f s", max(x.Expected, elapsed).Seconds())
	}
	return text, times
}
