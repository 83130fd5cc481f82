//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"os"
	"strings"
	"testing"

	"dlbench/cuda/fakecuda"
)

// fakeCalls loads a fake driver of its own with settings such as
// FAKE_CUDA_DEVICES=2.
func fakeCalls(tb testing.TB, settings ...string) calls {
	tb.Helper()
	return loadFake(tb, fakecuda.Build(tb), settings...)
}

func loadFake(tb testing.TB, path string, settings ...string) calls {
	tb.Helper()
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "FAKE_CUDA_") {
			tb.Setenv(name, "")
		}
	}
	for _, kv := range settings {
		name, value, _ := strings.Cut(kv, "=")
		tb.Setenv(name, value)
	}
	l, err := openLibrary(path)
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

// fakeDevice is the first device of a fake driver of its own.
func fakeDevice(tb testing.TB, settings ...string) Device {
	tb.Helper()
	d, err := newDriver(fakeCalls(tb, settings...))
	if err != nil {
		tb.Fatal(err)
	}
	devices, err := d.devices()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { devices[0].Close() })
	return devices[0]
}
