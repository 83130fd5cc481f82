package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"dlbench/bench/host"
	"dlbench/cuda"
	"dlbench/results"
)

// Config is how Measure goes about it.
type Config struct {
	Env      Env
	Rule     Rule
	Turn     int            // of the suite, for Env.Wait
	Visit    int            // samples in a row before the next case; 0 means 2
	Started  time.Time      // samples' times count from here
	Progress func(Progress) // may be nil; called between samples
	Lost     map[use]error  // what is of no more use, and why; Measure adds to it
	Spin     func() float64 // the quiet control; nil for the real one
	// Gauge opens what reads the GPU at a PCI address while its cases are measured, and says what
	// that does not tell, and why; nil for NVML.
	Gauge func(pci string) (g cuda.Gauge, lacks string)
}

// Progress says how far a run is.
type Progress struct {
	Suite, Case string
	Share       float64       // of all cases of the suite
	Whole       float64       // of the run
	Number, All int           // of the suite among those of the run, from 1; 0 before they begin
	Expected    time.Duration // of the whole run; 0 where it is not known
}

// maxRepetitions bounds a sample.
const maxRepetitions = 1 << 16

// Measure measures cases and gives each result to emit: after every round as far
// as it is, with a warning that it is unfinished, and once more when it is
// finished. An error of a case makes its result Failed; an error from emit or the
// end of ctx ends Measure, with the results so far emitted.
func Measure(ctx context.Context, cfg Config, suite string, cases []Case, emit func(results.Result) error) error {
	cfg.Started = cmp.Or(cfg.Started, time.Now())
	cfg.Env.Repeat, cfg.Visit = max(1, cfg.Env.Repeat), cmp.Or(cfg.Visit, 2)
	if cfg.Spin == nil {
		cfg.Spin = spin
	}
	if cfg.Gauge == nil {
		cfg.Gauge = cuda.OpenGauge
	}
	if cfg.Lost == nil {
		cfg.Lost = map[use]error{}
	}
	m := &measurer{cfg: cfg, emit: emit, thread: newThread(), all: len(cases) * cfg.Env.Repeat}
	defer func() { close(m.thread) }()
	old := debug.SetGCPercent(-1) // collected between rounds instead
	defer debug.SetGCPercent(old)
	for _, group := range results.Grouped(cases, func(c Case) string { return c.Group }) {
		rs := make([]*running, len(group))
		for i, c := range group {
			rs[i] = &running{Case: c, tally: NewTally(c.Metrics), watch: m.watchOf(c), result: results.Result{
				Suite: suite, Name: c.Params.Name(suite), Params: c.Params, Assumed: c.Assumed,
				Status: results.OK, References: c.References}}
		}
		if err := m.group(ctx, rs); err != nil {
			return err
		}
	}
	return ctx.Err()
}

type measurer struct {
	cfg    Config
	emit   func(results.Result) error
	thread thread
	all    int // cases
	groups int // begun
	done   int
}

// group measures the cases of one group, restart by restart.
func (m *measurer) group(ctx context.Context, rs []*running) error {
	m.groups++
	restarts := m.cfg.Env.Repeat
	for _, r := range rs {
		restarts = max(restarts, r.Restarts)
	}
	for run := 0; run < restarts && ctx.Err() == nil; run++ {
		for _, r := range rs {
			if r.err == nil {
				r.progress, r.done, r.reported = progress{}, false, false
				// The runner adds its own each time.
				r.result.References, r.result.Proof = slices.Clone(r.Case.References), results.Record{}
				m.open(ctx, r)
			}
		}
		err := m.rounds(ctx, rs, run)
		for _, r := range rs {
			m.close(ctx, r)
		}
		if err != nil {
			return err // what was emitted could not be kept
		}
	}
	return errors.Join(ctx.Err(), m.save(rs))
}

// rounds measures open cases, some samples of each a round, until each has enough.
func (m *measurer) rounds(ctx context.Context, rs []*running, run int) error {
	for round := 0; ; round++ {
		active := slices.DeleteFunc(slices.Clone(rs), func(r *running) bool { return r.done })
		if len(active) == 0 || ctx.Err() != nil {
			return nil
		}
		runtime.GC()
		since := time.Since(m.cfg.Started).Seconds()
		noise := m.noise(ctx, active[0])
		for _, r := range active {
			if ctx.Err() != nil {
				break
			}
			if lost := m.unusable(r); lost != nil {
				m.fail(r, fmt.Errorf("not run on: %w", lost))
				continue
			}
			m.report(r, rs)
			if wait := m.cfg.Env.Wait; wait != nil {
				if err := wait(ctx, [5]int{m.cfg.Turn, m.groups, run, round, slices.Index(rs, r)}); err != nil {
					return err
				}
			}
			if err := m.visit(ctx, r, run, len(active) > 1); err != nil {
				if ctx.Err() == nil && errors.Is(err, context.Canceled) {
					err = fmt.Errorf("the runner gave up: %v", err) // not by an interrupt: it would be visited for ever
				}
				if ctx.Err() == nil || errors.Is(err, ErrStuck) {
					m.fail(r, err)
				}
			}
		}
		noise = max(noise, m.noise(ctx, active[0]))
		for _, r := range active {
			if !r.done && ctx.Err() == nil {
				m.judge(r, since, noise)
			}
		}
		if err := m.save(rs); err != nil {
			return err
		}
	}
}

// noise spins on the thread and the CPUs that measure r, as those of its group are, and
// returns the share of the time that went elsewhere; 0 where the spin does not end, or
// where a CPU quota stops it each time.
func (m *measurer) noise(ctx context.Context, r *running) float64 {
	var share float64
	for range quotaTries {
		before := host.Throttled(m.cfg.Env.Root)
		err := m.do(ctx, r, grace, func(context.Context) error {
			share = m.cfg.Spin()
			return nil
		})
		if err != nil {
			return 0
		}
		if host.Throttled(m.cfg.Env.Root) == before {
			return share
		}
	}
	return 0
}

// quotaTries is how often the spin is tried again that a CPU quota stopped: that is no other
// program's doing, and stops cases that use more CPU time more.
const quotaTries = 3

// save emits cases as far as they are. What was never measured is not in the report.
func (m *measurer) save(rs []*running) error {
	for _, r := range rs {
		if !r.done && len(r.tally.samples) == 0 {
			continue
		}
		res := r.result
		res.Metrics = r.tally.Metrics()
		res.Warnings = results.AppendNew(nil, res.Warnings...) // runs warn of the same things
		if !r.done {
			res.Warnf(results.Unfinished+"%d samples so far", r.count)
		}
		if err := m.emit(res); err != nil {
			return err
		}
	}
	return nil
}

// report shows the user how far the run is: finished cases, and within the group
// the share of the samples that its cases need at least.
func (m *measurer) report(r *running, rs []*running) {
	if m.cfg.Progress == nil {
		return
	}
	share := float64(m.done)
	for _, x := range rs {
		if !x.done {
			share += min(1, float64(x.count)/float64(m.cfg.Rule.Samples))
		}
	}
	m.cfg.Progress(Progress{Suite: r.result.Suite, Case: r.result.Name, Share: share / float64(m.all)})
}
