//go:build linux && (amd64 || arm64) && !nocuda && !gorgonia

package cuda

import (
	"testing"

	"dlbench/cuda/fakecuda"
)

// fakeCalls loads a fake driver of its own.
func fakeCalls(tb testing.TB, settings ...string) libcuda {
	tb.Helper()
	return loadFake(tb, fakecuda.Build(tb), settings...)
}

func loadFake(tb testing.TB, path string, settings ...string) libcuda {
	tb.Helper()
	setFake(tb, settings...)
	tb.Setenv(libraryVariable, path)
	c, err := drivers()
	if err != nil {
		tb.Fatal(err)
	}
	return c
}
