//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
)

// driverDevice is a GPU. It may be bound on several goroutines at once.
type driverDevice struct {
	calls
	dev int

	stepping sync.Mutex // guards kernels; a launch may wait for room in the queue
	kernels  *kernels

	mu      sync.Mutex // guards what follows
	info    Info
	ctx     uintptr              // the primary context; 0 until the first Bind
	buffers map[*Buffer]struct{} // what Close has to free
	streams map[Stream]struct{}
	events  map[Event]struct{}
}

// Info describes the GPU. Info.Free is 0 until the first Bind: asking the driver
// takes a context, which costs a fraction of a second and some device memory.
func (d *driverDevice) Info() Info {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.info
}

// wrap says which device an error came from. One that has gone from the bus
// answers Unknown to everything: where the plainest call does so too, it is lost.
func (d *driverDevice) wrap(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, Unknown) && !errors.Is(err, ErrLost) {
		if _, again := d.freeMemory(); errors.Is(again, Unknown) {
			err = fmt.Errorf("%w: %w", ErrLost, err)
		}
	}
	return fmt.Errorf("cuda:%d: %w", d.info.Index, err)
}

// Bind makes the GPU's primary context current, which the first call creates.
// Bindings nest, of this and other devices: unbind, which must be called on the
// same goroutine, brings back the context that was current before.
func (d *driverDevice) Bind() (func(), error) {
	runtime.LockOSThread()
	before, err := d.current()
	if err == nil {
		err = d.enter()
	}
	if err != nil {
		runtime.UnlockOSThread()
		return nil, d.wrap(err)
	}
	bound := true
	return func() {
		if !bound {
			return
		}
		bound = false
		if d.setCurrent(before) != nil { // it was closed meanwhile
			d.setCurrent(0)
		}
		runtime.UnlockOSThread()
	}, nil
}

func (d *driverDevice) enter() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ctx != 0 {
		return d.setCurrent(d.ctx)
	}
	ctx, err := d.retain(d.dev)
	if err != nil {
		return err
	}
	if err := d.setCurrent(ctx); err != nil {
		d.release(d.dev)
		return err
	}
	d.ctx = ctx
	if free, err := d.freeMemory(); err == nil {
		d.info.Free = free
	}
	return nil
}

// within calls f with the device bound.
func (d *driverDevice) within(f func() error) error {
	unbind, err := d.Bind()
	if err != nil {
		return err
	}
	defer unbind()
	return f()
}

// Settle does nothing: copies end when the driver says so.
func (d *driverDevice) Settle(*Buffer) error { return nil }

// Close frees all buffers, streams and events of the device and lets go of its
// context. It need not be bound. The next Bind would start afresh.
func (d *driverDevice) Close() error {
	d.mu.Lock()
	used := d.ctx != 0
	d.mu.Unlock()
	if !used {
		return nil
	}
	err := d.within(d.closeAll)
	d.mu.Lock()
	d.ctx, d.info.Free = 0, 0
	d.mu.Unlock()
	err = errors.Join(err, d.wrap(d.release(d.dev)))
	if errors.Is(err, ErrLost) {
		return nil // whoever lost it was told; what it held went with it
	}
	return err
}

func (d *driverDevice) closeAll() error {
	d.mu.Lock()
	buffers, streams, events := d.buffers, d.streams, d.events
	d.buffers, d.streams, d.events = map[*Buffer]struct{}{}, map[Stream]struct{}{}, map[Event]struct{}{}
	d.mu.Unlock()
	var errs []error
	for s := range streams { // work may still use what comes next
		errs = append(errs, d.wrap(d.syncStream(uintptr(s))), d.wrap(d.closeStream(uintptr(s))))
	}
	for e := range events {
		errs = append(errs, d.wrap(d.closeEvent(uintptr(e))))
	}
	for b := range buffers {
		errs = append(errs, b.Free())
	}
	d.stepping.Lock()
	defer d.stepping.Unlock()
	if d.kernels != nil {
		errs = append(errs, d.wrap(d.unload(d.kernels.module)))
		d.kernels = nil
	}
	return errors.Join(errs...)
}
