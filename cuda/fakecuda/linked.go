//go:build gorgonia && linux && !nocuda

package fakecuda

/*
void fakecuda_reload(void) __attribute__((weak)); // absent from the real driver
static int reload(void) {
	if (fakecuda_reload) fakecuda_reload();
	return fakecuda_reload != 0;
}
*/
import "C"

import "testing"

// Reload has the driver that this program is linked to forget all contexts and
// read its settings again. The test is skipped when that is the real driver.
func Reload(tb testing.TB) {
	tb.Helper()
	if C.reload() == 0 {
		tb.Skip("linked to the real CUDA driver")
	}
}
