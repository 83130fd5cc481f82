//go:build linux && (amd64 || arm64) && !nocuda && !gorgonia

package cuda

import (
	"cmp"
	"fmt"
	"os"

	"github.com/ebitengine/purego"

	"dlbench/bench/sharedlib"
)

// Backend names how this program calls the CUDA driver: purego, gorgonia.org/cu, or
// none where it was built without.
const Backend = "purego"

// libraryVariable names the driver library to open instead of libcuda.so.1, for
// drivers at unusual places and for tests.
const libraryVariable = "DLBENCH_LIBCUDA"

// driverFunctions are what cuda.h maps the plain names to; a plain name without its
// suffix is an older function with other types.
var driverFunctions = []string{
	"cuInit", "cuDriverGetVersion", "cuGetErrorName", "cuGetErrorString",
	"cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName", "cuDeviceTotalMem_v2",
	"cuDeviceGetPCIBusId",
	"cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRelease_v2", "cuCtxSetCurrent",
	"cuMemGetInfo_v2", "cuMemAlloc_v2", "cuMemFree_v2", "cuMemHostAlloc", "cuMemFreeHost",
	"cuMemHostRegister_v2", "cuMemHostUnregister",
	"cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2",
	"cuStreamCreate", "cuStreamDestroy_v2", "cuStreamSynchronize", "cuStreamWaitEvent",
	"cuEventCreate", "cuEventDestroy_v2", "cuEventRecord", "cuEventQuery", "cuEventSynchronize", "cuEventElapsedTime",
	"cuModuleLoadDataEx", "cuModuleGetFunction", "cuLaunchKernel",
}

// olderRelease is what drivers before CUDA 11 have instead of its _v2, of the same type.
const olderRelease = "cuDevicePrimaryCtxRelease"

// backend is the driver's library, whose functions it calls.
type backend struct{ *sharedlib.Library }

// do makes the call of a function that was found.
func (b backend) do(name string, a *arguments) Code {
	r, _, _ := purego.SyscallN(b.Functions[name], a[:]...)
	return Code(int32(r))
}

// drivers opens the driver's library. Its errors wrap ErrUnavailable.
func drivers() (libcuda, error) {
	l, err := sharedlib.Open(cmp.Or(os.Getenv(libraryVariable), "libcuda.so.1"))
	if err != nil {
		return libcuda{}, fmt.Errorf("%w: no NVIDIA driver: %w", ErrUnavailable, err)
	}
	if l.Find(olderRelease) == nil {
		l.Functions[olderRelease+"_v2"] = l.Functions[olderRelease]
	}
	for _, name := range driverFunctions {
		if err := l.Find(name); err != nil && l.Functions[name] == 0 {
			return libcuda{}, fmt.Errorf("%w: %w: the driver is too old, or this is not its library", ErrUnavailable, err)
		}
	}
	return libcuda{backend{l}}, nil
}
