package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"dlbench/cuda"
	"dlbench/loader"
	"dlbench/results"
)

// running is a case while its group is measured.
type running struct {
	Case
	result results.Result
	tally  *tally
	runner Runner
	watch  *watch // of its GPU; nil without one
	n      int    // repetitions a sample
	err    error

	progress      // of this run
	done     bool // with this run
	reported bool // the runner has added what it knows of it to the result
}

// open opens and calibrates a case.
func (m *measurer) open(ctx context.Context, r *running) {
	if ctx.Err() != nil {
		return
	}
	if r.Skip != "" {
		r.result.Status, r.result.Reason = results.Skipped, r.Skip
		m.settle(r)
		return
	}
	if err := m.unusable(r); err != nil {
		m.fail(r, fmt.Errorf("not run: %w", err))
		return
	}
	if r.Prepare != nil {
		if err := r.Prepare(ctx); err != nil {
			m.fail(r, err)
			return
		}
	}
	var runner Runner // a call that is given up on must find nothing of ours to write to
	var n int
	err := m.do(ctx, r, m.cfg.Rule.Timeout, func(ctx context.Context) (err error) {
		if runner, err = r.Open(ctx, m.cfg.Env); err != nil {
			return err
		}
		n, err = Calibrate(ctx, runner, m.cfg.Rule.MinTime)
		return err
	})
	if !errors.Is(err, ErrStuck) {
		r.runner, r.n = runner, n
	}
	if err != nil {
		m.fail(r, err)
	}
	runtime.GC()
}

// Calibrate warms a runner up and returns how many repetitions last at least
// minTime. It goes by the quickest of a few samples, since one that was
// interrupted would make all later ones too short.
func Calibrate(ctx context.Context, runner Runner, minTime time.Duration) (n int, err error) {
	var once, wall time.Duration // of a repetition, and with what is not timed
	sizer, sized := runner.(Sizer)
	n = 1
	for call := range 2 + mostCalibrations {
		rec := Recorder{Warmup: true}
		t := time.Now()
		if err := runner.Sample(ctx, n, &rec); err != nil {
			return 0, err
		}
		wall = time.Since(t) / time.Duration(n)
		each := rec.Elapsed / time.Duration(n)
		if call > 1 && each >= once*9/10 { // the last estimate was right
			break
		}
		once = each
		if call == 0 && !(sized && once >= surelyLong*minTime) { // first touch, first use
			continue
		}
		n = Repetitions(once, minTime, mostWithin(wall, minTime))
		if sized {
			return sizer.Size(n), nil
		}
	}
	return min(n, mostWithin(wall, minTime)), nil
}

// mostWithin is how many repetitions of such a length a sample may have.
func mostWithin(wall, minTime time.Duration) int {
	return max(1, min(maxRepetitions, int(max(longestSample, 2*minTime)/max(wall, 1))))
}

// mostCalibrations bounds the samples that calibrate takes after the first two, longestSample the time
// that a sample takes with what it does untimed, such as evicting caches. A repetition
// that lasts surelyLong least samples needs no second look.
const (
	mostCalibrations = 4
	longestSample    = 60 * time.Millisecond
	surelyLong       = 40
)

// visit takes the samples of one round. A case that shares its round first repeats
// once, untimed, to have caches and links as a run of its own would.
func (m *measurer) visit(ctx context.Context, r *running, run int, shared bool) error {
	type taken struct {
		rec    Recorder
		sample results.Sample
		began  time.Time
		spent  time.Duration
	}
	var all []taken
	stop := r.watch.start()
	begun := time.Now()
	want, runner, n := m.cfg.Visit, r.runner, r.n
	late := false
	rule := m.cfg.Rule
	if rule.Exact {
		want = min(want, rule.Samples-r.count)
	}
	goesOn := func() bool {
		spent := time.Since(begun)
		return spent < r.Least || len(all) < rule.inRun(want, r.Restarts, spent)
	}
	limit := r.Least + max(rule.Timeout-r.spent, grace)
	err := m.do(ctx, r, limit, func(ctx context.Context) error {
		defer func() { late = errors.Is(ctx.Err(), context.DeadlineExceeded) }()
		if shared {
			rec := Recorder{Warmup: true}
			if err := runner.Sample(ctx, 1, &rec); err != nil {
				return err
			}
		}
		for goesOn() {
			if err := ctx.Err(); err != nil {
				return err
			}
			x := taken{began: time.Now()}
			if err := runner.Sample(ctx, n, &x.rec); err != nil {
				return err
			}
			x.spent = time.Since(x.began)
			x.sample = results.Sample{N: n, T: x.began.Sub(m.cfg.Started).Seconds(), Run: run}
			all = append(all, x)
		}
		return nil
	})
	readings := stop()
	if errors.Is(err, ErrStuck) {
		return err
	}
	for i := range all {
		x := &all[i]
		r.spent += x.spent
		if throttledIn(readings, x.began, x.began.Add(x.spent)) {
			x.sample.Flags = []string{results.FlagThrottled}
		}
		r.tally.Add(&x.rec, x.sample)
	}
	r.count += len(all)
	if late && r.count > 0 { // a slow case keeps what it has
		r.spent = max(r.spent, m.cfg.Rule.Timeout)
		return nil
	}
	return err
}

