//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"
	"unsafe"

	"dlbench/bench/hostmem"
)

// driverDevice is a GPU. It may be bound on several goroutines at once.
type driverDevice struct {
	libcuda
	dev    int
	broken error // why it did not open, for Bind

	launching sync.Mutex // guards kernels; a launch may wait for room in the queue
	kernels   *kernels

	mu   sync.Mutex // guards what follows
	info Info
	ctx  uintptr // the primary context; 0 until the first Bind
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

// Bind makes the GPU's primary context current, which the first call creates. unbind,
// which must be called on the same goroutine, leaves the thread with none.
func (d *driverDevice) Bind() (func(), error) {
	if d.broken != nil {
		return nil, d.broken
	}
	runtime.LockOSThread()
	if err := d.enter(); err != nil {
		runtime.UnlockOSThread()
		return nil, d.wrap(err)
	}
	return func() {
		d.setCurrent(0)
		runtime.UnlockOSThread()
	}, nil
}

// enter makes the context current, and creates it where there is none.
func (d *driverDevice) enter() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ctx != 0 {
		return d.setCurrent(d.ctx)
	}
	ctx, err := get[uintptr](d.libcuda, "cuDevicePrimaryCtxRetain", uintptr(d.dev))
	if err != nil {
		return err
	}
	if err := d.setCurrent(ctx); err != nil {
		d.release()
		return err
	}
	d.ctx = ctx
	d.info.Free, _ = d.freeMemory()
	return nil
}

// release lets go of the primary context.
func (d *driverDevice) release() error { return d.call("cuDevicePrimaryCtxRelease_v2", uintptr(d.dev)) }

// freeing frees memory by a call.
func (d *driverDevice) freeing(call string, memory uintptr) func() error {
	return func() error { return d.run(call, memory) }
}

// Alloc allocates n bytes. Its errors satisfy errors.Is(err, OutOfMemory) when
// the driver had no more, and say whether device memory ran out or memory of the
// host that may be page-locked.
func (d *driverDevice) Alloc(k Kind, n int) (*Buffer, error) {
	b := &Buffer{Kind: k, Size: n}
	err := d.allocate(b)
	if k != OnDevice {
		err = locking(err)
	}
	if err != nil {
		return nil, d.wrap(fmt.Errorf("allocate %d bytes of %s memory: %w", n, k, err))
	}
	return b, nil
}

// allocate gives b its memory.
func (d *driverDevice) allocate(b *Buffer) (err error) {
	start := time.Now()
	switch b.Kind {
	case OnDevice:
		b.Dev, err = get[uint64](d.libcuda, "cuMemAlloc_v2", uintptr(b.Size))
		b.free = d.freeing("cuMemFree_v2", uintptr(b.Dev))
		return err
	case Pinned:
		p, err := get[unsafe.Pointer](d.libcuda, "cuMemHostAlloc", uintptr(b.Size), 0)
		b.PinTime = time.Since(start)
		b.free = d.freeing("cuMemFreeHost", uintptr(p))
		if err == nil {
			b.Host = unsafe.Slice((*byte)(p), b.Size)
		}
		return err
	}
	mem, unmap, err := hostmem.Map(b.Size)
	b.Host, b.free = mem, unmap
	if err != nil || b.Kind == Pageable {
		return err
	}
	for i := 0; i < len(mem); i += os.Getpagesize() {
		mem[i] = 0
	}
	p := uintptr(unsafe.Pointer(unsafe.SliceData(mem)))
	start = time.Now()
	err = d.call("cuMemHostRegister_v2", p, uintptr(b.Size), 0)
	b.PinTime = time.Since(start)
	if err != nil {
		return errors.Join(err, unmap())
	}
	unregister := d.freeing("cuMemHostUnregister", p)
	b.free = func() error {
		if err := unregister(); err != nil {
			return err // the device may still reach it: it goes with the process
		}
		return unmap()
	}
	return nil
}

// locking explains why memory could not be page-locked: the driver's words for it
// read as if the GPU's memory had run out.
func locking(err error) error {
	switch {
	case errors.Is(err, OutOfMemory):
		return fmt.Errorf("the host has no more memory to page-lock, the GPU's has not run out "+
			"(containers, virtual machines and WSL2 limit it): %w", err)
	case errors.Is(err, NotSupported):
		return fmt.Errorf("registration of host memory is not supported here (confidential computing?): %w", err)
	}
	return err
}

