//go:build gorgonia && cgo && linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"reflect"
	"unsafe"

	"gorgonia.org/cu"
)

// Backend names how this program calls the CUDA driver.
const Backend = "gorgonia.org/cu"

// gorgonia calls the driver through gorgonia.org/cu, and through gorgonia_shim.go
// where that has no function or loses what it found. Of cu it uses the functions
// that act on the calling thread's context: Ctx and BatchedContext, which carry
// calls to a thread of their own, lose errors.
type gorgonia struct{}

// drivers cannot fail: the program is linked to the driver, and cu has called
// cuInit before main, or ended the process.
func drivers() (calls, error) { return gorgonia{}, nil }

func (gorgonia) initialize() error { return nil }

// wrapped are cu's types around a handle of the driver.
type wrapped interface {
	cu.CUContext | cu.Stream | cu.Event | cu.Module | cu.Function
}

// Each is a struct of one pointer, and has no function to make it of a handle.
const pointer = unsafe.Sizeof(uintptr(0))

var _ = [1]struct{}{}[unsafe.Sizeof(cu.CUContext{})^pointer|unsafe.Sizeof(cu.Stream{})^pointer|unsafe.Sizeof(cu.Event{})^pointer|
	unsafe.Sizeof(cu.Module{})^pointer|unsafe.Sizeof(cu.Function{})^pointer]

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

func (gorgonia) attribute(attr, dev int) (int, error) {
	v, err := cu.Device(dev).Attribute(cu.DeviceAttribute(attr))
	return v, fail("cuDeviceGetAttribute", err)
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

func (gorgonia) unload(module uintptr) error {
	return fail("cuModuleUnload", of[cu.Module](module).Unload())
}

func (gorgonia) function(module uintptr, name string) (uintptr, error) {
	f, err := of[cu.Module](module).Function(name)
	return handle(f), fail("cuModuleGetFunction", err)
}

func (gorgonia) launch(f, stream uintptr, grid [2]int, block int, args []unsafe.Pointer) error {
	return fail("cuLaunchKernel", of[cu.Function](f).Launch(grid[0], grid[1], 1, block, 1, 1, 0, of[cu.Stream](stream), args))
}
