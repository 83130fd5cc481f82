//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"sync"
)

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
		return nil, unavailable(err)
	}
	var list []Device
	var errs []error
	for i := range n {
		d := &driverDevice{libcuda: c,
			info: Info{Spec: fmt.Sprintf("cuda:%d", i), Index: i, Driver: version, Backend: Backend}}
		if err := d.describe(); err != nil {
			d.info.Name = "does not open"
			d.broken = unavailable(fmt.Errorf("%s: %w", d.info.Spec, err))
			errs = append(errs, d.broken)
		}
		list = append(list, d)
	}
	if len(errs) == n {
		return nil, errs[0]
	}
	return list, nil
}

// start initialises the driver, again if need be, and returns the version of CUDA that
// it supports, "12.4", and how many devices it has: at least one.
func start(c libcuda) (version string, devices int, err error) {
	if err := c.call("cuInit", 0); err != nil {
		return "", 0, err
	}
	v, err := c.number("cuDriverGetVersion")
	if err != nil {
		return "", 0, err
	}
	devices, err = c.number("cuDeviceGetCount")
	if err == nil && devices == 0 {
		err = NoDevice
	}
	return fmt.Sprintf("%d.%d", v/1000, v%1000/10), devices, err
}

// describe asks for what is known of the device before it is used.
func (d *driverDevice) describe() (err error) {
	if d.dev, err = d.number("cuDeviceGet", uintptr(d.info.Index)); err != nil {
		return err
	}
	if d.info.Name, err = d.text("cuDeviceGetName", d.dev); err != nil {
		return err
	}
	if d.info.Memory, err = get[int64](d.libcuda, "cuDeviceTotalMem_v2", uintptr(d.dev)); err != nil {
		return err
	}
	if id, err := d.text("cuDeviceGetPCIBusId", d.dev); err == nil {
		d.info.PCI = strings.ToLower(id)
	}
	return nil
}

// reasons say why a driver that was found does not start, and what to do.
var reasons = map[Code]string{
	NoDevice: "the driver finds no GPU",
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
		why += hidden()
	}
	return fmt.Errorf("%w: %s: %w", ErrUnavailable, why, err)
}
