//go:build gorgonia && cgo && linux && (amd64 || arm64) && !nocuda

package cuda

// What gorgonia.org/cu does not do: page-locked memory, PCI addresses and the
// driver's own words have no function there; Version keeps no error; LoadDataEx
// gives the driver the address of a Go buffer as a number, which keeps it neither
// alive nor in place; Query allocates when the event is not reached, and polling
// sees that often.

/*
#include <stdint.h>
#include <cuda.h>

static CUresult hostAlloc(void **p, size_t n) { return cuMemHostAlloc(p, n, 0); }
static CUresult hostRegister(void *p, size_t n) { return cuMemHostRegister(p, n, 0); }
static CUresult query(uintptr_t event) { return cuEventQuery((CUevent)event); }
static CUresult load(uintptr_t *module, const char *ptx, char *log, size_t n) {
	CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
	void *values[] = {log, (void *)n};
	return cuModuleLoadDataEx((CUmodule *)module, ptx, 2, options, values);
}
*/
import "C"

import (
	"reflect"
	"unsafe"

	"gorgonia.org/cu"
)

// Backend names how this program calls the CUDA driver.
const Backend = "gorgonia.org/cu"

// gorgonia calls the driver through gorgonia.org/cu, and through C where that has no
// function or loses what it found. Of cu it uses the functions that act on the calling
// thread's context: Ctx and BatchedContext, which carry calls to a thread of their own,
// lose errors.
type gorgonia struct{}

// drivers cannot fail: the program is linked to the driver, and cu has called
// cuInit before main, or ended the process.
func drivers() (calls, error) { return gorgonia{}, nil }

func (gorgonia) initialize() error { return nil }

// wrapped are cu's types around a handle of the driver.
type wrapped interface {
	cu.CUContext | cu.Stream | cu.Event | cu.Module | cu.Function
}

// pointer is the size of each of them: a struct of one pointer, which cu has no function
// to make from a handle.
const pointer = unsafe.Sizeof(uintptr(0))

var _ = [1]struct{}{}[unsafe.Sizeof(cu.CUContext{})^pointer|unsafe.Sizeof(cu.Stream{})^pointer|
	unsafe.Sizeof(cu.Event{})^pointer|unsafe.Sizeof(cu.Module{})^pointer|unsafe.Sizeof(cu.Function{})^pointer]

func handle[T wrapped](x T) uintptr { return *(*uintptr)(unsafe.Pointer(&x)) }
func of[T wrapped](h uintptr) T     { return *(*T)(unsafe.Pointer(&h)) }

// fail makes a CallError of cu's error, which is a CUresult of a type of its own.
func fail(call string, err error) error {
	if err == nil {
		return nil
	}
	v := reflect.ValueOf(err)
	if v.Kind() != reflect.Int {
		return err
	}
	return result(call, Code(v.Int()))
}

// result makes an error of what a call returned.
func result(call string, c Code) error {
	if c == 0 {
		return nil
	}
	var name, what *C.char
	C.cuGetErrorName(C.CUresult(c), &name)
	C.cuGetErrorString(C.CUresult(c), &what)
	return callError(call, c, C.GoString(name), C.GoString(what))
}

func (gorgonia) count() (int, error) {
	n, err := cu.NumDevices()
	return n, fail("cuDeviceGetCount", err)
}

func (gorgonia) device(ordinal int) (int, error) {
	d, err := cu.GetDevice(ordinal)
	return int(d), fail("cuDeviceGet", err)
}

func (gorgonia) name(dev int) (string, error) {
	s, err := cu.Device(dev).Name()
	return s, fail("cuDeviceGetName", err)
}

func (gorgonia) memory(dev int) (int64, error) {
	n, err := cu.Device(dev).TotalMem()
	return n, fail("cuDeviceTotalMem_v2", err)
}

func (gorgonia) retain(dev int) (uintptr, error) {
	ctx, err := cu.Device(dev).RetainPrimaryCtx()
	return handle(ctx), fail("cuDevicePrimaryCtxRetain", err)
}

func (gorgonia) release(dev int) error {
	return fail("cuDevicePrimaryCtxRelease_v2", cu.Device(dev).ReleasePrimaryCtx())
}

func (gorgonia) current() (uintptr, error) {
	ctx, err := cu.CurrentContext()
	return handle(ctx), fail("cuCtxGetCurrent", err)
}

func (gorgonia) setCurrent(ctx uintptr) error {
	return fail("cuCtxSetCurrent", cu.SetCurrentContext(of[cu.CUContext](ctx)))
}

func (gorgonia) freeMemory() (int64, error) {
	free, _, err := cu.MemInfo()
	return free, fail("cuMemGetInfo_v2", err)
}

