//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"os"
	"strings"
	"testing"
)

// setFake sets what the next fake driver reads, such as FAKE_CUDA_DEVICES=2, and
// nothing else of the kind.
func setFake(tb testing.TB, settings ...string) {
	tb.Helper()
	tb.Setenv("CUDA_VISIBLE_DEVICES", "")
	os.Unsetenv("CUDA_VISIBLE_DEVICES")
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "FAKE_CUDA_") {
			tb.Setenv(name, "")
		}
	}
	for _, kv := range settings {
		name, value, _ := strings.Cut(kv, "=")
		tb.Setenv(name, value)
	}
}

// fakeDriver is a fake driver of its own.
func fakeDriver(tb testing.TB, settings ...string) *driver {
	tb.Helper()
	d, err := newDriver(fakeCalls(tb, settings...))
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// opened are all devices of a driver, not in use yet.
func (d *driver) opened(tb testing.TB) []Device {
	tb.Helper()
	devices, err := d.devices()
	if err != nil {
		tb.Fatal(err)
	}
	return devices
}

// fakeDevices are all devices of a fake driver of its own.
func fakeDevices(tb testing.TB, settings ...string) []Device {
	tb.Helper()
	return fakeDriver(tb, settings...).opened(tb)
}

// fakeDevice is the first device of a fake driver of its own.
func fakeDevice(tb testing.TB, settings ...string) Device {
	tb.Helper()
	d := fakeDevices(tb, settings...)[0]
	tb.Cleanup(func() { d.Close() })
	return d
}
