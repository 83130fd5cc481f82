package bench

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"dlbench/bench/host"
	"dlbench/bench/pace"
	"dlbench/bench/theory"
	"dlbench/cuda"
	"dlbench/loader/decode"
	"dlbench/results"
)

// Env is what a run has to work with: what it was asked for, and what was opened for that.
type Env struct {
	Options
	Devices []cuda.Device
	Named   bool  // the user named devices, not any that there are
	Missing error // why simulated links stand in for a GPU; nil when none does
	Host    results.Host
	Alone   bool  // one suite runs: nothing is measured for the verdict's checks alone
	Data    *Data // of suites that read; nil without any
}

// Loader is a loader of the user's own, by the name that dlbench knows it by, or with the
// command that starts it.
type Loader struct{ Name, Command string }

// NeededStep is how long the user's GPU works on a batch, 0 where that is not known.
func (e Env) NeededStep() time.Duration {
	if e.Need <= 0 {
		return 0
	}
	return time.Duration(theory.StepFor(e.Need, e.Batch.Images) * 1e9).Round(time.Microsecond)
}

// Device is the device of that name, nil where there is none.
func (e Env) Device(spec string) cuda.Device {
	for _, d := range e.Devices {
		if d.Info().Spec == spec {
			return d
		}
	}
	return nil
}

// Unless is what get returns, unless there is an error already.
func Unless[T any](err *error, get func() (T, error)) (t T) {
	if *err == nil {
		t, *err = get()
	}
	return t
}

// closeDevices closes the devices, but those that are stuck: their memory may be
// in use, and closing them could wait for ever.
func closeDevices(devices []cuda.Device, lost map[use]error) {
	t := newThread()
	defer close(t)
	for _, d := range devices {
		if anyStuck(lost, d.Info().Spec) {
			continue
		}
		err := t.do(context.Background(), closeLimit, func(context.Context) error { return d.Close() })
		if errors.Is(err, ErrStuck) {
			return // the rest goes with the process
		}
	}
}

// OpenEnv reads the machine, opens the devices, and opens and checks the data, as far as
// the suites of o need them. What it opened is in Env also when it fails.
func OpenEnv(ctx context.Context, o Options) (env Env, err error) {
	if err := o.Batch.Check(); err != nil {
		return env, &UsageError{Flag: "--batch, --shape", Value: o.Batch.String(), Want: err.Error()}
	}
	o.Root = cmp.Or(o.Root, "/")
	if o.Logs == nil {
		o.Logs = os.TempDir
	}
	env = Env{Options: o, Host: host.Read(o.Root), Alone: len(o.Suites) == 1}
	var devices, data, decode bool
	for _, s := range o.Suites {
		devices, data, decode = devices || s.Devices, data || s.Data, decode || s.Decode
	}
	if devices {
		specs := o.Devices
		if len(specs) == 0 {
			specs = anyDevice
		}
		env.Named = slices.ContainsFunc(specs, theory.Device.Named)
		if env.Devices, env.Missing, err = cuda.Open(specs); err != nil {
			return env, err
		}
		for _, d := range env.Devices { // a context knows how much memory is free; who has none fails as a case
			if unbind, err := d.Bind(); err == nil {
				unbind()
			}
		}
		join(&env.Host, env.Devices)
	}
	if data {
		if env.Data, err = OpenData(ctx, o); err != nil {
			return env, err
		}
		env.Host.Disks = []results.Disk{env.Data.Disk}
		env.Data.Memory = pictureMemory(env.Host.Memory, PicturesBeside)
		if decode {
			err = env.Data.Check(ctx, o)
		}
	}
	return env, err
}

// anyDevice is what is opened unless the user named devices.
var anyDevice = []theory.Device{{Text: "auto", Auto: true}}

// join adds to the host's GPUs what CUDA calls them.
func join(h *results.Host, devices []cuda.Device) {
	for _, d := range devices {
		info := d.Info()
		if info.Assumed {
			continue
		}
		g := host.Find(h.GPUs, info.PCI)
		if g == nil { // a container without /sys shows no PCI device
			h.GPUs = append(h.GPUs, results.GPU{PCI: info.PCI, Link: results.Link{State: results.LinkUnknown}})
			g = &h.GPUs[len(h.GPUs)-1]
		}
		g.Index, g.Name, g.Memory = new(info.Index), info.Name, info.Memory
	}
}

// Machine describes this machine with its CUDA devices. missing says why there
// are none.
func Machine(root string) (h results.Host, missing error, err error) {
	h = host.Read(root)
	if dir, err := os.Getwd(); err == nil {
		h.Disks = []results.Disk{host.DiskOf(root, dir)}
	}
	devices, missing, err := cuda.Open(anyDevice)
	if err != nil {
		return h, nil, err
	}
	join(&h, devices)
	for _, d := range devices {
		d.Close()
	}
	return h, missing, nil
}

// DiskClock is the virtual clock of a simulated disk, idle; nil for none.
func DiskClock(d theory.DiskSpec) *pace.Disk {
	if !d.Emulated() {
		return nil
	}
	return &pace.Disk{Rate: d.Rate, Latency: d.Latency, Seek: d.Seek}
}

// Randomize fills b with bytes that follow from seed.
func Randomize(b []byte, seed uint64) {
	r := rand.NewPCG(seed, 0x9e3779b97f4a7c15)
	for ; len(b) >= 8; b = b[8:] {
		binary.LittleEndian.PutUint64(b, r.Uint64())
	}
	for i := range b {
		b[i] = byte(r.Uint64())
	}
}

// Fits says whether so many bytes are at most half of the memory that is available.
func (e Env) Fits(bytes int64) bool {
	have := e.Host.Memory.Available
	return have == 0 || bytes <= have/2
}

// TooLarge refuses the value of a flag for which what takes bytes that do not fit; room is
// a value that does.
func (e Env) TooLarge(flag, value, what string, bytes int64, room string) error {
	return &UsageError{flag, value, fmt.Sprintf("%s take %s, half of the %s that are available in %s has room for %s",
		what, results.FormatBytes(bytes), results.FormatBytes(e.Host.Memory.Available), e.Host.Memory.Where(), room)}
}

// Shares of the memory that is available: of what the garbage collector keeps Go's heap
// within, and of that for pictures where they are the only large thing, and beside batches.
const (
	heapShare      = 0.8
	leastHeap      = 64 << 20
	PicturesAlone  = 0.85
	PicturesBeside = 0.4
)

// MemoryFor is the bound of what pictures take on this machine.
func MemoryFor(share float64) *decode.Memory { return pictureMemory(host.ReadMemory("/"), share) }

// pictureMemory is the bound of what all threads take for pictures: a share of what memory
// is available, nil where that is not known. The garbage collector, which cases turn off,
// keeps the heap within it from now on, unless the user set GOMEMLIMIT.
func pictureMemory(m results.Memory, share float64) *decode.Memory {
	if m.Available <= 0 {
		return nil
	}
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(max(leastHeap, int64(heapShare*float64(m.Available))))
	}
	return decode.NewMemory(max(1, int64(share*float64(m.Available))), m.Where())
}

// WarmBatches is how many batches of so many bytes stay in the page cache while they are
// read again and again.
func (e Env) WarmBatches(bytes int64) int {
	room := int64(mostWarm)
	if have := e.Host.Memory.Available; have > 0 {
		room = min(room, have/warmShare)
	}
	return max(1, min(MostVisited, int(room/max(1, bytes))))
}
