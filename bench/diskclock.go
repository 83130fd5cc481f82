package bench

import (
	"dlbench/bench/pace"
	"dlbench/bench/theory"
)

// diskClock is the virtual clock of an emulated disk, idle; nil for none.
func DiskClock(d theory.DiskSpec) *pace.Disk {
	if !d.Emulated() {
		return nil
	}
	return &pace.Disk{Rate: d.Rate, Latency: d.Latency, Seek: d.Seek}
}