// do runs f on the thread, on the case's CPUs, within a limit, and gets a new thread
// when f does not come back.
func (m *measurer) do(ctx context.Context, r *running, limit time.Duration, f func(context.Context) error) error {
	err := m.thread.do(ctx, limit, func(ctx context.Context) error {
		restore, err := Pin(r.CPUs)
		if err != nil {
			return err
		}
		defer restore()
		return f(ctx)
	})
	if errors.Is(err, ErrStuck) {
		close(m.thread) // it ends when the call returns after all
		m.thread = newThread()
		r.runner = nil // the call that is stuck still uses it
	}
	return err
}

// conclude lets the runner add what it knows to the result, once.
func (m *measurer) conclude(r *running) {
	if r.reported || r.runner == nil {
		return
	}
	r.reported = true
	if rep, ok := r.runner.(Reporter); ok {
		r.result.Metrics = r.tally.Metrics()
		rep.Report(&r.result)
	}
	r.watch.report(&r.result)
}

// closeLimit is how long a runner may take to free its memory.
const closeLimit = 10 * time.Second

// close lets the runner report and closes it.
func (m *measurer) close(ctx context.Context, r *running) {
	if r.runner == nil {
		return
	}
	m.conclude(r)
	runner := r.runner
	r.runner = nil
	if errors.Is(m.cfg.Lost[use{device: r.Device}], ErrStuck) {
		return // its memory may still be in use
	}
	// An interrupt must not keep memory from being given back.
	err := m.do(context.WithoutCancel(ctx), r, closeLimit, func(context.Context) error { return runner.Close() })
	if errors.Is(err, ErrStuck) {
		m.lose(r, err)
	} else if err != nil && !errors.Is(err, cuda.ErrLost) { // what was measured was measured
		r.result.Warnf("close: %s", results.OneLine(err))
	}
}

// judge decides, after a round that began at a time of the run and had that much
// noise, whether r has enough.
func (m *measurer) judge(r *running, since, noise float64) {
	if noise > noisyShare {
		r.tally.flag(since, results.FlagNoisy)
	} else {
		r.quiet += r.count - r.judged
	}
	r.judged = r.count
	if ms := r.tally.Metrics(); len(ms) > 0 && ms[0].Name == r.Metrics[0].Name && !r.Metrics[0].NoInterval {
		r.width = results.HalfWidth(&ms[0])
	}
	if c, ok := r.runner.(Checker); ok {
		r.check = c.Check()
	}
	rule := m.cfg.Rule
	rule.Samples = rule.inRun(rule.Samples, r.Restarts, r.spent)
	done, why := rule.enough(r.progress)
	if r.Least > 0 { // which one visit lasts
		done, why = true, ""
	}
	if !done {
		return
	}
	r.result.Warnf("%s", why)
	m.conclude(r)
	if r.check != nil {
		err := fmt.Errorf("self-check: %w", r.check)
		if len(r.Assumed) > 0 { // a stand-in that could not keep time says nothing of the machine's loader
			err = &SkipError{Reason: results.OneLine(r.check)}
		}
		m.fail(r, err)
		return
	}
	m.settle(r)
}

// fail ends a case with an error, and its device's other cases when that is lost.
func (m *measurer) fail(r *running, err error) {
	if errors.Is(err, context.Canceled) && !errors.Is(err, ErrStuck) {
		return
	}
	r.err = err
	r.result.Status, r.result.Reason = results.Failed, results.OneLine(err)
	var skip *SkipError
	if errors.As(err, &skip) || errors.Is(err, loader.ErrMostBytes) ||
		errors.Is(err, loader.ErrNoDirect) || // some file systems only say so when they are read from
		errors.Is(err, cuda.OutOfMemory) { // others may use the device
		r.result.Status = results.Skipped
	}
	m.settle(r)
	if errors.Is(err, cuda.ErrLost) || errors.Is(err, ErrStuck) {
		m.lose(r, err)
	}
}

// use is that of a device in a mode, or in all modes for "".
type use struct{ device, mode string }

// lose marks the device of r as of no more use, or its mode alone where only that did not
// come back: some drivers take minutes for pageable memory and are quick with the rest.
func (m *measurer) lose(r *running, err error) {
	if r.Device == "" || m.unusable(r) != nil { // that is known
		return
	}
	lost := use{device: r.Device}
	if errors.Is(err, ErrStuck) && !anyStuck(m.cfg.Lost, r.Device) {
		lost.mode = r.Mode
	}
	m.cfg.Lost[lost] = err
}

// unusable is why the device of r, or the mode in which r uses it, is of no more use.
func (m *measurer) unusable(r *running) error {
	return cmp.Or(m.cfg.Lost[use{device: r.Device}], m.cfg.Lost[use{r.Device, r.Mode}])
}

// anyStuck says whether the device or a mode of it did not come back.
func anyStuck(lost map[use]error, device string) bool {
	for what, err := range lost {
		if what.device == device && errors.Is(err, ErrStuck) {
			return true
		}
	}
	return false
}

func (m *measurer) settle(r *running) {
	if !r.done {
		r.done = true
		m.done++
	}
}
