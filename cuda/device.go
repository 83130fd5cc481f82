// Package cuda gives benchmarks a device to copy to: a real GPU through the CUDA
// driver, or a simulated link (sim) that paces copies where there is no GPU.
//
// A device works on one OS thread at a time: Bind it, call its methods on that
// goroutine, unbind. Streams, events and buffers belong to their device.
//
// DLBENCH_LIBCUDA in the environment names a driver library in an unusual place. A
// program built with -tags gorgonia calls the driver through gorgonia.org/cu, which
// links it and starts it before main, and does not look there.
package cuda

import (
	"errors"
	"fmt"
	"time"

	"dlbench/bench/hostmem"
	"dlbench/bench/theory"
)

// ErrUnavailable says that this machine has no usable CUDA driver or no device.
// The error that wraps it says which: no driver, too old, no permission, no device.
var ErrUnavailable = errors.New("no usable CUDA device")

// ErrLost says that a device's context is broken and the device of no more use
// in this process: its remaining cases cannot run.
var ErrLost = errors.New("device lost")

// Kind of memory.
type Kind int

const (
	Pageable   Kind = iota // host memory from mmap, outside the Go heap
	Pinned                 // host memory that the driver allocated page-locked
	Registered             // Pageable memory that was page-locked afterwards
	OnDevice               // device memory
)

// String returns the axis value of k.
func (k Kind) String() string {
	return [...]string{"pageable", "pinned", "registered", "device"}[k]
}

// Info describes a device.
type Info struct {
	Spec    string       // how the user names it: cuda:0, cuda:0:link=gen3x8, sim:gen3x16
	Assumed bool         // a paced stand-in, not hardware
	Loaded  bool         // hardware whose copies are made to last as long as those over Link: see Loaded
	Name    string       // marketing name; for sim the link's title
	Index   int          // CUDA ordinal
	PCI     string       // 0000:65:00.0, lower case; "" when the driver would not say
	Memory  int64        // B of device memory; for sim 0: not limited
	Free    int64        // B of device memory free when the device was first bound, 0 before
	Driver  string       // version of CUDA that the driver supports, "12.4"
	Backend string       // purego, gorgonia.org/cu, sim
	Link    theory.Link  // the simulated link of sim and loaded devices. A real one is read from the host, while copying
	Rates   theory.Rates // what the simulated link is given
	Source  string       // where Rates come from
}

// AssumedLink tells whether the times of copies are those of a simulated link.
func (i Info) AssumedLink() bool { return i.Assumed || i.Loaded }

// Stream is a queue of work of a device, Event a point in such a queue. The zero
// values are no stream and no event.
type (
	Stream uintptr
	Event  uintptr
)

// Device is a GPU or a stand-in for one.
type Device interface {
	Info() Info

	// Bind locks the calling goroutine to its OS thread and makes the device's
	// context current there. All other methods but Info and Close want a
	// bound device, and so does Buffer.Free. Bindings do not nest. unbind undoes it, once, and does
	// not fail.
	Bind() (unbind func(), err error)

	// Alloc allocates n bytes of that kind, n > 0. The pages of host memory are
	// not touched unless the driver does so.
	Alloc(k Kind, n int) (*Buffer, error)

	// Streams, events and buffers are this device's and open in all calls; the zero
	// values are closed without an error.
	NewStream() (Stream, error)
	CloseStream(Stream) error
	NewEvent() (Event, error)
	CloseEvent(Event) error
	// NewBlockingEvent returns an event for which SyncEvent sleeps, and never spins.
	NewBlockingEvent() (Event, error)

	// Copy queues a copy of len(src) bytes into dst, one of which is on the
	// device and the other on the host. With pageable memory the call holds the
	// caller as long as the driver does.
	Copy(dst, src *Buffer, s Stream) error

	// Record puts e into s: it is reached when all work before it is done.
	Record(e Event, s Stream) error
	// WaitEvent makes later work in s wait for e.
	WaitEvent(s Stream, e Event) error
	// Reached tells whether e is reached, without waiting.
	Reached(e Event) (bool, error)
	// SyncEvent holds the caller until e is reached, SyncStream until all work
	// in s is done.
	SyncEvent(e Event) error
	SyncStream(s Stream) error
	// Elapsed is the device time between two events that were reached.
	Elapsed(start, stop Event) (time.Duration, error)

	// Late is by how much a wait for a stand-in (SyncEvent, SyncStream, a pageable Copy)
	// ended after the last deadline that was waited for; a wait that began after it, as
	// where this host copies slower than the simulated link, counts 0.
	Late() time.Duration

	// Step queues work that keeps the device busy for d.
	Step(d time.Duration, s Stream) error
	// Normalise queues work that makes n's tensor in dst of the images in src, both
	// on the device. A stand-in returns NotSupported.
	Normalise(dst, src *Buffer, n Normalisation, s Stream) error

	// Work queues so many rounds of arithmetic, on all of the device: unlike a step, which
	// lasts a time, it takes longer while the device's clock is low. out, WorkBytes on the
	// device, is overwritten. A stand-in returns NotSupported.
	Work(rounds int, out *Buffer, s Stream) error

	// Settle makes the bytes of finished copies visible in b. Real devices need
	// no such thing; a stand-in copies bytes only here, so that its copies cost
	// the caller no time.
	Settle(b *Buffer) error

	// Close frees the device's memory, streams and events. Neither they nor the device
	// may be used afterwards.
	Close() error
}

// WorkBytes is what Work writes.
const WorkBytes = 1024

// Buffer is memory that a device copies from or to.
type Buffer struct {
	Kind Kind
	Size int    // bytes
	Host []byte // the memory itself; nil for OnDevice
	Dev  uint64 // device address; 0 for host memory

	// PinTime is what page-locking took: the allocation for Pinned, the
	// registration of touched pages for Registered. 0 where nothing was locked.
	PinTime time.Duration

	free    func() error
	mem     []byte  // sim: the bytes, once there are any
	pending *Buffer // sim: what was copied here and not yet moved
}

// AllocHost returns n bytes of pageable memory that belong to no device, n > 0.
// Its pages are not touched.
func AllocHost(n int) (*Buffer, error) {
	mem, unmap, err := hostmem.Map(n)
	return &Buffer{Kind: Pageable, Size: n, Host: mem, free: unmap}, err
}

// View returns the first n bytes of b, n <= b.Size, as a buffer that need not be
// freed and must not be used once b is.
func (b *Buffer) View(n int) *Buffer {
	v := &Buffer{Kind: b.Kind, Size: n, Dev: b.Dev, free: func() error { return nil }}
	if b.Host != nil {
		v.Host = b.Host[:n]
		v.mem = v.Host
	}
	return v
}

// checkCopy refuses copies that no direction describes, or that do not fit, and those of memory
// that was freed.
func checkCopy(dst, src *Buffer) error {
	if (dst.Kind == OnDevice) != (src.Kind == OnDevice) && dst.Size >= src.Size && dst.free != nil && src.free != nil {
		return nil
	}
	return fmt.Errorf("copy of %d bytes of %s memory into %d bytes of %s memory: %w",
		src.Size, src.Kind, dst.Size, dst.Kind, InvalidValue)
}

// Free gives the memory back, while its device is bound. It must not be in use by queued work.
func (b *Buffer) Free() error {
	if b == nil || b.free == nil {
		return nil
	}
	f := b.free
	b.free, b.Host, b.Dev = nil, nil, 0
	return f()
}
