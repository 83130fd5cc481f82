package bench

import (
	"context"
	"errors"
	"fmt"

	"dlbench/cuda"
	"dlbench/results"
)

// judge decides, after a round that began at a time of the run and had that much
// noise, whether r has enough.
func (m *measurer) judge(r *running, since, noise float64) {
	if noise > noisyShare {
		r.tally.flag(since, "noisy")
	} else {
		r.tally.quiet = r.tally.count - r.noisy()
	}
	p := progress{count: r.tally.count, quiet: r.tally.quiet, spent: r.spent}
	if ms := r.tally.Metrics(); len(ms) > 0 && len(r.Metrics) > 0 && ms[0].Name == r.Metrics[0].Name {
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
	m.tell(r)
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
	if errors.Is(err, context.Canceled) && !errors.Is(err, ErrStuck) {
		return
	}
	r.err = err
	r.result.Status, r.result.Reason = results.Failed, results.OneLine(err)
	var skip *SkipError
	if errors.As(err, &skip) {
		r.result.Status, r.result.Reason = results.Skipped, skip.Reason
	}
	m.settle(r)
	if errors.Is(err, cuda.ErrLost) || errors.Is(err, ErrStuck) {
		m.lose(r, err)
	}
}

// lose marks the device of r as of no more use.
func (m *measurer) lose(r *running, err error) {
	if r.Device != "" && m.lost[r.Device] == nil {
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
