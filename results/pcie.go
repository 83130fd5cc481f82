package results

// Values of the axes of the pcie suite that code refers to.
const (
	H2D, D2H, H2H          = "h2d", "d2h", "h2h"
	Staged, Bounce         = "staged", "bounce"
	SourceWarm, SourceCold = "warm", "cold"
	HostDevice             = "host"

	ConcurrentNone, ConcurrentOpposite, ConcurrentDevices = "none", "opposite", "devices"
	NUMALocal, NUMARemote                                 = "local", "remote"
)

// undisturbed tells whether nothing else copied, and the memory was the device's own
// node's.
func Undisturbed(r *Result) bool {
	c, n := r.Params.Text("concurrent"), r.Params.Text("numa")
	return (c == "" || c == ConcurrentNone) && n != NUMARemote
}
