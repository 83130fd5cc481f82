package external

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"dlbench/bench"
	"dlbench/bench/theory"
	"dlbench/loader"
	"dlbench/results"
)

// Protocol is the version of the records that a loader writes.
const Protocol = 1

// settings are what a loader is asked to do; it finds them in its environment.
type settings struct {
	Path    string `json:"-"` // need not be UTF-8, as JSON would have it: DLBENCH_PATH has it
	Batch   theory.Batch
	Workers int
	Seed    uint64
	Epochs  int // passes over the data that make one of the loader's
	Step    time.Duration

	MaxBytes int64 // of an object store that dlbench's own loader reads; 0: any number
}

// environ is the environment variables that tell a loader s.
func (s settings) environ() []string {
	return []string{
		fmt.Sprint("DLBENCH_PROTOCOL=", Protocol),
		fmt.Sprint("DLBENCH_FD=", recordsFD),
		"DLBENCH_PATH=" + s.Path,
		fmt.Sprint("DLBENCH_BATCH=", s.Batch.Images),
		fmt.Sprintf("DLBENCH_SHAPE=%dx%dx%d", s.Batch.Height, s.Batch.Width, s.Batch.Channels),
		fmt.Sprint("DLBENCH_WORKERS=", s.Workers),
		fmt.Sprint("DLBENCH_SEED=", s.Seed),
		fmt.Sprint("DLBENCH_EPOCHS=", s.Epochs),
		fmt.Sprint("DLBENCH_STEP=", s.Step.Seconds()),
	}
}

// recordsFD is the descriptor that a loader writes its records to.
const recordsFD = 3

// record is a line that a loader wrote. Times are by the monotonic clock, s.
type record struct {
	Protocol int               `json:"dlbench,omitempty"`
	Time     float64           `json:"time,omitempty"`
	PID      int               `json:"pid,omitempty"`
	Python   string            `json:"python,omitempty"`
	Loader   string            `json:"loader,omitempty"`
	Software map[string]string `json:"software,omitempty"`

	// Began is when what makes the loader was called, Ready when it could be asked for a batch.
	Began float64 `json:"began,omitempty"`
	Ready float64 `json:"ready,omitempty"`

	Pixels *results.PixelDifference `json:"pixels,omitempty"`

	Enter  *float64 `json:"enter,omitempty"` // next was called
	Leave  float64  `json:"leave,omitempty"`
	Images int64    `json:"images,omitempty"`
	Bytes  int64    `json:"bytes,omitempty"` // 0 where they are not known

	Epoch int     `json:"epoch,omitempty"`
	Error string  `json:"error,omitempty"`
	File  string  `json:"file,omitempty"`
	End   float64 `json:"end,omitempty"`

	Network  int64 `json:"network,omitempty"` // bytes that dlbench's own loader read of an object store so far
	MaxBytes bool  `json:"max_bytes,omitempty"`
}

// usage is what all processes of a loader used so far.
type usage struct {
	cpu        time.Duration
	main       time.Duration // of it, by the process that loops over the loader
	mainKnown  bool
	read       int64 // bytes, by system calls
	fromDevice int64 // bytes
	processes  int   // 0 where nothing is known
}

// process is a loader that runs, below its supervisor.
type process struct {
	name    string
	cmd     *exec.Cmd // the supervisor
	stdin   io.Closer
	leash   io.Closer // the supervisor ends the loader when it is closed
	log     *boundedLog
	records chan record
	broken  error         // why records ended, once they have
	exited  chan struct{} // closed when all processes have ended
	exit    error
	started float64 // by the monotonic clock, s
	main    int     // the process that loops over the loader
	stopped bool

	// patience is how long the loader may take to end when it is asked, and once more when it is
	// told by a signal.
	patience time.Duration
}

// start starts a loader, by a program with arguments, below a supervisor, which is this program
// once more. What it prints goes to a file in the folder logs.
func start(name string, argv []string, env []string, logs string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	log, err := newLog(logs, "loader-"+name+"-*.log")
	if err != nil {
		return nil, fmt.Errorf("a file for what %s prints: %w", name, err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	defer write.Close()
	held, leash, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, read.Close(), log.Close())
	}
	defer held.Close()
	p := &process{name: name, leash: leash, log: log, records: make(chan record, mostRecords),
		exited: make(chan struct{}), patience: endLimit}
	p.cmd = exec.Command(self, append([]string{"supervise"}, argv...)...)
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.ExtraFiles = log, log, []*os.File{write, held}
	p.cmd.SysProcAttr, p.cmd.WaitDelay = ownGroup(), endLimit
	if p.stdin, err = p.cmd.StdinPipe(); err == nil {
		p.started = monotonic()
		err = p.cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", name, err), read.Close(), leash.Close(), log.Close())
	}
	go func() {
		p.exit = p.cmd.Wait()
		close(p.exited)
	}()
	go p.read(read)
	return p, nil
}

// mostRecords is more than a loader writes before it is stopped: what is left of them is counted.
const mostRecords = 1 << 14

// longestRecord bounds a line of a loader.
const longestRecord = 1 << 16

// read takes what the loader writes, until it ends or writes what is no record.
func (p *process) read(from *os.File) {
	defer close(p.records)
	defer from.Close()
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, longestRecord)
	for lines.Scan() {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		r, err := parseRecord(line)
		if err != nil {
			p.broken = err
			return
		}
		p.records <- r
	}
	if p.broken = lines.Err(); errors.Is(p.broken, bufio.ErrTooLong) {
		p.broken = fmt.Errorf("wrote a line of more than %d bytes where only records belong (descriptor %d): print elsewhere",
			longestRecord, recordsFD)
	}
}

