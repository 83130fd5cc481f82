package cuda

import (
	"fmt"
	"slices"
	"time"

	"dlbench/bench/pace"
)

// Limits of Load.
const (
	mostRepeats  = 512                    // copies of one: drivers' queues hold about a thousand
	loadSpan     = 4 * time.Millisecond   // that copies are measured over
	loadWithin   = 0.002                  // share of the target that is near enough
	loadPromise  = 0.01                   // beyond this share the link cannot be loaded
	loadTries    = 8                      // corrections
	loadWarm     = 20                     // measurements until the real copy is steady: an idle link wakes up
	longestBlock = 100 * time.Millisecond // before measured copies
)

func (d *loaded) Load(dst, src *Buffer) (Load, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := checkCopy(dst, src); err != nil {
		return Load{}, err
	}
	k := keyOf(dst, src)
	delete(d.loads, k)
	if d.stream == 0 {
		s, err := d.NewStream()
		if err != nil {
			return Load{}, err
		}
		d.stream = s
	}
	rate := d.spec.Rates.Pinned
	measure := d.queued
	if k.kind == Pageable {
		rate, measure = d.spec.Rates.Pageable, d.held
	}
	l := Load{Target: pace.Length(src.Size, rate), Copies: 1}
	var err error
	if l.Real, err = d.steady(func() (time.Duration, error) { return measure(l, dst, src) }); err != nil {
		return Load{}, err
	}
	wrap := func(err error) error {
		return fmt.Errorf("%s: a copy of %d bytes of %s memory takes %v, over the link asked for %v: %w", d.spec.Text, src.Size, k.kind, l.Real, l.Target, err)
	}
	if float64(l.Real) > float64(l.Target)*(1+loadWithin) {
		return Load{}, wrap(ErrTooSlow)
	}
	if n := int(l.Target / l.Real); n > mostRepeats {
		return Load{}, wrap(fmt.Errorf("that is %d real copies, at most %d can be queued: ask for a faster link or a higher gbps=", n, mostRepeats))
	}
	l.Copies = max(1, int(l.Target/l.Real))
	if l.Rest = int(float64(src.Size) * (float64(l.Target)/float64(l.Real) - float64(l.Copies))); k.kind != Pageable {
		if l, err = d.correct(l, dst, src); err != nil {
			return Load{}, wrap(err)
		}
	}
	d.taken, d.achieved = d.next, nil // those were trials
	d.loads[k] = l
	return l, nil
}

// correct measures what l comes to and mends its last copy until it is near enough.
func (d *loaded) correct(l Load, dst, src *Buffer) (Load, error) {
	half, err := d.queued(Load{Rest: max(1, src.Size/2)}, dst, src)
	if err != nil {
		return l, err
	}
	perByte := max(float64(l.Real-half), 1) / float64(src.Size-src.Size/2)
	for try := 0; ; try++ {
		t, err := d.queued(l, dst, src)
		if err != nil {
			return l, err
		}
		off := float64(l.Target - t)
		if share := max(off, -off) / float64(l.Target); share <= loadWithin || try == loadTries && share <= loadPromise {
			return l, nil
		} else if try == loadTries {
			return l, fmt.Errorf("%d copies and %d bytes took %v: its time does not hold still", l.Copies, l.Rest, t)
		}
		l.Rest += int(off / perByte)
		for l.Rest < 0 && l.Copies > 1 {
			l.Copies, l.Rest = l.Copies-1, l.Rest+src.Size
		}
		for l.Rest >= src.Size {
			l.Copies, l.Rest = l.Copies+1, l.Rest-src.Size
		}
		if l.Rest < leastRest/2 {
			l.Rest = 0
		}
	}
}

// steady measures until two in a row agree, and returns the least: what is longer waited
// for something else.
func (d *loaded) steady(measure func() (time.Duration, error)) (least time.Duration, err error) {
	last := time.Duration(0)
	for range loadWarm {
		t, err := measure()
		if err != nil {
			return 0, err
		}
		if least == 0 || t < least {
			least = t
		}
		if diff := t - last; last > 0 && max(diff, -diff) < t/100 {
			break
		}
		last = t
	}
	return max(least, 1), nil
}

// queued is how long one of several copies made as l takes by the device's clock,
// queued behind a step so that no host delay is in it; the median of three.
func (d *loaded) queued(l Load, dst, src *Buffer) (time.Duration, error) {
	a, err := d.NewEvent()
	if err != nil {
		return 0, err
	}
	defer d.CloseEvent(a)
	b, err := d.NewEvent()
	if err != nil {
		return 0, err
	}
	defer d.CloseEvent(b)
	n := max(1, min(16, int(loadSpan/max(l.Target, l.Real, 1)), mostRepeats/max(1, l.Copies)))
	var times []time.Duration
	for block := time.Millisecond; len(times) < 3; {
		if err := d.Step(block, d.stream); err != nil {
			return 0, err
		}
		if err := d.cut(min(leastRest, src.Size), dst, src, d.stream); err != nil { // brings the copy engine in
			return 0, err
		}
		if err := d.Record(a, d.stream); err != nil {
			return 0, err
		}
		for range n {
			if err := d.repeat(l, dst, src, d.stream); err != nil {
				return 0, err
			}
		}
		if err := d.Record(b, d.stream); err != nil {
			return 0, err
		}
		late, err := d.Reached(a)
		if err != nil {
			return 0, err
		}
		if err := d.SyncEvent(b); err != nil {
			return 0, err
		}
		if late && block < longestBlock {
			block *= 2
			continue
		}
		t, err := d.Elapsed(a, b)
		if err != nil {
			return 0, err
		}
		times = append(times, t/time.Duration(n))
	}
	slices.Sort(times)
	return times[1], nil
}

// held is how long a real copy of pageable memory holds its caller until it is
// complete; the median of three.
func (d *loaded) held(_ Load, dst, src *Buffer) (time.Duration, error) {
	var times []time.Duration
	for range 3 {
		start := time.Now()
		if err := d.Device.Copy(dst, src, d.stream); err != nil {
			return 0, err
		}
		if err := d.SyncStream(d.stream); err != nil {
			return 0, err
		}
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	return times[1], nil
}
