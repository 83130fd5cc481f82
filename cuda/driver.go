//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// oldest is the oldest driver that is of use: PTX 5.0 came with CUDA 8.
const oldest = 8000

// theDriver is opened once in this process: a library that was loaded stays.
var theDriver = sync.OnceValues(drivers)

// cudaDevices lists all devices, none of them in use yet. Its errors wrap
// ErrUnavailable.
func cudaDevices() ([]Device, error) {
	c, err := theDriver()
	if err != nil {
		return nil, err
	}
	return devicesOf(c)
}

// devicesOf lists the devices of a driver. One that does not open is in the list all
// the same and says why when it is used; only when none opens is that an error.
func devicesOf(c libcuda) ([]Device, error) {
	version, n, err := start(c)
	if err != nil {
		return nil, err
	}
	var list []Device
	var errs []error
	for i := range n {
		info := Info{Spec: fmt.Sprintf("cuda:%d", i), Index: i, Driver: version, Backend: Backend}
		d, err := newDevice(c, info)
		if err != nil {
			info.Name = "does not open"
			d = &driverDevice{info: info, broken: unavailable(err)}
			errs = append(errs, unavailable(fmt.Errorf("%s: %w", info.Spec, err)))
		}
		list = append(list, d)
	}
	if len(errs) == n {
		return nil, errs[0]
	}
	return list, nil
}

// start initialises the driver, again if need be, and returns the version of CUDA that
// it supports, "12.4", and how many devices it has. Its errors wrap ErrUnavailable.
func start(c libcuda) (version string, devices int, err error) {
	if err := c.call("cuInit", 0); err != nil {
		return "", 0, unavailable(err)
	}
	v, err := c.number("cuDriverGetVersion")
	if err != nil {
		return "", 0, unavailable(err)
	}
	version = fmt.Sprintf("%d.%d", v/1000, v%1000/10)
	if v < oldest {
		return "", 0, fmt.Errorf("%w: the driver is too old: it supports CUDA %s, and %d.0 is wanted",
			ErrUnavailable, version, oldest/1000)
	}
	if devices, err = c.number("cuDeviceGetCount"); err != nil {
		return "", 0, unavailable(err)
	}
	if devices == 0 {
		return "", 0, fmt.Errorf("%w: the driver finds no GPU%s", ErrUnavailable, hidden(cardsDir, 0))
	}
	return version, devices, nil
}

// newDevice is the device of info.Index.
func newDevice(c libcuda, info Info) (*driverDevice, error) {
	dev, err := c.number("cuDeviceGet", uintptr(info.Index))
	if err != nil {
		return nil, err
	}
	if info.Name, err = c.text("cuDeviceGetName", dev); err != nil {
		return nil, err
	}
	if info.Memory, err = get[int64](c, "cuDeviceTotalMem_v2", uintptr(dev)); err != nil {
		return nil, err
	}
	if id, err := c.text("cuDeviceGetPCIBusId", dev); err == nil {
		info.PCI = strings.ToLower(id)
	}
	return &driverDevice{libcuda: c, dev: dev, info: info}, nil
}

// reasons say why a driver that was found does not start, and what to do.
var reasons = map[Code]string{
	StubLibrary: "libcuda.so.1 is the toolkit's stub instead of the driver: " +
		"take its stubs folder off the library path",
	SystemNotReady: "the driver waits for the system: is nvidia-fabricmanager running?",
	DriverMismatch: "libcuda.so.1 and the kernel's driver differ in version: reload the nvidia modules or reboot",
	CompatNotSupported: "the compatibility libcuda.so.1 of a toolkit or container does not work with this GPU: " +
		"take it off the library path",
	Unknown: "no permission or a broken driver: are /dev/nvidia* accessible and nvidia-uvm loaded?",
}

// unavailable says in one line why a driver that was found is of no use, and
// what to do where that is known. The result wraps ErrUnavailable and err.
func unavailable(err error) error {
	var code Code
	errors.As(err, &code)
	why := cmp.Or(reasons[code], "the driver does not start")
	if code == NoDevice {
		why = "the driver finds no GPU" + hidden(cardsDir, 0)
	}
	return fmt.Errorf("%w: %s: %w", ErrUnavailable, why, err)
}
