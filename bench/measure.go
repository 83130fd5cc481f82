package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"dlbench/cuda"
	"dlbench/results"
)

// Config is how Measure goes about it.
type Config struct {
	Env      Env
	Rule     Rule
	Repeat   int              // restarts: every case is opened and measured so many times; 0 means 1
	Visit    int              // samples in a row before the next case has its turn; 0 means 2
	Started  time.Time        // samples' times count from here
	Progress func(Progress)   // may be nil; called between samples
	spin     func() float64   // the quiet control; nil for the real one
	now      func() time.Time // nil for time.Now
	grace    time.Duration    // how long an interrupt waits for a sample; 0 means 2 s
	_        struct{}
}

// Progress says how far a run is.
type Progress struct {
	Suite     string
	Case      string
	Done, All int // cases
	Share     float64
}

// maxRepetitions bounds a sample.
const maxRepetitions = 1 << 16

// running is a case while its group is measured.
type running struct {
	Case
	result results.Result
	tally  *tally
	runner Runner
	n      int           // repetitions a sample
	spent  time.Duration // in samples
	done   bool
	err    error
}

// Measure measures cases and gives each result to emit: after every round as far
// as it is, with a warning that it is unfinished, and once more when it is
// finished. An error of a case makes its result Failed; an error from emit or the
// end of ctx ends Measure, with the results so far emitted.
func Measure(ctx context.Context, cfg Config, suite string, cases []Case, emit func(results.Result) error) error {
	m := &measurer{cfg: cfg, emit: emit, hand: newHand(), lost: map[string]error{}, all: len(cases)}
	defer func() { m.hand.close() }()
	if m.cfg.spin == nil {
		m.cfg.spin = spin
	}
	if m.cfg.now == nil {
		m.cfg.now = time.Now
	}
	if m.cfg.Started.IsZero() {
		m.cfg.Started = m.cfg.now()
	}
	if m.cfg.grace == 0 {
		m.cfg.grace = 2 * time.Second
	}
	m.cfg.Repeat = max(1, m.cfg.Repeat)
	if m.cfg.Visit < 1 {
		m.cfg.Visit = 2
	}
	old := debug.SetGCPercent(-1) // collected between rounds instead
	defer debug.SetGCPercent(old)
	for _, group := range groups(cases) {
		rs := make([]*running, len(group))
		for i, c := range group {
			rs[i] = &running{Case: c, tally: newTally(c.Metrics), result: results.Result{
				Suite: suite, Name: c.Params.Name(suite), Params: c.Params, Assumed: c.Assumed,
				Status: results.OK, References: c.References}}
		}
		if err := m.group(ctx, rs); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// groups splits cases by Group, in the order of their first case.
func groups(cases []Case) [][]Case {
	at := map[string]int{}
	var gs [][]Case
	for _, c := range cases {
		i, ok := at[c.Group]
		if !ok {
			i = len(gs)
			at[c.Group] = i
			gs = append(gs, nil)
		}
		gs[i] = append(gs[i], c)
	}
	return gs
}

type measurer struct {
	cfg  Config
	emit func(results.Result) error
	hand *hand
	lost map[string]error // devices that are of no more use
	all  int              // cases
	done int
}

// group measures the cases of one group, restart by restart.
func (m *measurer) group(ctx context.Context, rs []*running) error {
	for run := range m.cfg.Repeat {
		for _, r := range rs {
			if r.err == nil {
				r.done, r.spent = false, 0
				r.tally.count, r.tally.quiet = 0, 0
				m.open(ctx, r)
			}
		}
		err := m.rounds(ctx, rs, run)
		for _, r := range rs {
			m.close(ctx, r)
		}
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, m.finish(rs, ctx.Err()))
		}
	}
	return m.finish(rs, nil)
}

// open opens and calibrates a case.
func (m *measurer) open(ctx context.Context, r *running) {
	if ctx.Err() != nil {
		return
	}
	if r.Skip != "" {
		r.result.Status, r.result.Reason, r.done = results.Skipped, r.Skip, true
		return
	}
	if err := m.lost[r.Device]; r.Device != "" && err != nil {
		m.fail(r, fmt.Errorf("not run: %w", err))
		return
	}
	var runner Runner // a call that is given up on must find nothing of ours to write to
	var n int
	err := m.do(ctx, r, func() (err error) {
		if runner, err = r.Open(ctx, m.cfg.Env); err != nil {
			return err
		}
		var rec Recorder
		if err := runner.Sample(ctx, 1, &rec); err != nil { // first touch, first use
			return err
		}
		rec.reset()
		if err := runner.Sample(ctx, 1, &rec); err != nil {
			return err
		}
		n = repetitions(rec.elapsed, m.cfg.Rule.MinTime, maxRepetitions)
		return nil
	})
	if !errors.Is(err, errStuck) {
		r.runner, r.n = runner, n
	}
	if err != nil {
		m.fail(r, err)
	}
	runtime.GC()
}

// rounds measures open cases in turn until each has enough.
func (m *measurer) rounds(ctx context.Context, rs []*running, run int) error {
	for {
		active := 0
		for _, r := range rs {
			if !r.done {
				active++
			}
		}
		if active == 0 || ctx.Err() != nil {
			return nil
		}
		runtime.GC()
		noise := m.cfg.spin()
		for _, r := range rs {
			if r.done || ctx.Err() != nil {
				continue
			}
			m.report(r, rs)
			if err := m.visit(ctx, r, run, active > 1); err != nil {
				if ctx.Err() == nil || errors.Is(err, errStuck) {
					m.fail(r, err)
				}
			}
		}
		noise = max(noise, m.cfg.spin())
		for _, r := range rs {
			if !r.done {
				m.judge(r, noise)
			}
		}
		if err := m.save(rs); err != nil {
			return err
		}
	}
}

