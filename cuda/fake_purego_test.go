//go:build linux && (amd64 || arm64) && !nocuda && !gorgonia

package cuda

import (
	"testing"

	"dlbench/cuda/fakecuda"
)

// fakeCalls loads a fake driver of its own.
func fakeCalls(tb testing.TB, settings ...string) libcuda {
	tb.Helper()
	setFake(tb, settings...)
	tb.Setenv(libraryVariable, fakecuda.Build(tb))
	c, err := drivers()
	if err != nil {
		tb.Fatal(err)
	}
	return c
}
