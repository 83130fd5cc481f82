//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"fmt"
	"unsafe"
)

// normaliseBlock is the threads of a block: eight warps, of which every GPU holds
// several such blocks on a multiprocessor.
const normaliseBlock = 256

// mostGridY is what CUDA allows in y and z.
const mostGridY = 1<<16 - 1

// normaliseArgs are the arguments of dlb_normalise as cuLaunchKernel wants them.
type normaliseArgs struct {
	out, in                   uint64
	images, area, step, plane uint32
	scale, bias               [3]float32
	pointers                  [12]unsafe.Pointer
}

func newNormaliseArgs() *normaliseArgs {
	a := new(normaliseArgs)
	a.pointers = [...]unsafe.Pointer{
		unsafe.Pointer(&a.out), unsafe.Pointer(&a.in),
		unsafe.Pointer(&a.images), unsafe.Pointer(&a.area), unsafe.Pointer(&a.step), unsafe.Pointer(&a.plane),
		unsafe.Pointer(&a.scale[0]), unsafe.Pointer(&a.scale[1]), unsafe.Pointer(&a.scale[2]),
		unsafe.Pointer(&a.bias[0]), unsafe.Pointer(&a.bias[1]), unsafe.Pointer(&a.bias[2]),
	}
	return a
}

// Normalise queues a kernel with a thread for each pixel.
func (d *driverDevice) Normalise(dst, src *Buffer, n Normalisation, s Stream) error {
	if err := n.check(dst, src); err != nil {
		return d.wrap(err)
	}
	if err := d.ownStream(s); err != nil {
		return err
	}
	d.stepping.Lock()
	defer d.stepping.Unlock()
	k, err := d.loaded()
	if err != nil {
		return d.wrap(err)
	}
	a := k.normaliseArgs
	a.out, a.in = dst.Dev, src.Dev
	step, plane := n.strides()
	a.images, a.area, a.step, a.plane = uint32(n.Images), uint32(n.area()), uint32(step), uint32(plane)
	a.scale, a.bias = n.factors()
	k.pin.Pin(a)
	defer k.pin.Unpin()
	grid := [2]int{(n.area() + normaliseBlock - 1) / normaliseBlock, min(n.Images, mostGridY)}
	if err := d.launch(k.normalise, uintptr(s), grid, normaliseBlock, a.pointers[:]); err != nil {
		return d.wrap(fmt.Errorf("normalise %d images: %w", n.Images, err))
	}
	return nil
}
