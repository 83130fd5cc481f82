package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"dlbench/bench"
)

// terminalWidth is the columns of w when it is a terminal, otherwise 0: no limit.
func terminalWidth(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// buffered hands to w at once what write writes, so that an error counts once.
func buffered(w io.Writer, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// bar shows how far a run is, on a terminal only.
type bar struct {
	p    *progressbar.ProgressBar
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
	if width == 0 {
		return &bar{}
	}
	return &bar{room: max(10, width-barWidth), p: progressbar.NewOptions(barSteps, progressbar.OptionSetWriter(w), progressbar.OptionSetWidth(24),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(), progressbar.OptionSetElapsedTime(true),
		progressbar.OptionSetPredictTime(true))}
}

func (b *bar) update(p bench.Progress) {
	if b.p == nil {
		return
	}
	name := strings.TrimPrefix(p.Case, p.Suite+"/device=")
	b.p.Describe(fmt.Sprintf("%-*.*s", b.room, b.room, name))
	b.p.Set(int(p.Share * barSteps))
}

func (b *bar) close() {
	if b.p != nil {
		b.p.Finish()
	}
}
