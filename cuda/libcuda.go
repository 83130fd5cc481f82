//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"bytes"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"dlbench/bench/sharedlib"
)

// Flags and options of cuda.h.
const (
	streamNonBlocking = 1
	eventBlockingSync = 1
	jitErrorLog       = 5
	jitErrorLogSize   = 6
)

// libcuda makes calls of the CUDA driver API through the back end that was built in.
// Handles are the driver's and never 0, failed calls give a *CallError.
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
	if l.do(name, &arguments{uintptr(c), uintptr(unsafe.Pointer(s))}) != 0 {
		return ""
	}
	return strings.Clone(sharedlib.Text(uintptr(unsafe.Pointer(*s))))
}

// text is a text about a device.
func (l libcuda) text(name string, dev int) (string, error) {
	b := new([256]byte)
	err := l.call(name, uintptr(unsafe.Pointer(b)), uintptr(len(b)), uintptr(dev))
	s, _, _ := bytes.Cut(b[:], []byte{0})
	return string(s), err
}

// setCurrent makes a context the thread's current one; 0 leaves it with none.
func (l libcuda) setCurrent(ctx uintptr) error { return l.callFast("cuCtxSetCurrent", arguments{ctx}) }

// freeMemory is the device memory that is free, in bytes.
func (l libcuda) freeMemory() (int64, error) {
	var n [2]int64 // free, total
	err := l.call("cuMemGetInfo_v2", uintptr(unsafe.Pointer(&n[0])), uintptr(unsafe.Pointer(&n[1])))
	return n[0], err
}

// load compiles PTX; what the compiler complains about goes to log, NUL-terminated.
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
