//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"errors"
	"fmt"
	"os"
	"time"
	"unsafe"
)

// Alloc allocates n bytes. Its errors satisfy errors.Is(err, OutOfMemory) when
// the driver had no more, and say whether device memory ran out or memory of the
// host that may be page-locked.
func (d *driverDevice) Alloc(k Kind, n int) (*Buffer, error) {
	if n <= 0 {
		return nil, d.wrap(fmt.Errorf("allocate %d bytes: %w", n, InvalidValue))
	}
	b := &Buffer{Kind: k, Size: n}
	var err error
	switch k {
	case Pageable:
		b.Host, b.free, err = mapPages(n)
	case Pinned:
		err = d.allocPinned(b)
	case Registered:
		err = d.allocRegistered(b)
	case OnDevice:
		err = d.allocDevice(b)
	default:
		err = InvalidValue
	}
	if err != nil {
		return nil, d.wrap(fmt.Errorf("allocate %d bytes of %s memory: %w", n, k, err))
	}
	d.track(b)
	return b, nil
}

// track has Close free b, and Free forget it.
func (d *driverDevice) track(b *Buffer) {
	free := b.free
	b.free = func() error {
		d.mu.Lock()
		delete(d.buffers, b)
		d.mu.Unlock()
		return d.wrap(free())
	}
	d.mu.Lock()
	d.buffers[b] = struct{}{}
	d.mu.Unlock()
}

func (d *driverDevice) allocDevice(b *Buffer) (err error) {
	if b.Dev, err = d.alloc(b.Size); err != nil {
		return err
	}
	addr := b.Dev
	b.free = func() error { return d.within(func() error { return d.calls.free(addr) }) }
	return nil
}

func (d *driverDevice) allocPinned(b *Buffer) error {
	start := time.Now()
	p, err := d.hostAlloc(b.Size)
	b.PinTime = time.Since(start)
	if err != nil {
		return locking(err)
	}
	b.Host = unsafe.Slice((*byte)(p), b.Size)
	b.free = func() error { return d.within(func() error { return d.hostFree(p) }) }
	return nil
}

func (d *driverDevice) allocRegistered(b *Buffer) error {
	mem, unmap, err := mapPages(b.Size)
	if err != nil {
		return err
	}
	for i := 0; i < len(mem); i += os.Getpagesize() {
		mem[i] = 0
	}
	p := unsafe.Pointer(unsafe.SliceData(mem))
	start := time.Now()
	err = d.register(p, b.Size)
	b.PinTime = time.Since(start)
	if err != nil {
		return errors.Join(locking(err), unmap())
	}
	b.Host = mem
	b.free = func() error {
		if err := d.within(func() error { return d.unregister(p) }); err != nil {
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
		return fmt.Errorf("the host has no more memory to page-lock, the GPU's has not run out (containers, virtual machines and WSL2 limit it): %w", err)
	case errors.Is(err, NotSupported):
		return fmt.Errorf("registration of host memory is not supported here (confidential computing?): %w", err)
	}
	return err
}
