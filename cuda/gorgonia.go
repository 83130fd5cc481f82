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
*/
import "C"

import (
	"reflect"
	"unsafe"

	"gorgonia.org/cu"
)

// Backend names how this program calls the CUDA driver.
const Backend = "gorgonia.org/cu"

// backend calls the driver through gorgonia.org/cu, and through C where that has no
// function or loses what it found. Of cu it uses the functions that act on the calling
// thread's context: Ctx and BatchedContext, which carry calls to a thread of their own,
// lose errors.
type backend struct{}

// drivers cannot fail: the program is linked to the driver, and cu has called
// cuInit before main, or ended the process.
func drivers() (libcuda, error) { return libcuda{}, nil }

// wrapped are cu's types around a handle of the driver.
type wrapped interface {
	cu.CUContext | cu.Stream | cu.Event | cu.Module | cu.Function
}

// pointer is the size of each of them: a struct of one pointer, the handle itself, which cu has
// no function to make it from.
const pointer = unsafe.Sizeof(uintptr(0))

var _ = [1]struct{}{}[unsafe.Sizeof(cu.CUContext{})^pointer|unsafe.Sizeof(cu.Stream{})^pointer|
	unsafe.Sizeof(cu.Event{})^pointer|unsafe.Sizeof(cu.Module{})^pointer|unsafe.Sizeof(cu.Function{})^pointer]

func of[T wrapped](h uintptr) T { return *(*T)(unsafe.Pointer(&h)) }

// code is cu's error as a result: it is a CUresult of a type of its own.
func code(err error) Code {
	if err == nil {
		return 0
	}
	if v := reflect.ValueOf(err); v.Kind() == reflect.Int {
		return Code(v.Int())
	}
	return Unknown
}

// to is argument i as a pointer.
func to[T any](a *arguments, i int) *T { return *(**T)(unsafe.Pointer(&a[i])) }

// put stores what a call returns where its first argument points to.
func put[T any](a *arguments) func(v T, err error) Code {
	return func(v T, err error) Code {
		*to[T](a, 0) = v
		return code(err)
	}
}

// do makes the call that the library exports by this name.
func (backend) do(name string, a *arguments) Code {
	switch name {
	case "cuInit":
		return 0
	case "cuDriverGetVersion":
		return Code(C.cuDriverGetVersion(to[C.int](a, 0)))
	case "cuGetErrorName":
		return Code(C.cuGetErrorName(C.CUresult(a[0]), to[*C.char](a, 1)))
	case "cuGetErrorString":
		return Code(C.cuGetErrorString(C.CUresult(a[0]), to[*C.char](a, 1)))
	case "cuDeviceGetCount":
		n, err := cu.NumDevices()
		return put[int32](a)(int32(n), err)
	case "cuDeviceGet":
		d, err := cu.GetDevice(int(a[1]))
		return put[int32](a)(int32(d), err)
	case "cuDeviceGetName":
		s, err := cu.Device(a[2]).Name()
		copy(unsafe.Slice(to[byte](a, 0), a[1]), s)
		return code(err)
	case "cuDeviceTotalMem_v2":
		return put[int64](a)(cu.Device(a[1]).TotalMem())
	case "cuDeviceGetPCIBusId":
		return Code(C.cuDeviceGetPCIBusId(to[C.char](a, 0), C.int(a[1]), C.CUdevice(a[2])))
	case "cuDevicePrimaryCtxRetain":
		return put[cu.CUContext](a)(cu.Device(a[1]).RetainPrimaryCtx())
	case "cuDevicePrimaryCtxRelease_v2":
		return code(cu.Device(a[0]).ReleasePrimaryCtx())
	case "cuCtxSetCurrent":
		return code(cu.SetCurrentContext(of[cu.CUContext](a[0])))
	case "cuMemGetInfo_v2":
		free, _, err := cu.MemInfo()
		return put[int64](a)(free, err)
	case "cuMemAlloc_v2":
		return put[cu.DevicePtr](a)(cu.MemAlloc(int64(a[1])))
	case "cuMemFree_v2":
		return code(cu.MemFree(cu.DevicePtr(a[0])))
	case "cuMemHostAlloc":
		return Code(C.hostAlloc(to[unsafe.Pointer](a, 0), C.size_t(a[1])))
	case "cuMemFreeHost":
		return code(cu.MemFreeHost(unsafe.Pointer(to[byte](a, 0))))
	case "cuMemHostRegister_v2":
		return Code(C.hostRegister(unsafe.Pointer(to[byte](a, 0)), C.size_t(a[1])))
	case "cuMemHostUnregister":
		return Code(C.cuMemHostUnregister(unsafe.Pointer(to[byte](a, 0))))
	case "cuMemcpyHtoDAsync_v2":
		src := unsafe.Pointer(to[byte](a, 1))
		return code(cu.MemcpyHtoDAsync(cu.DevicePtr(a[0]), src, int64(a[2]), of[cu.Stream](a[3])))
	case "cuMemcpyDtoHAsync_v2":
		dst := unsafe.Pointer(to[byte](a, 0))
		return code(cu.MemcpyDtoHAsync(dst, cu.DevicePtr(a[1]), int64(a[2]), of[cu.Stream](a[3])))
	case "cuStreamCreate":
		return put[cu.Stream](a)(cu.MakeStream(cu.StreamFlags(a[1])))
	case "cuStreamDestroy_v2":
		s := of[cu.Stream](a[0])
		return code(s.Destroy())
	case "cuStreamSynchronize":
		return code(of[cu.Stream](a[0]).Synchronize())
	case "cuStreamWaitEvent":
		return code(of[cu.Stream](a[0]).Wait(of[cu.Event](a[1]), 0))
	case "cuEventCreate":
		return put[cu.Event](a)(cu.MakeEvent(cu.EventFlags(a[1])))
	case "cuEventDestroy_v2":
		e := of[cu.Event](a[0])
		return code(cu.DestroyEvent(&e))
	case "cuEventRecord":
		return code(of[cu.Event](a[0]).Record(of[cu.Stream](a[1])))
	case "cuEventQuery":
		return Code(C.query(C.uintptr_t(a[0])))
	case "cuEventSynchronize":
		return code(of[cu.Event](a[0]).Synchronize())
	case "cuEventElapsedTime":
		ms, err := of[cu.Event](a[1]).Elapsed(of[cu.Event](a[2]))
		return put[float32](a)(float32(ms), err)
	case "cuModuleLoadDataEx":
		return Code(C.cuModuleLoadDataEx(to[C.CUmodule](a, 0), unsafe.Pointer(to[byte](a, 1)), C.uint(a[2]),
			to[C.CUjit_option](a, 3), to[unsafe.Pointer](a, 4)))
	case "cuModuleGetFunction":
		return put[cu.Function](a)(of[cu.Module](a[1]).Function(C.GoString(to[C.char](a, 2))))
	case "cuLaunchKernel":
		args := unsafe.Slice(to[unsafe.Pointer](a, 9), mostArgs)
		return code(of[cu.Function](a[0]).Launch(int(a[1]), int(a[2]), int(a[3]), int(a[4]), int(a[5]), int(a[6]),
			int(a[7]), of[cu.Stream](a[8]), args))
	}
	return NotSupported
}
