//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"fmt"
	"strings"
	"sync"
)

// oldest is the oldest driver that is of use: PTX 5.0 came with CUDA 8.
const oldest = 8000

// Attributes that make up a PCI address (CUdevice_attribute).
const (
	attrPCIBus    = 33
	attrPCIDevice = 34
	attrPCIDomain = 50
)

// driver is a CUDA driver that has been initialised and has devices.
type driver struct {
	calls
	text string // its version, "12.4"
	n    int    // devices
}

// theDriver opens the driver once in this process: a library that was loaded
// stays, and cuInit gives the same answer again.
var theDriver = sync.OnceValues(openDriver)

// cudaDevices lists all devices, none of them in use yet. Its errors wrap
// ErrUnavailable.
func cudaDevices() ([]Device, error) {
	d, err := theDriver()
	if err != nil {
		return nil, err
	}
	return d.devices()
}

// openDriver finds and initialises the driver. Its errors wrap ErrUnavailable.
func openDriver() (*driver, error) {
	c, err := drivers()
	if err != nil {
		return nil, err
	}
	return newDriver(c)
}

func newDriver(c calls) (*driver, error) {
	if err := c.initialize(); err != nil {
		return nil, unavailable(err)
	}
	v, err := c.version()
	if err != nil {
		return nil, unavailable(err)
	}
	d := &driver{calls: c, text: fmt.Sprintf("%d.%d", v/1000, v%1000/10)}
	if v < oldest {
		return nil, fmt.Errorf("%w: the driver is too old: it supports CUDA %s, and %d.0 is wanted", ErrUnavailable, d.text, oldest/1000)
	}
	if d.n, err = c.count(); err != nil {
		return nil, unavailable(err)
	}
	if d.n == 0 {
		return nil, fmt.Errorf("%w: the driver finds no GPU%s", ErrUnavailable, hidden(cardsDir, 0))
	}
	return d, nil
}

// devices lists the devices. One that does not open is in the list all the same
// and says why when it is used; only when none opens is that an error.
func (d *driver) devices() ([]Device, error) {
	list := make([]Device, d.n)
	var first error
	good := 0
	for i := range list {
		dev, err := d.open(i)
		if err == nil {
			list[i] = dev
			good++
			continue
		}
		if first == nil {
			first = unavailable(fmt.Errorf("cuda:%d: %w", i, err))
		}
		err = unavailable(err)
		list[i] = broken{info: Info{Spec: fmt.Sprintf("cuda:%d", i), Name: "does not open", Index: i, Driver: d.text, Backend: Backend}, err: err}
	}
	if good == 0 {
		return nil, first
	}
	return list, nil
}

// broken is a device that did not open.
type broken struct {
	Device // none: nothing but what follows is called before Bind succeeds
	info   Info
	err    error
}

func (b broken) Info() Info            { return b.info }
func (b broken) Bind() (func(), error) { return nil, b.err }
func (b broken) Close() error          { return nil }

func (d *driver) open(ordinal int) (*driverDevice, error) {
	dev, err := d.device(ordinal)
	if err != nil {
		return nil, err
	}
	name, err := d.name(dev)
	if err != nil {
		return nil, err
	}
	mem, err := d.memory(dev)
	if err != nil {
		return nil, err
	}
	return &driverDevice{
		calls:   d.calls,
		dev:     dev,
		info:    Info{Spec: fmt.Sprintf("cuda:%d", ordinal), Name: name, Index: ordinal, PCI: d.pci(dev), Memory: mem, Driver: d.text, Backend: Backend},
		buffers: map[*Buffer]struct{}{},
		streams: map[Stream]struct{}{},
		events:  map[Event]struct{}{},
	}, nil
}

// pci is the address under which sysfs knows dev, "" if the driver does not say.
func (d *driver) pci(dev int) string {
	if id, err := d.busID(dev); err == nil && id != "" {
		return strings.ToLower(id)
	}
	var part [3]int
	for i, attr := range []int{attrPCIDomain, attrPCIBus, attrPCIDevice} {
		var err error
		if part[i], err = d.attribute(attr, dev); err != nil {
			return ""
		}
	}
	return fmt.Sprintf("%04x:%02x:%02x.0", part[0], part[1], part[2])
}
