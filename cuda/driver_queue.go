//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"errors"
	"fmt"
	"time"
	"unsafe"
)

// NewStream returns a stream that does not wait for the NULL stream.
func (d *driverDevice) NewStream() (Stream, error) {
	h, err := d.newStream()
	if err != nil {
		return 0, d.wrap(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.streams[Stream(h)] = struct{}{}
	return Stream(h), nil
}

// NewEvent returns an event with timing. Who waits for it spins if the driver
// sees fit: blocking waits wake tens of microseconds late.
func (d *driverDevice) NewEvent() (Event, error) {
	h, err := d.newEvent()
	if err != nil {
		return 0, d.wrap(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.events[Event(h)] = struct{}{}
	return Event(h), nil
}

// ownStream refuses what is no stream of this device: a driver that gets a
// stale handle may crash.
func (d *driverDevice) ownStream(s Stream) error {
	d.mu.Lock()
	_, ok := d.streams[s]
	d.mu.Unlock()
	if !ok {
		return d.wrap(fmt.Errorf("no stream of this device: %w", InvalidValue))
	}
	return nil
}

func (d *driverDevice) ownEvent(e Event) error {
	d.mu.Lock()
	_, ok := d.events[e]
	d.mu.Unlock()
	if !ok {
		return d.wrap(fmt.Errorf("no event of this device: %w", InvalidValue))
	}
	return nil
}

func (d *driverDevice) ownBoth(s Stream, e Event) error {
	if err := d.ownStream(s); err != nil {
		return err
	}
	return d.ownEvent(e)
}

// CloseStream and CloseEvent do nothing for the zero value.
func (d *driverDevice) CloseStream(s Stream) error {
	if s == 0 {
		return nil
	}
	if err := d.ownStream(s); err != nil {
		return err
	}
	d.mu.Lock()
	delete(d.streams, s)
	d.mu.Unlock()
	return d.wrap(d.closeStream(uintptr(s)))
}

func (d *driverDevice) CloseEvent(e Event) error {
	if e == 0 {
		return nil
	}
	if err := d.ownEvent(e); err != nil {
		return err
	}
	d.mu.Lock()
	delete(d.events, e)
	d.mu.Unlock()
	return d.wrap(d.closeEvent(uintptr(e)))
}

// Copy queues a copy of src.Size bytes.
func (d *driverDevice) Copy(dst, src *Buffer, s Stream) error {
	err := checkCopy(dst, src)
	if err != nil {
		return d.wrap(err)
	}
	if err := d.ownStream(s); err != nil {
		return err
	}
	if dst.Kind == OnDevice {
		err = d.copyIn(dst.Dev, unsafe.Pointer(unsafe.SliceData(src.Host)), src.Size, uintptr(s))
	} else {
		err = d.copyOut(unsafe.Pointer(unsafe.SliceData(dst.Host)), src.Dev, src.Size, uintptr(s))
	}
	if err != nil {
		return d.wrap(fmt.Errorf("copy of %d bytes from %s to %s memory: %w", src.Size, src.Kind, dst.Kind, err))
	}
	return nil
}

func (d *driverDevice) Record(e Event, s Stream) error {
	if err := d.ownBoth(s, e); err != nil {
		return err
	}
	return d.wrap(d.record(uintptr(e), uintptr(s)))
}

func (d *driverDevice) WaitEvent(s Stream, e Event) error {
	if err := d.ownBoth(s, e); err != nil {
		return err
	}
	return d.wrap(d.waitEvent(uintptr(s), uintptr(e)))
}

// Reached is true for an event that was never recorded.
func (d *driverDevice) Reached(e Event) (bool, error) {
	if err := d.ownEvent(e); err != nil {
		return false, err
	}
	err := d.query(uintptr(e))
	if errors.Is(err, NotReady) {
		return false, nil
	}
	return err == nil, d.wrap(err)
}

func (d *driverDevice) SyncEvent(e Event) error {
	if err := d.ownEvent(e); err != nil {
		return err
	}
	return d.wrap(d.syncEvent(uintptr(e)))
}

func (d *driverDevice) SyncStream(s Stream) error {
	if err := d.ownStream(s); err != nil {
		return err
	}
	return d.wrap(d.syncStream(uintptr(s)))
}

// Elapsed is the time between two reached events to about 0.5 us (CUDA driver
// API, cuEventElapsedTime).
func (d *driverDevice) Elapsed(start, stop Event) (time.Duration, error) {
	if err := errors.Join(d.ownEvent(start), d.ownEvent(stop)); err != nil {
		return 0, err
	}
	ms, err := d.elapsed(uintptr(start), uintptr(stop))
	if err != nil {
		return 0, d.wrap(err)
	}
	return time.Duration(float64(ms) * float64(time.Millisecond)), nil
}
