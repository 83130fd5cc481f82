package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"dlbench/results"
)

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
			t := time.Now()
			if err := runner.Sample(ctx, n, &x.rec); err != nil {
				return err
			}
			x.spent = time.Since(t)
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
