//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"bytes"
	_ "embed"
	"fmt"
	"math"
	"runtime"
	"time"
	"unsafe"
)

//go:embed kernels.ptx
var kernelsPTX string

// The global timer of some GPUs ticks once a microsecond or less often, so that a
// shorter spin says little; GPUs that drive a display end kernels that run for
// seconds, so that a longer one is cut into several.
const (
	shortestSpin = 100 * time.Microsecond
	longestSpin  = time.Second
)

// cyclesPerNs is above the clock of any GPU, in GHz: a spin whose timer stands
// still ends late, and no other ends early.
const cyclesPerNs = 4

// normaliseBlock is the threads of a block: eight warps, of which every GPU holds
// several such blocks on a multiprocessor.
const normaliseBlock = 256

// mostGridY is what CUDA allows in y and z.
const mostGridY = 1<<16 - 1

// mostArgs is how many arguments a kernel has at most.
const mostArgs = 10

// kernels are the loaded kernels of a device.
type kernels struct {
	functions map[string]uintptr

	// The arguments of a launch, each in the low bytes of its own eight, and pointers
	// to them, as cuLaunchKernel wants them.
	args     [mostArgs]uint64
	pointers [mostArgs]unsafe.Pointer
	pin      runtime.Pinner
}

// Step queues a kernel that spins for l, or as many as it takes. One shorter than
// 100 us lasts 100 us; none is queued for 0.
func (d *driverDevice) Step(l time.Duration, s Stream) error {
	n := (l + longestSpin - 1) / longestSpin
	for range max(n, 0) {
		ns := uint64(max(l/n, shortestSpin))
		if err := d.launchKernel("dlb_spin", s, [2]int{1, 1}, 1, ns, cyclesPerNs*ns); err != nil {
			return d.wrap(fmt.Errorf("step of %v: %w", l, err))
		}
	}
	return nil
}

// Normalise queues a kernel with a thread for each pixel.
func (d *driverDevice) Normalise(dst, src *Buffer, n Normalisation, s Stream) error {
	if err := n.check(dst, src); err != nil {
		return d.wrap(err)
	}
	scale, bias := n.factors()
	args := [mostArgs]uint64{dst.Dev, src.Dev, uint64(n.Images), uint64(n.area())}
	for c := range 3 {
		args[4+c], args[7+c] = uint64(math.Float32bits(scale[c])), uint64(math.Float32bits(bias[c]))
	}
	grid := [2]int{(n.area() + normaliseBlock - 1) / normaliseBlock, min(n.Images, mostGridY)}
	if err := d.launchKernel("dlb_normalise", s, grid, normaliseBlock, args[:]...); err != nil {
		return d.wrap(fmt.Errorf("normalise %d images: %w", n.Images, err))
	}
	return nil
}

// Blocks of a kernel that works, of workThreads each: more than any GPU holds at once.
const (
	workBlocks  = 4096
	workThreads = WorkBytes / 4
)

// The map x*x + workShift wanders about from -1.9 to 1.9 for good, where workScale has the
// threads of a block begin, so that bits do not settle.
const (
	workShift = -1.9
	workScale = 3.8 / workThreads
)

// Work queues a kernel of so many rounds of multiply-adds on all multiprocessors.
func (d *driverDevice) Work(rounds int, out *Buffer, s Stream) error {
	if out.Kind != OnDevice || out.Size < WorkBytes || rounds < 0 || rounds > math.MaxUint32 {
		return d.wrap(fmt.Errorf("work of %d rounds with %d bytes of %s memory, want %d on the device: %w",
			rounds, out.Size, out.Kind, WorkBytes, InvalidValue))
	}
	err := d.launchKernel("dlb_work", s, [2]int{workBlocks, 1}, workThreads, out.Dev, uint64(rounds),
		uint64(math.Float32bits(workScale)), uint64(math.Float32bits(workShift)))
	return d.wrap(err)
}

// launchKernel queues a kernel and allocates nothing once the kernels are compiled.
func (d *driverDevice) launchKernel(name string, s Stream, grid [2]int, block int, args ...uint64) error {
	d.launching.Lock()
	defer d.launching.Unlock()
	if d.kernels == nil {
		k, err := d.compile()
		if err != nil {
			return err
		}
		d.kernels = k
	}
	k := d.kernels
	copy(k.args[:], args)
	k.pin.Pin(k)
	defer k.pin.Unpin()
	return d.callFast("cuLaunchKernel", arguments{k.functions[name], uintptr(grid[0]), uintptr(grid[1]), 1,
		uintptr(block), 1, 1, 0, uintptr(s), uintptr(unsafe.Pointer(&k.pointers)), 0})
}

func (d *driverDevice) compile() (*kernels, error) {
	log := make([]byte, 4096)
	m, err := d.load(kernelsPTX, log)
	if err != nil {
		log, _, _ = bytes.Cut(log, []byte{0})
		complaints := bytes.ReplaceAll(bytes.TrimSpace(log), []byte("\n"), []byte("; "))
		return nil, fmt.Errorf("load kernels: %w: %s", err, complaints)
	}
	k := &kernels{functions: map[string]uintptr{}}
	for _, name := range []string{"dlb_spin", "dlb_normalise", "dlb_work"} {
		var f uintptr
		text := append([]byte(name), 0)
		err := d.call("cuModuleGetFunction", uintptr(unsafe.Pointer(&f)), m, uintptr(unsafe.Pointer(&text[0])))
		if err != nil {
			return nil, fmt.Errorf("load kernel %s: %w", name, err)
		}
		k.functions[name] = f
	}
	for i := range k.args {
		k.pointers[i] = unsafe.Pointer(&k.args[i])
	}
	return k, nil
}