// NewStream returns a stream that does not wait for the NULL stream.
func (d *driverDevice) NewStream() (Stream, error) {
	s, err := get[Stream](d.libcuda, "cuStreamCreate", streamNonBlocking)
	return s, d.wrap(err)
}

// NewEvent returns an event with timing. Who waits for it spins if the driver
// sees fit: blocking waits wake tens of microseconds late.
func (d *driverDevice) NewEvent() (Event, error) { return d.newEvent(0) }

// NewBlockingEvent returns an event with timing, for which the driver has a thread sleep.
func (d *driverDevice) NewBlockingEvent() (Event, error) { return d.newEvent(eventBlockingSync) }

func (d *driverDevice) newEvent(flags uintptr) (Event, error) {
	e, err := get[Event](d.libcuda, "cuEventCreate", flags)
	return e, d.wrap(err)
}

func (d *driverDevice) CloseStream(s Stream) error {
	return d.destroy("cuStreamDestroy_v2", uintptr(s))
}
func (d *driverDevice) CloseEvent(e Event) error { return d.destroy("cuEventDestroy_v2", uintptr(e)) }

func (d *driverDevice) destroy(call string, handle uintptr) error {
	if handle == 0 {
		return nil
	}
	return d.run(call, handle)
}

// run makes a call with handles and allocates nothing.
func (d *driverDevice) run(call string, handles ...uintptr) error {
	var args arguments
	copy(args[:], handles)
	return d.wrap(d.callFast(call, args))
}

// Copy queues a copy of src.Size bytes.
func (d *driverDevice) Copy(dst, src *Buffer, s Stream) error {
	if err := checkCopy(dst, src); err != nil {
		return d.wrap(err)
	}
	name, to, from := "cuMemcpyHtoDAsync_v2", uintptr(dst.Dev), uintptr(unsafe.Pointer(unsafe.SliceData(src.Host)))
	if src.Kind == OnDevice {
		name, to, from = "cuMemcpyDtoHAsync_v2", uintptr(unsafe.Pointer(unsafe.SliceData(dst.Host))), uintptr(src.Dev)
	}
	if err := d.callFast(name, arguments{to, from, uintptr(src.Size), uintptr(s)}); err != nil {
		return d.wrap(fmt.Errorf("copy of %d bytes from %s to %s memory: %w", src.Size, src.Kind, dst.Kind, err))
	}
	return nil
}

// Settle does nothing: copies end when the driver says so, and have no deadline.
func (d *driverDevice) Settle(*Buffer) error { return nil }
func (d *driverDevice) Late() time.Duration  { return 0 }

func (d *driverDevice) Record(e Event, s Stream) error {
	return d.run("cuEventRecord", uintptr(e), uintptr(s))
}

func (d *driverDevice) WaitEvent(s Stream, e Event) error {
	return d.run("cuStreamWaitEvent", uintptr(s), uintptr(e))
}

// Reached is true for an event that was never recorded.
func (d *driverDevice) Reached(e Event) (bool, error) {
	err := d.callFast("cuEventQuery", arguments{uintptr(e)})
	if errors.Is(err, NotReady) {
		return false, nil
	}
	return err == nil, d.wrap(err)
}

func (d *driverDevice) SyncEvent(e Event) error { return d.run("cuEventSynchronize", uintptr(e)) }

func (d *driverDevice) SyncStream(s Stream) error { return d.run("cuStreamSynchronize", uintptr(s)) }

// Elapsed is the time between two reached events to about 0.5 us (CUDA driver
// API, cuEventElapsedTime).
func (d *driverDevice) Elapsed(start, stop Event) (time.Duration, error) {
	ms, err := get[float32](d.libcuda, "cuEventElapsedTime", uintptr(start), uintptr(stop))
	return time.Duration(float64(ms) * float64(time.Millisecond)), d.wrap(err)
}

// Close lets go of the device's context, with which the driver frees what is left in
// it. The device need not be bound.
func (d *driverDevice) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ctx == 0 {
		return nil
	}
	d.ctx = 0
	err := d.wrap(d.release())
	if errors.Is(err, ErrLost) {
		return nil // who lost it knows
	}
	return err
}
