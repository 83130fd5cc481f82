//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// plan says how peers are measured.
type plan struct {
	cpus    []int // that may be used
	rounds  int
	files   int // that each must find
	bytes   int64
	timeout time.Duration // for a pass
}

// measured is what all peers did.
type measured struct {
	cases  []*measuredCase
	rounds int // that all peers finished
}

// measuredCase is what one peer did.
type measuredCase struct {
	peer
	hello  hello
	passes []timedPass // by round
}

// timedPass is a pass, and when it ended, in seconds since measuring began.
type timedPass struct {
	pass
	at float64
}

// order is the turn of n peers in a round: each starts a round as often as others do.
func order(n, round int) []int {
	turn := make([]int, n)
	for i := range turn {
		turn[i] = (i + round) % n
	}
	return turn
}

// measure starts all peers, has each make a pass that does not count, and then one a
// round. With an error come the rounds that were finished before it. A peer that says
// that it cannot take part is left out; its hello says why.
func measure(ctx context.Context, peers []peer, o plan, say func(string, ...any)) (measured, error) {
	m := measured{}
	var workers []*process
	var active []*measuredCase // of workers
	defer func() {
		for _, w := range workers {
			w.close(endTimeout)
		}
	}()
	began := time.Now()
	for _, p := range peers {
		say("starting %v", p)
		w, err := start(ctx, p, o.cpus)
		if err != nil {
			return m, interrupted(ctx, err)
		}
		c := &measuredCase{peer: p, hello: w.hello}
		m.cases = append(m.cases, c)
		if w.hello.Skip != "" {
			say("%v is left out: %s", p, w.hello.Skip)
			w.close(endTimeout)
			continue
		}
		workers, active = append(workers, w), append(active, c)
		if w.hello.Files != o.files || w.hello.Bytes != o.bytes {
			return m, fmt.Errorf("%v finds %d files of %d bytes, dlbench %d of %d: "+
				"remove what is no image, and hidden files and folders",
				p, w.hello.Files, w.hello.Bytes, o.files, o.bytes)
		}
		if first := workers[0]; w.hello.Images != first.hello.Images {
			return m, fmt.Errorf("%v makes passes of %d images, %v of %d",
				p, w.hello.Images, first.peer, first.hello.Images)
		}
		if _, err := w.pass(o.timeout); err != nil {
			return m, interrupted(ctx, err)
		}
	}
	if len(workers) == 0 {
		return m, errors.New("no peer can take part")
	}
	for round := range o.rounds {
		say("round %d of %d", round+1, o.rounds)
		done := make([]timedPass, len(workers))
		for _, i := range order(len(workers), round) {
			p, err := workers[i].pass(o.timeout)
			if err != nil {
				return m, interrupted(ctx, fmt.Errorf("round %d: %w", round+1, err))
			}
			done[i] = timedPass{p, time.Since(began).Seconds()}
		}
		for i, c := range active {
			c.passes = append(c.passes, done[i])
		}
		m.rounds++
	}
	return m, nil
}

// interrupted is err, unless it is only that the run was asked to end.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted: %w", ctx.Err())
	}
	return err
}
