//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"bytes"
	"runtime"
	"sync"
	"unsafe"
)

// Flags and options of cuda.h.
const (
	streamNonBlocking = 1
	jitErrorLog       = 5
	jitErrorLogSize   = 6
)

// libcuda makes calls of the CUDA driver API through the back end that was built in.
// Sizes are in bytes, handles are the driver's and never 0, failed calls give a
// *CallError. Calls from retain on want the thread they are made on to have a current
// context, but for current, setCurrent and release themselves.
type libcuda struct{ backend }

// arguments is room for those of cuLaunchKernel, the longest. Functions that take
// fewer do not see the rest (System V and AAPCS64 calling conventions).
type arguments [11]uintptr

var argumentPool = sync.Pool{New: func() any { return new(arguments) }}

// callFast makes one driver call and allocates nothing. args point to no Go memory but
// what its owner has pinned.
func (l libcuda) callFast(name string, args arguments) error {
	a := argumentPool.Get().(*arguments)
	*a = args
	c := l.do(name, a)
	argumentPool.Put(a)
	return l.check(name, c)
}

// call is callFast for what pointers to Go memory go to: that stays where it is until
// the call returns.
//
//go:uintptrescapes
func (l libcuda) call(name string, first uintptr, rest ...uintptr) error {
	args := arguments{first}
	copy(args[1:], rest)
	return l.callFast(name, args)
}

// get makes a call that stores its result where its first argument points to. args are
// numbers and handles.
func get[T any](l libcuda, name string, args ...uintptr) (T, error) {
	v := new(T)
	err := l.call(name, uintptr(unsafe.Pointer(v)), args...)
	return *v, err
}

// number is get for the int32 of C's int.
func (l libcuda) number(name string, args ...uintptr) (int, error) {
	n, err := get[int32](l, name, args...)
	return int(n), err
}

// errNotReady is no failure, and polling sees it often.
var errNotReady error = NotReady

// check makes an error of what a call returned, in the driver's words.
func (l libcuda) check(name string, c Code) error {
	switch {
	case c == 0:
		return nil
	case name == "cuEventQuery" && c == NotReady:
		return errNotReady
	}
	text := "unknown error code"
	if name := l.words("cuGetErrorName", c); name != "" {
		text = name + ": " + l.words("cuGetErrorString", c)
	}
	return &CallError{Call: name, Code: c, Text: text}
}

// words are what the driver calls a result, "" if it does not know it.
func (l libcuda) words(name string, c Code) string {
	s := new(*byte)
	var pin runtime.Pinner
	pin.Pin(s)
	defer pin.Unpin()
	if l.do(name, &arguments{uintptr(c), uintptr(unsafe.Pointer(s))}) != 0 || *s == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(*s), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(*s, n))
}

func (l libcuda) initialize() error               { return l.call("cuInit", 0) }
func (l libcuda) version() (int, error)           { return l.number("cuDriverGetVersion") }
func (l libcuda) count() (int, error)             { return l.number("cuDeviceGetCount") }
func (l libcuda) device(ordinal int) (int, error) { return l.number("cuDeviceGet", uintptr(ordinal)) }
func (l libcuda) name(dev int) (string, error)    { return l.text("cuDeviceGetName", dev) }
func (l libcuda) busID(dev int) (string, error)   { return l.text("cuDeviceGetPCIBusId", dev) }

func (l libcuda) text(name string, dev int) (string, error) {
	b := new([256]byte)
	err := l.call(name, uintptr(unsafe.Pointer(b)), uintptr(len(b)), uintptr(dev))
	s, _, _ := bytes.Cut(b[:], []byte{0})
	return string(s), err
}

func (l libcuda) memory(dev int) (int64, error) {
	return get[int64](l, "cuDeviceTotalMem_v2", uintptr(dev))
}

func (l libcuda) retain(dev int) (uintptr, error) {
	return get[uintptr](l, "cuDevicePrimaryCtxRetain", uintptr(dev))
}

func (l libcuda) release(dev int) error        { return l.call("cuDevicePrimaryCtxRelease_v2", uintptr(dev)) }
func (l libcuda) current() (uintptr, error)    { return get[uintptr](l, "cuCtxGetCurrent") }
func (l libcuda) setCurrent(ctx uintptr) error { return l.callFast("cuCtxSetCurrent", arguments{ctx}) }

