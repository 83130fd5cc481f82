//go:build gorgonia && linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"testing"

	"dlbench/cuda/fakecuda"
)

// fakeCalls starts the fake driver afresh, which this program is linked to: what
// the last one gave is of no more use.
func fakeCalls(tb testing.TB, settings ...string) libcuda {
	tb.Helper()
	setFake(tb, settings...)
	fakecuda.Reload(tb)
	c, err := drivers()
	if err != nil {
		tb.Fatal(err)
	}
	return c
}