// parseRecord reads a line of a loader.
func parseRecord(line []byte) (r record, err error) {
	if json.Unmarshal(line, &r) != nil || line[0] != '{' {
		return r, fmt.Errorf("wrote %.60q where only records belong (descriptor %d): print elsewhere", line, recordsFD)
	}
	return r, nil
}

// next is the loader's next record. It waits at most limit.
func (p *process) next(ctx context.Context, limit time.Duration) (record, error) {
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case r, ok := <-p.records:
		if !ok {
			return record{}, p.ended()
		}
		if r.MaxBytes {
			return record{}, loader.ErrMostBytes
		}
		if r.Error != "" {
			text := r.Error
			if r.File != "" && !strings.Contains(text, r.File) {
				text += " (file " + r.File + ")"
			}
			return record{}, p.failed("%s", text)
		}
		return r, nil
	case <-ctx.Done():
		return record{}, context.Cause(ctx)
	case <-late.C:
		return record{}, p.failed("nothing came for %v", limit)
	}
}

// failed is an error of the loader, with its name and where its output is.
func (p *process) failed(format string, args ...any) error {
	text := results.OneLine(fmt.Errorf(format, args...))
	if !p.log.empty() {
		text += "; its output: " + p.log.name()
	}
	return fmt.Errorf("loader %s: %s", p.name, text)
}

// ended is why a loader wrote no more.
func (p *process) ended() error {
	if p.broken != nil {
		return p.failed("%w", p.broken)
	}
	select {
	case <-p.exited:
	case <-time.After(endLimit):
		return p.failed("closed the descriptor of its records (%d) and goes on", recordsFD)
	}
	var exit *exec.ExitError
	how := "code 0"
	if errors.As(p.exit, &exit) {
		switch code := exit.ExitCode(); {
		case code == cannotRun || code == cannotRun-1: // of a shell
			how = "its command cannot be run"
		case code > bySignal:
			how = "by the signal: " + syscall.Signal(code-bySignal).String()
		default:
			how = exit.Error()
		}
	}
	last := results.Words(p.log.lastLine(), longestReason)
	return p.failed("ended before it was stopped (%s)%s", how, results.After(": ", last))
}

// longestReason is how many characters of a line that a loader printed stand in an error.
const longestReason = 1000

// Exit codes of a supervisor, as those of a shell.
const (
	cannotRun = 127
	bySignal  = 128
)

// done tells whether all that the loader had to do has been done without an error.
func (p *process) done() bool {
	select {
	case <-p.exited:
		return p.exit == nil && p.broken == nil
	default:
		return false
	}
}

// endLimit is the usual patience, and hurryLimit that after an interrupt or a timeout: less than
// a run waits for a case that it gives up.
const (
	endLimit   = 2 * time.Second
	hurryLimit = 300 * time.Millisecond
)

// pause stops all processes of the loader, until it goes on.
func (p *process) pause() {
	if !p.stopped {
		p.stopped = true
		p.stop()
	}
}

func (p *process) resume() {
	if p.stopped {
		p.stopped = false
		p.signal(continueSignal)
	}
}

// close ends the loader: it is asked, then made to, with all processes that it started. An
// interrupt meanwhile makes it end at once. It returns the file of what it printed, "" for nothing.
func (p *process) close() (log string) {
	p.resume()
	go func() { // a loader that still writes must not wait for a reader
		for range p.records {
		}
	}()
	again := make(chan os.Signal, 1) // else a second interrupt would end this program alone
	if !signal.Ignored(os.Interrupt) {
		signal.Notify(again, os.Interrupt)
		defer signal.Stop(again)
	}
	p.wait(again, func() { p.stdin.Close() }, func() { p.signal(endSignal) })
	p.leash.Close()
	<-p.exited
	p.log.Close()
	if p.log.empty() {
		return ""
	}
	return filepath.Base(p.log.name())
}

// wait waits for the loader's end, with patience after each thing that asks for it, but no longer
// than to an interrupt.
func (p *process) wait(interrupt <-chan os.Signal, ask ...func()) {
	for _, f := range ask {
		f()
		select {
		case <-p.exited:
			return
		case <-interrupt:
			return
		case <-time.After(p.patience):
		}
	}
}

// hello waits for the first record.
func (p *process) hello(ctx context.Context) (record, error) {
	r, err := p.next(ctx, bench.MostStep)
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return r, ctx.Err() // an interrupt is no failure of the loader
	case errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil:
		return r, p.failed("did not start: %w", err)
	case err != nil:
		return r, err
	case r.Protocol == 0:
		return r, p.failed("did not begin with the record that says its version: call dlbench.serve(loader)")
	case r.Protocol != Protocol:
		return r, p.failed("writes records of version %d, this program reads %d: dlbench python > dlbench.py writes "+
			"the module that fits", r.Protocol, Protocol)
	}
	if now := monotonic(); r.Time < p.started-1 || r.Time > now+1 {
		return r, p.failed("writes times that are not those of CLOCK_MONOTONIC: it began at %g s, now it is %.0f s",
			r.Time, now)
	}
	if p.main = r.PID; p.main == 0 { // a shell may have started it; dlbench.py tells
		p.main = slices.Concat(p.processes(), []int{0})[0]
	}
	return r, nil
}
