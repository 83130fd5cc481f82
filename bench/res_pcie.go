package bench

import "dlbench/results"

// Values of the axes of the pcie suite that code refers to.
const (
	dirIn, dirOut, dirHost = "h2d", "d2h", "h2h"
	memStaged, memBounce   = "staged", "bounce"
	sourceWarm, sourceCold = "warm", "cold"
	hostDevice             = "host"

	alone, besideOpposite, besideDevices = "none", "opposite", "devices"
	numaLocal, numaRemote                = "local", "remote"
)

// undisturbed tells whether nothing else copied, and the memory was the device's own
// node's.
func undisturbed(r *results.Result) bool {
	c, n := r.Params.Text("concurrent"), r.Params.Text("numa")
	return (c == "" || c == alone) && n != numaRemote
}