func (l libcuda) freeMemory() (int64, error) {
	var n [2]int64 // free, total
	err := l.call("cuMemGetInfo_v2", uintptr(unsafe.Pointer(&n[0])), uintptr(unsafe.Pointer(&n[1])))
	return n[0], err
}

func (l libcuda) alloc(n int) (uint64, error) { return get[uint64](l, "cuMemAlloc_v2", uintptr(n)) }
func (l libcuda) free(addr uint64) error      { return l.call("cuMemFree_v2", uintptr(addr)) }

func (l libcuda) hostAlloc(n int) (unsafe.Pointer, error) {
	return get[unsafe.Pointer](l, "cuMemHostAlloc", uintptr(n), 0)
}

func (l libcuda) hostFree(p unsafe.Pointer) error { return l.call("cuMemFreeHost", uintptr(p)) }

func (l libcuda) register(p unsafe.Pointer, n int) error {
	return l.call("cuMemHostRegister_v2", uintptr(p), uintptr(n), 0)
}

func (l libcuda) unregister(p unsafe.Pointer) error { return l.call("cuMemHostUnregister", uintptr(p)) }

func (l libcuda) copyIn(dst uint64, src unsafe.Pointer, n int, stream uintptr) error {
	return l.callFast("cuMemcpyHtoDAsync_v2", arguments{uintptr(dst), uintptr(src), uintptr(n), stream})
}

func (l libcuda) copyOut(dst unsafe.Pointer, src uint64, n int, stream uintptr) error {
	return l.callFast("cuMemcpyDtoHAsync_v2", arguments{uintptr(dst), uintptr(src), uintptr(n), stream})
}

func (l libcuda) newStream() (uintptr, error) {
	return get[uintptr](l, "cuStreamCreate", streamNonBlocking)
}

func (l libcuda) closeStream(s uintptr) error { return l.call("cuStreamDestroy_v2", s) }
func (l libcuda) syncStream(s uintptr) error  { return l.callFast("cuStreamSynchronize", arguments{s}) }

func (l libcuda) waitEvent(s, e uintptr) error {
	return l.callFast("cuStreamWaitEvent", arguments{s, e, 0})
}

func (l libcuda) newEvent() (uintptr, error) { return get[uintptr](l, "cuEventCreate", 0) }
func (l libcuda) closeEvent(e uintptr) error { return l.call("cuEventDestroy_v2", e) }
func (l libcuda) record(e, s uintptr) error  { return l.callFast("cuEventRecord", arguments{e, s}) }
func (l libcuda) query(e uintptr) error      { return l.callFast("cuEventQuery", arguments{e}) }
func (l libcuda) syncEvent(e uintptr) error  { return l.callFast("cuEventSynchronize", arguments{e}) }

func (l libcuda) elapsed(start, stop uintptr) (ms float32, err error) {
	return get[float32](l, "cuEventElapsedTime", start, stop)
}

func (l libcuda) load(ptx string, log []byte) (module uintptr, err error) {
	image := append([]byte(ptx), 0)
	options := [2]int32{jitErrorLog, jitErrorLogSize}
	values := new(struct {
		log  unsafe.Pointer
		size uintptr // by value, as the driver wants it
	})
	values.log, values.size = unsafe.Pointer(unsafe.SliceData(log)), uintptr(len(log))
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(unsafe.SliceData(log))
	err = l.call("cuModuleLoadDataEx", uintptr(unsafe.Pointer(&module)), uintptr(unsafe.Pointer(&image[0])),
		uintptr(len(options)), uintptr(unsafe.Pointer(&options)), uintptr(unsafe.Pointer(values)))
	return module, err
}

func (l libcuda) function(module uintptr, name string) (f uintptr, err error) {
	b := append([]byte(name), 0)
	err = l.call("cuModuleGetFunction", uintptr(unsafe.Pointer(&f)), module, uintptr(unsafe.Pointer(&b[0])))
	return f, err
}

func (l libcuda) launch(f, stream uintptr, grid [2]int, block int, args []unsafe.Pointer) error {
	return l.callFast("cuLaunchKernel", arguments{f, uintptr(grid[0]), uintptr(grid[1]), 1, uintptr(block), 1, 1,
		0, stream, uintptr(unsafe.Pointer(unsafe.SliceData(args))), 0})
}
