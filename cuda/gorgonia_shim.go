//go:build gorgonia && cgo && linux && (amd64 || arm64) && !nocuda

package cuda

// What gorgonia.org/cu does not do: page-locked memory, PCI addresses and the
// driver's own words have no function there; Version keeps no error; LoadDataEx
// hands the driver the address of a Go buffer as a number, which keeps it neither
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

import "unsafe"

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
	var module C.uintptr_t
	err := result("cuModuleLoadDataEx", Code(C.load(&module, (*C.char)(unsafe.Pointer(&image[0])), (*C.char)(unsafe.Pointer(unsafe.SliceData(log))), C.size_t(len(log)))))
	return uintptr(module), err
}
