package cuda

import (
	"fmt"
	"time"
)

func (d *sim) NewStream() (Stream, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.streams = append(d.streams, 0)
	return Stream(len(d.streams)), nil
}

func (d *sim) NewEvent() (Event, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.events = append(d.events, simEvent{})
	return Event(len(d.events)), nil
}

func (d *sim) CloseStream(Stream) error { return nil }
func (d *sim) CloseEvent(Event) error   { return nil }
func (d *sim) Close() error             { return nil }

// stream and event want d.mu held.
func (d *sim) stream(s Stream) (*time.Duration, error) {
	if s == 0 || int(s) > len(d.streams) {
		return nil, fmt.Errorf("stream %d: %w", s, InvalidValue)
	}
	return &d.streams[s-1], nil
}

func (d *sim) event(e Event) (*simEvent, error) {
	if e == 0 || int(e) > len(d.events) {
		return nil, fmt.Errorf("event %d: %w", e, InvalidValue)
	}
	return &d.events[e-1], nil
}

func (d *sim) Record(e Event, s Stream) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	free, err := d.stream(s)
	if err != nil {
		return err
	}
	ev, err := d.event(e)
	if err != nil {
		return err
	}
	*ev = simEvent{max(d.clock.Now(), *free), true}
	return nil
}

func (d *sim) WaitEvent(s Stream, e Event) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	free, err := d.stream(s)
	if err != nil {
		return err
	}
	ev, err := d.event(e)
	if err != nil {
		return err
	}
	*free = max(*free, ev.at)
	return nil
}

func (d *sim) Reached(e Event) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	ev, err := d.event(e)
	if err != nil {
		return false, err
	}
	return d.clock.Now() >= ev.at, nil
}

func (d *sim) SyncEvent(e Event) error {
	d.mu.Lock()
	ev, err := d.event(e)
	if err != nil {
		d.mu.Unlock()
		return err
	}
	at := ev.at
	d.mu.Unlock()
	d.await(at)
	return nil
}

func (d *sim) SyncStream(s Stream) error {
	d.mu.Lock()
	free, err := d.stream(s)
	if err != nil {
		d.mu.Unlock()
		return err
	}
	at := *free
	d.mu.Unlock()
	d.await(at)
	return nil
}

func (d *sim) await(at time.Duration) {
	if d.clock.Now() >= at {
		d.setLate(0, false)
		return
	}
	d.clock.Until(at)
	d.setLate(d.clock.Now()-at, false)
}

func (d *sim) setLate(l time.Duration, overrun bool) {
	d.mu.Lock()
	d.late, d.overrun = max(l, 0), overrun
	d.mu.Unlock()
}

func (d *sim) Late() (time.Duration, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.late, d.overrun
}

func (d *sim) Elapsed(start, stop Event) (time.Duration, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	a, err := d.event(start)
	if err != nil {
		return 0, err
	}
	b, err := d.event(stop)
	if err != nil {
		return 0, err
	}
	if !a.recorded || !b.recorded {
		return 0, fmt.Errorf("elapsed: an event was never recorded: %w", InvalidValue)
	}
	if now := d.clock.Now(); now < a.at || now < b.at {
		return 0, fmt.Errorf("elapsed: %w", NotReady)
	}
	return b.at - a.at, nil
}
