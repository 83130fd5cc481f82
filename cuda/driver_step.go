//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"bytes"
	_ "embed"
	"fmt"
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

// kernels are the loaded kernels of a device.
type kernels struct {
	module, spin, normalise uintptr
	args                    *spinArgs
	normaliseArgs           *normaliseArgs
	pin                     runtime.Pinner
}

// spinArgs are the arguments of dlb_spin as cuLaunchKernel wants them.
type spinArgs struct {
	ns, cycles uint64
	pointers   [2]unsafe.Pointer
}

// Step queues a kernel that spins for l, or as many as it takes. One shorter than
// 100 us lasts 100 us; none is queued for 0.
func (d *driverDevice) Step(l time.Duration, s Stream) error {
	if l <= 0 {
		return nil
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
	n := (l + longestSpin - 1) / longestSpin
	k.args.ns = uint64(max(l/n, shortestSpin))
	k.args.cycles = cyclesPerNs * k.args.ns
	k.pin.Pin(k.args)
	defer k.pin.Unpin()
	for range n {
		if err := d.launch(k.spin, uintptr(s), [2]int{1, 1}, 1, k.args.pointers[:]); err != nil {
			return d.wrap(fmt.Errorf("step of %v: %w", l, err))
		}
	}
	return nil
}

// loaded returns the kernels, compiled on first use. It wants d.stepping held.
func (d *driverDevice) loaded() (*kernels, error) {
	if d.kernels != nil {
		return d.kernels, nil
	}
	log := make([]byte, 4096)
	m, err := d.load(kernelsPTX, log)
	if err != nil {
		if n := bytes.IndexByte(log, 0); n >= 0 {
			log = log[:n]
		}
		return nil, fmt.Errorf("load kernels: %w: %s", err, bytes.ReplaceAll(bytes.TrimSpace(log), []byte("\n"), []byte("; ")))
	}
	k := &kernels{module: m, args: new(spinArgs), normaliseArgs: newNormaliseArgs()}
	for _, f := range []struct {
		name string
		at   *uintptr
	}{{"dlb_spin", &k.spin}, {"dlb_normalise", &k.normalise}} {
		if *f.at, err = d.function(m, f.name); err != nil {
			d.unload(m)
			return nil, fmt.Errorf("load kernel %s: %w", f.name, err)
		}
	}
	k.args.pointers = [...]unsafe.Pointer{unsafe.Pointer(&k.args.ns), unsafe.Pointer(&k.args.cycles)}
	d.kernels = k
	return k, nil
}
