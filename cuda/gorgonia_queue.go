//go:build gorgonia && cgo && linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"unsafe"

	"gorgonia.org/cu"
)

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