func (gorgonia) alloc(n int) (uint64, error) {
	addr, err := cu.MemAlloc(int64(n))
	return uint64(addr), fail("cuMemAlloc_v2", err)
}

func (gorgonia) free(addr uint64) error { return fail("cuMemFree_v2", cu.MemFree(cu.DevicePtr(addr))) }

func (gorgonia) hostFree(p unsafe.Pointer) error { return fail("cuMemFreeHost", cu.MemFreeHost(p)) }

func (gorgonia) copyIn(dst uint64, src unsafe.Pointer, n int, stream uintptr) error {
	return fail("cuMemcpyHtoDAsync_v2", cu.MemcpyHtoDAsync(cu.DevicePtr(dst), src, int64(n), of[cu.Stream](stream)))
}

func (gorgonia) copyOut(dst unsafe.Pointer, src uint64, n int, stream uintptr) error {
	return fail("cuMemcpyDtoHAsync_v2", cu.MemcpyDtoHAsync(dst, cu.DevicePtr(src), int64(n), of[cu.Stream](stream)))
}

func (gorgonia) newStream() (uintptr, error) {
	s, err := cu.MakeStream(cu.NonBlocking)
	return handle(s), fail("cuStreamCreate", err)
}

func (gorgonia) closeStream(stream uintptr) error {
	s := of[cu.Stream](stream)
	return fail("cuStreamDestroy_v2", s.Destroy())
}

func (gorgonia) syncStream(stream uintptr) error {
	return fail("cuStreamSynchronize", of[cu.Stream](stream).Synchronize())
}

func (gorgonia) waitEvent(stream, event uintptr) error {
	return fail("cuStreamWaitEvent", of[cu.Stream](stream).Wait(of[cu.Event](event), 0))
}

func (gorgonia) newEvent() (uintptr, error) {
	e, err := cu.MakeEvent(cu.DefaultEvent)
	return handle(e), fail("cuEventCreate", err)
}

func (gorgonia) closeEvent(event uintptr) error {
	e := of[cu.Event](event)
	return fail("cuEventDestroy_v2", cu.DestroyEvent(&e))
}

func (gorgonia) record(event, stream uintptr) error {
	return fail("cuEventRecord", of[cu.Event](event).Record(of[cu.Stream](stream)))
}

func (gorgonia) syncEvent(event uintptr) error {
	return fail("cuEventSynchronize", of[cu.Event](event).Synchronize())
}

func (gorgonia) elapsed(start, stop uintptr) (float32, error) {
	ms, err := of[cu.Event](start).Elapsed(of[cu.Event](stop))
	return float32(ms), fail("cuEventElapsedTime", err)
}

func (gorgonia) function(module uintptr, name string) (uintptr, error) {
	f, err := of[cu.Module](module).Function(name)
	return handle(f), fail("cuModuleGetFunction", err)
}

func (gorgonia) launch(f, stream uintptr, grid [2]int, block int, args []unsafe.Pointer) error {
	err := of[cu.Function](f).Launch(grid[0], grid[1], 1, block, 1, 1, 0, of[cu.Stream](stream), args)
	return fail("cuLaunchKernel", err)
}

func (gorgonia) version() (int, error) {
	var v C.int
	err := result("cuDriverGetVersion", Code(C.cuDriverGetVersion(&v)))
	return int(v), err
}

func (gorgonia) busID(dev int) (string, error) {
	var b [32]C.char
	err := result("cuDeviceGetPCIBusId", Code(C.cuDeviceGetPCIBusId(&b[0], C.int(len(b)), C.CUdevice(dev))))
	return C.GoString(&b[0]), err
}

func (gorgonia) hostAlloc(n int) (p unsafe.Pointer, err error) {
	err = result("cuMemHostAlloc", Code(C.hostAlloc(&p, C.size_t(n))))
	return p, err
}

func (gorgonia) register(p unsafe.Pointer, n int) error {
	return result("cuMemHostRegister_v2", Code(C.hostRegister(p, C.size_t(n))))
}

func (gorgonia) unregister(p unsafe.Pointer) error {
	return result("cuMemHostUnregister", Code(C.cuMemHostUnregister(p)))
}

func (gorgonia) query(event uintptr) error {
	c := Code(C.query(C.uintptr_t(event)))
	if c == NotReady {
		return NotReady
	}
	return result("cuEventQuery", c)
}

func (gorgonia) load(ptx string, log []byte) (uintptr, error) {
	image := append([]byte(ptx), 0)
	text, complaints := (*C.char)(unsafe.Pointer(&image[0])), (*C.char)(unsafe.Pointer(unsafe.SliceData(log)))
	var module C.uintptr_t
	err := result("cuModuleLoadDataEx", Code(C.load(&module, text, complaints, C.size_t(len(log)))))
	return uintptr(module), err
}
