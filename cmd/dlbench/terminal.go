package main

import (
	"io"
	"os"
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

// bar shows how far a run is, on a terminal only.
type bar struct{ p *progressbar.ProgressBar }

// barSteps is the resolution of the bar.
const barSteps = 1000

func newBar(w io.Writer) *bar {
	if terminalWidth(w) == 0 {
		return &bar{}
	}
	return &bar{progressbar.NewOptions(barSteps, progressbar.OptionSetWriter(w), progressbar.OptionSetWidth(24),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(), progressbar.OptionSetElapsedTime(true),
		progressbar.OptionSetPredictTime(true))}
}

func (b *bar) update(p bench.Progress) {
	if b.p == nil {
		return
	}
	b.p.Describe(p.Case)
	b.p.Set(int(p.Share * barSteps))
}

func (b *bar) close() {
	if b.p != nil {
		b.p.Finish()
	}
}
