//go:build linux && (amd64 || arm64) && !nocuda && !gorgonia

package cuda

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Backend names how this program calls the CUDA driver: purego, gorgonia.org/cu, or
// none where it was built without.
const Backend = "purego"

// libraryVariable names the driver library to open instead of libcuda.so.1, for
// drivers at unusual places and for tests.
const libraryVariable = "DLBENCH_LIBCUDA"

// symbol is a function of the driver library.
type symbol int

const (
	cuInit symbol = iota
	cuDriverGetVersion
	cuGetErrorName
	cuGetErrorString
	cuDeviceGetCount
	cuDeviceGet
	cuDeviceGetName
	cuDeviceTotalMem
	cuDeviceGetPCIBusID
	cuDeviceGetAttribute
	cuDevicePrimaryCtxRetain
	cuDevicePrimaryCtxRelease
	cuCtxGetCurrent
	cuCtxSetCurrent
	cuMemGetInfo
	cuMemAlloc
	cuMemFree
	cuMemHostAlloc
	cuMemFreeHost
	cuMemHostRegister
	cuMemHostUnregister
	cuMemcpyHtoDAsync
	cuMemcpyDtoHAsync
	cuStreamCreate
	cuStreamDestroy
	cuStreamSynchronize
	cuStreamWaitEvent
	cuEventCreate
	cuEventDestroy
	cuEventRecord
	cuEventQuery
	cuEventSynchronize
	cuEventElapsedTime
	cuModuleLoadDataEx
	cuModuleUnload
	cuModuleGetFunction
	cuLaunchKernel
	numSymbols
)

// symbolNames are what cuda.h maps the plain names to; a plain name without its
// suffix is an older function with other types.
var symbolNames = [numSymbols]string{
	"cuInit", "cuDriverGetVersion", "cuGetErrorName", "cuGetErrorString",
	"cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName", "cuDeviceTotalMem_v2", "cuDeviceGetPCIBusId", "cuDeviceGetAttribute",
	"cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRelease_v2", "cuCtxGetCurrent", "cuCtxSetCurrent",
	"cuMemGetInfo_v2", "cuMemAlloc_v2", "cuMemFree_v2", "cuMemHostAlloc", "cuMemFreeHost", "cuMemHostRegister_v2", "cuMemHostUnregister",
	"cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2",
	"cuStreamCreate", "cuStreamDestroy_v2", "cuStreamSynchronize", "cuStreamWaitEvent",
	"cuEventCreate", "cuEventDestroy_v2", "cuEventRecord", "cuEventQuery", "cuEventSynchronize", "cuEventElapsedTime",
	"cuModuleLoadDataEx", "cuModuleUnload", "cuModuleGetFunction", "cuLaunchKernel",
}

// olderNames are of the same type: cuDevicePrimaryCtxRelease_v2 came with CUDA 11.
var olderNames = map[symbol]string{cuDevicePrimaryCtxRelease: "cuDevicePrimaryCtxRelease"}

// library calls the driver library, which it opens at run time: the program
// builds without a toolkit and runs without a driver.
type library struct{ addr [numSymbols]uintptr }

// drivers opens the driver library. Its errors wrap ErrUnavailable.
func drivers() (calls, error) {
	path := os.Getenv(libraryVariable)
	if path == "" {
		path = "libcuda.so.1"
	}
	l, err := openLibrary(path)
	if err != nil {
		return nil, err
	}
	return l, nil
}

func openLibrary(path string) (*library, error) {
	other, err := checkLibrary(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	runtime.LockOSThread() // dlerror, which purego asks in a call of its own, is the thread's
	defer runtime.UnlockOSThread()
	h, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		if strings.Contains(err.Error(), path+": cannot open") && strings.Contains(err.Error(), "No such file") {
			if other != nil {
				return nil, fmt.Errorf("%w: no NVIDIA driver: %w", ErrUnavailable, other)
			}
			return nil, fmt.Errorf("%w: no NVIDIA driver: %s not found", ErrUnavailable, path)
		}
		return nil, fmt.Errorf("%w: the NVIDIA driver does not load: %w", ErrUnavailable, err)
	}
	l := new(library)
	for i, name := range symbolNames {
		if l.addr[i], err = purego.Dlsym(h, name); err == nil {
			continue
		}
		if older := olderNames[symbol(i)]; older != "" {
			l.addr[i], err = purego.Dlsym(h, older)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %s lacks %s: the driver is too old, or this is not the driver's library", ErrUnavailable, path, name)
		}
	}
	return l, nil
}

// call makes one driver call. What pointers in args point to stays where it is
// until the call returns. It allocates args: purego keeps them from the stack.
//
//go:uintptrescapes
func (l *library) call(f symbol, args ...uintptr) error {
	r, _, _ := purego.SyscallN(l.addr[f], args...)
	if int32(r) == 0 {
		return nil
	}
	return l.fail(f, Code(int32(r)))
}

// arguments is room for those of cuLaunchKernel, the longest. Functions that take
// fewer do not see the rest (System V and AAPCS64 calling conventions).
type arguments [11]uintptr

var argumentPool = sync.Pool{New: func() any { return new(arguments) }}

// callFast is call for what happens in each batch: it allocates nothing. args
// point to no Go memory but what its owner has pinned.
func (l *library) callFast(f symbol, args arguments) error {
	a := argumentPool.Get().(*arguments)
	*a = args
	r, _, _ := purego.SyscallN(l.addr[f], a[:]...)
	argumentPool.Put(a)
	if int32(r) == 0 {
		return nil
	}
	return l.fail(f, Code(int32(r)))
}

// errNotReady is no failure, and polling sees it often.
var errNotReady error = NotReady

func (l *library) fail(f symbol, c Code) error {
	if f == cuEventQuery && c == NotReady {
		return errNotReady
	}
	return callError(symbolNames[f], c, l.words(cuGetErrorName, c), l.words(cuGetErrorString, c))
}

func (l *library) words(f symbol, c Code) string {
	s := new(*byte)
	if r, _, _ := purego.SyscallN(l.addr[f], uintptr(c), uintptr(unsafe.Pointer(s))); int32(r) != 0 || *s == nil {
		return ""
	}
	return cString(*s)
}

func cString(p *byte) string {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}
