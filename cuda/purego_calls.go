//go:build linux && (amd64 || arm64) && !nocuda && !gorgonia

package cuda

import (
	"bytes"
	"runtime"
	"unsafe"
)

// Flags and options of cuda.h.
const (
	streamNonBlocking = 1
	jitErrorLog       = 5
	jitErrorLogSize   = 6
)

func (l *library) initialize() error { return l.call(cuInit, 0) }

func (l *library) version() (int, error) {
	var v int32
	err := l.call(cuDriverGetVersion, uintptr(unsafe.Pointer(&v)))
	return int(v), err
}

func (l *library) count() (int, error) {
	var n int32
	err := l.call(cuDeviceGetCount, uintptr(unsafe.Pointer(&n)))
	return int(n), err
}

func (l *library) device(ordinal int) (int, error) {
	var d int32
	err := l.call(cuDeviceGet, uintptr(unsafe.Pointer(&d)), uintptr(ordinal))
	return int(d), err
}

func (l *library) name(dev int) (string, error) { return l.text(cuDeviceGetName, dev) }
func (l *library) busID(dev int) (string, error) {
	return l.text(cuDeviceGetPCIBusID, dev)
}

func (l *library) text(f symbol, dev int) (string, error) {
	var b [256]byte
	if err := l.call(f, uintptr(unsafe.Pointer(&b)), uintptr(len(b)), uintptr(dev)); err != nil {
		return "", err
	}
	s, _, _ := bytes.Cut(b[:], []byte{0})
	return string(s), nil
}

func (l *library) memory(dev int) (int64, error) {
	var n uint64
	err := l.call(cuDeviceTotalMem, uintptr(unsafe.Pointer(&n)), uintptr(dev))
	return int64(n), err
}

func (l *library) attribute(attr, dev int) (int, error) {
	var v int32
	err := l.call(cuDeviceGetAttribute, uintptr(unsafe.Pointer(&v)), uintptr(attr), uintptr(dev))
	return int(v), err
}

func (l *library) retain(dev int) (ctx uintptr, err error) {
	err = l.call(cuDevicePrimaryCtxRetain, uintptr(unsafe.Pointer(&ctx)), uintptr(dev))
	return ctx, err
}

func (l *library) release(dev int) error { return l.call(cuDevicePrimaryCtxRelease, uintptr(dev)) }

func (l *library) current() (ctx uintptr, err error) {
	err = l.call(cuCtxGetCurrent, uintptr(unsafe.Pointer(&ctx)))
	return ctx, err
}

func (l *library) setCurrent(ctx uintptr) error { return l.callFast(cuCtxSetCurrent, arguments{ctx}) }

func (l *library) freeMemory() (int64, error) {
	var n [2]uint64 // free, total
	err := l.call(cuMemGetInfo, uintptr(unsafe.Pointer(&n[0])), uintptr(unsafe.Pointer(&n[1])))
	return int64(n[0]), err
}

func (l *library) alloc(n int) (addr uint64, err error) {
	err = l.call(cuMemAlloc, uintptr(unsafe.Pointer(&addr)), uintptr(n))
	return addr, err
}

func (l *library) free(addr uint64) error { return l.call(cuMemFree, uintptr(addr)) }

func (l *library) hostAlloc(n int) (p unsafe.Pointer, err error) {
	err = l.call(cuMemHostAlloc, uintptr(unsafe.Pointer(&p)), uintptr(n), 0)
	return p, err
}

func (l *library) hostFree(p unsafe.Pointer) error { return l.call(cuMemFreeHost, uintptr(p)) }

func (l *library) register(p unsafe.Pointer, n int) error {
	return l.call(cuMemHostRegister, uintptr(p), uintptr(n), 0)
}

func (l *library) unregister(p unsafe.Pointer) error { return l.call(cuMemHostUnregister, uintptr(p)) }

func (l *library) copyIn(dst uint64, src unsafe.Pointer, n int, stream uintptr) error {
	return l.callFast(cuMemcpyHtoDAsync, arguments{uintptr(dst), uintptr(src), uintptr(n), stream})
}

func (l *library) copyOut(dst unsafe.Pointer, src uint64, n int, stream uintptr) error {
	return l.callFast(cuMemcpyDtoHAsync, arguments{uintptr(dst), uintptr(src), uintptr(n), stream})
}

func (l *library) newStream() (s uintptr, err error) {
	err = l.call(cuStreamCreate, uintptr(unsafe.Pointer(&s)), streamNonBlocking)
	return s, err
}

func (l *library) closeStream(s uintptr) error { return l.call(cuStreamDestroy, s) }
func (l *library) syncStream(s uintptr) error  { return l.callFast(cuStreamSynchronize, arguments{s}) }
func (l *library) waitEvent(s, e uintptr) error {
	return l.callFast(cuStreamWaitEvent, arguments{s, e, 0})
}

func (l *library) newEvent() (e uintptr, err error) {
	err = l.call(cuEventCreate, uintptr(unsafe.Pointer(&e)), 0)
	return e, err
}

func (l *library) closeEvent(e uintptr) error { return l.call(cuEventDestroy, e) }
func (l *library) record(e, s uintptr) error  { return l.callFast(cuEventRecord, arguments{e, s}) }
func (l *library) query(e uintptr) error      { return l.callFast(cuEventQuery, arguments{e}) }
func (l *library) syncEvent(e uintptr) error  { return l.callFast(cuEventSynchronize, arguments{e}) }

func (l *library) elapsed(start, stop uintptr) (ms float32, err error) {
	err = l.call(cuEventElapsedTime, uintptr(unsafe.Pointer(&ms)), start, stop)
	return ms, err
}

func (l *library) load(ptx string, log []byte) (module uintptr, err error) {
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
	err = l.call(cuModuleLoadDataEx, uintptr(unsafe.Pointer(&module)), uintptr(unsafe.Pointer(&image[0])),
		uintptr(len(options)), uintptr(unsafe.Pointer(&options)), uintptr(unsafe.Pointer(values)))
	return module, err
}

func (l *library) unload(module uintptr) error { return l.call(cuModuleUnload, module) }

func (l *library) function(module uintptr, name string) (f uintptr, err error) {
	b := append([]byte(name), 0)
	err = l.call(cuModuleGetFunction, uintptr(unsafe.Pointer(&f)), module, uintptr(unsafe.Pointer(&b[0])))
	return f, err
}

func (l *library) launch(f, stream uintptr, grid [2]int, block int, args []unsafe.Pointer) error {
	return l.callFast(cuLaunchKernel, arguments{f, uintptr(grid[0]), uintptr(grid[1]), 1, uintptr(block), 1, 1, 0, stream,
		uintptr(unsafe.Pointer(unsafe.SliceData(args))), 0})
}
