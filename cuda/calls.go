//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import "unsafe"

// calls is what a back end offers of the CUDA driver API. Sizes are in bytes,
// handles are what the back end makes of the driver's and never 0, failed calls
// give a *CallError. Calls from retain on want the thread they are made on to
// have a current context, but for current, setCurrent and release themselves.
type calls interface {
	initialize() error
	version() (int, error) // 1000*major + 10*minor
	count() (int, error)
	device(ordinal int) (dev int, err error)
	name(dev int) (string, error)
	memory(dev int) (int64, error)
	busID(dev int) (string, error)
	attribute(attr, dev int) (int, error)

	retain(dev int) (ctx uintptr, err error) // the primary context
	release(dev int) error
	current() (ctx uintptr, err error) // 0: none
	setCurrent(ctx uintptr) error

	freeMemory() (int64, error)
	alloc(n int) (addr uint64, err error)
	free(addr uint64) error
	hostAlloc(n int) (unsafe.Pointer, error)
	hostFree(p unsafe.Pointer) error
	register(p unsafe.Pointer, n int) error
	unregister(p unsafe.Pointer) error
	copyIn(dst uint64, src unsafe.Pointer, n int, stream uintptr) error
	copyOut(dst unsafe.Pointer, src uint64, n int, stream uintptr) error

	newStream() (uintptr, error) // does not wait for the NULL stream
	closeStream(stream uintptr) error
	syncStream(stream uintptr) error
	waitEvent(stream, event uintptr) error
	newEvent() (uintptr, error) // with timing
	closeEvent(event uintptr) error
	record(event, stream uintptr) error
	query(event uintptr) error // NotReady: not reached
	syncEvent(event uintptr) error
	elapsed(start, stop uintptr) (ms float32, err error)

	// load compiles PTX; what the compiler complains about goes to log, NUL-terminated.
	load(ptx string, log []byte) (module uintptr, err error)
	unload(module uintptr) error
	function(module uintptr, name string) (uintptr, error)
	// launch runs a kernel on a grid of so many blocks in x and y, of block threads
	// each in x. args point to its arguments; both are read before launch returns.
	// The caller has pinned them.
	launch(function, stream uintptr, grid [2]int, block int, args []unsafe.Pointer) error
}
