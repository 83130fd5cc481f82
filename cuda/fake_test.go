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

// devicesIn are all devices of a driver, not in use yet.
func devicesIn(tb testing.TB, c libcuda) []Device {
	tb.Helper()
	devices, err := devicesOf(c)
	if err != nil {
		tb.Fatal(err)
	}
	return devices
}

// fakeDevices are all devices of a fake driver of its own.
func fakeDevices(tb testing.TB, settings ...string) []Device {
	tb.Helper()
	return devicesIn(tb, fakeCalls(tb, settings...))
}

// fakeDevice is the first device of a fake driver of its own.
func fakeDevice(tb testing.TB, settings ...string) Device {
	tb.Helper()
	d := fakeDevices(tb, settings...)[0]
	tb.Cleanup(func() {
		if err := d.Close(); err != nil {
			tb.Error(err)
		}
	})
	return d
}