// visit takes the samples of one turn. A case that shares its round first repeats
// once, untimed, to have caches and links as a run of its own would.
func (m *measurer) visit(ctx context.Context, r *running, run int, shared bool) error {
	type taken struct {
		rec    Recorder
		sample results.Sample
		spent  time.Duration
	}
	var all []taken
	want, runner, n := m.cfg.Visit, r.runner, r.n
	if m.cfg.Rule.Exact {
		want = min(want, m.cfg.Rule.Samples-r.tally.count)
	}
	err := m.do(ctx, r, func() error {
		if shared {
			var rec Recorder
			if err := runner.Sample(ctx, 1, &rec); err != nil {
				return err
			}
		}
		for range want {
			if err := ctx.Err(); err != nil {
				return err
			}
			var x taken
			t := m.cfg.now()
			if err := runner.Sample(ctx, n, &x.rec); err != nil {
				return err
			}
			x.spent = m.cfg.now().Sub(t)
			x.sample = results.Sample{N: n, T: t.Sub(m.cfg.Started).Seconds(), Run: run}
			all = append(all, x)
		}
		return nil
	})
	if errors.Is(err, errStuck) {
		return err
	}
	for i := range all {
		r.spent += all[i].spent
		r.tally.add(&all[i].rec, all[i].sample)
	}
	return err
}

// judge decides, after a round with that much noise, whether r has enough.
func (m *measurer) judge(r *running, noise float64) {
	if noise > noisyShare {
		r.tally.flag(m.cfg.Visit, "noisy")
	} else {
		r.tally.quiet = r.tally.count - r.noisy()
	}
	p := progress{count: r.tally.count, quiet: r.tally.quiet, spent: r.spent}
	if ms := r.tally.metrics(); len(ms) > 0 && len(r.Metrics) > 0 && ms[0].Name == r.Metrics[0].Name {
		p.metric, p.interval = &ms[0], !r.Metrics[0].NoInterval
	}
	if c, ok := r.runner.(Checker); ok {
		p.check = c.Check()
	}
	done, why := m.cfg.Rule.enough(p)
	if !done {
		return
	}
	if why != "" {
		r.result.Warnings = append(r.result.Warnings, why)
	}
	if p.check != nil {
		m.fail(r, fmt.Errorf("self-check: %w", p.check))
		return
	}
	m.settle(r)
}

// noisy counts the flagged samples of the deciding metric in the current restart.
func (r *running) noisy() int {
	if len(r.Metrics) == 0 {
		return 0
	}
	s := r.tally.samples[r.Metrics[0].Name]
	k := 0
	for _, x := range s[max(0, len(s)-r.tally.count):] {
		for _, f := range x.Flags {
			if f == "noisy" {
				k++
			}
		}
	}
	return k
}

// fail ends a case with an error, and its device's other cases when that is lost.
func (m *measurer) fail(r *running, err error) {
	if errors.Is(err, context.Canceled) && !errors.Is(err, errStuck) {
		return
	}
	r.err = err
	r.result.Status, r.result.Reason = results.Failed, err.Error()
	var skip *SkipError
	if errors.As(err, &skip) {
		r.result.Status, r.result.Reason = results.Skipped, skip.Reason
	}
	m.settle(r)
	if r.Device == "" {
		return
	}
	if errors.Is(err, cuda.ErrLost) || errors.Is(err, errStuck) {
		m.lost[r.Device] = err
	}
}

func (m *measurer) settle(r *running) {
	if !r.done {
		r.done = true
		m.done++
	}
}

// SkipError says that a case cannot run here, which is no failure.
type SkipError struct{ Reason string }

func (e *SkipError) Error() string { return e.Reason }

// do runs f on the hand, within the case's timeout, and gets a new hand when f
// does not come back.
func (m *measurer) do(ctx context.Context, r *running, f func() error) error {
	limit := m.cfg.Rule.Timeout
	if limit <= 0 {
		limit = time.Minute
	}
	err := m.hand.do(ctx, limit+m.cfg.grace, m.cfg.grace, func() error {
		restore, err := pin(r.CPUs)
		if err != nil {
			return err
		}
		defer restore()
		return f()
	})
	if errors.Is(err, errStuck) {
		m.hand.close() // it ends when the call returns after all
		m.hand = newHand()
		r.runner = nil // still in use where it stands
	}
	return err
}

// close lets the runner report and closes it.
func (m *measurer) close(ctx context.Context, r *running) {
	if r.runner == nil {
		return
	}
	runner := r.runner
	r.runner = nil
	// An interrupt must not keep memory from being given back.
	res := r.result
	res.Metrics = r.tally.metrics()
	err := m.do(context.WithoutCancel(ctx), r, func() error {
		if rep, ok := runner.(Reporter); ok {
			rep.Report(&res)
		}
		return runner.Close()
	})
	if !errors.Is(err, errStuck) {
		r.result = res
	}
	if err != nil && r.err == nil {
		m.fail(r, fmt.Errorf("close: %w", err))
	}
}
