package bench

import (
	"context"
	"errors"
	"os"

	"dlbench/bench/host"
	"dlbench/bench/pace"
	"dlbench/bench/theory"
	"dlbench/cuda"
	"dlbench/results"
)

// closeDevices closes the devices, but those that stand still: what they hold may be
// in use, and closing them could wait for ever.
func closeDevices(devices []cuda.Device, lost map[string]error) {
	h := newThread()
	defer h.close()
	for _, d := range devices {
		if errors.Is(lost[d.Info().Spec], ErrStuck) {
			continue
		}
		if err := h.do(context.Background(), closeLimit, 0, func(context.Context) error { return d.Close() }); errors.Is(err, ErrStuck) {
			return // the rest goes with the process
		}
	}
}

// OpenEnv reads the machine and opens the devices, if they are wanted.
func OpenEnv(o Options, devices bool) (Env, error) {
	root := o.Root
	if root == "" {
		root = "/"
	}
	if err := o.Batch.Check(); err != nil {
		return Env{}, &UsageError{Flag: "--batch, --shape", Value: o.Batch.String(), Want: err.Error()}
	}
	env := Env{Root: root, Disk: o.Disk, Step: o.Step.orDefault(), Batch: o.Batch, Quick: o.Quick, Axes: o.Axes, Seed: o.Seed, Host: host.Read(root)}
	if !devices {
		return env, nil
	}
	specs := o.Devices
	if len(specs) == 0 {
		specs = []theory.Device{{Text: "auto", Auto: true}}
	}
	var err error
	if env.Devices, env.Missing, err = cuda.Open(specs); err != nil {
		return Env{}, err
	}
	for _, d := range env.Devices { // a context knows how much memory is free; who has none fails as a case
		if unbind, err := d.Bind(); err == nil {
			unbind()
		}
	}
	join(&env.Host, env.Devices)
	return env, nil
}

// join tells the host's GPUs what CUDA calls them.
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
		index := info.Index
		g.Index, g.Name, g.Memory = &index, info.Name, info.Memory
	}
}

// Machine describes this machine with its CUDA devices. missing says why there
// are none.
func Machine(root string) (h results.Host, missing error, err error) {
	h = host.Read(root)
	if dir, err := os.Getwd(); err == nil {
		h.Disks = []results.Disk{host.DiskOf(root, dir)}
	}
	devices, missing, err := cuda.Open([]theory.Device{{Text: "auto", Auto: true}})
	if err != nil {
		return h, nil, err
	}
	join(&h, devices)
	for _, d := range devices {
		d.Close()
	}
	return h, missing, nil
}

// DiskClock is the virtual clock of an emulated disk, idle; nil for none.
func DiskClock(d theory.DiskSpec) *pace.Disk {
	if !d.Emulated() {
		return nil
	}
	return &pace.Disk{Rate: d.Rate, Latency: d.Latency, Seek: d.Seek}
}
