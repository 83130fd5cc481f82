package theory

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// Sequential peaks of claim A10, in B/s: the SATA3 interface, and an M.2 drive over
// PCI Express.
const (
	SATA3Rate = 600e6
	NVMeRate  = 3.4e9
)

// DiskSpec is a disk to emulate by pacing reads that come from the page cache. The
// zero value is no emulation.
type DiskSpec struct {
	Name    string // as given
	Rate    float64
	Latency time.Duration
	Seek    bool // a hard disk: the latency is paid for discontiguous reads, one at a time
}

// EmulatedDisks are the disks of claims A9 and A10. stream100 is the article's
// arithmetic: bytes over 100 MB/s and no seeks. hdd adds what a 7200-rpm disk needs
// for each discontiguous read: about 8.5 ms to seek and half a turn of 4.2 ms. The
// others are the peaks of their interfaces, without latency.
var EmulatedDisks = []DiskSpec{
	{Name: "stream100", Rate: ArticleDiskRate},
	{Name: "hdd", Rate: ArticleDiskRate, Latency: 12700 * time.Microsecond, Seek: true},
	{Name: "sata3", Rate: SATA3Rate},
	{Name: "nvme", Rate: NVMeRate},
}

// ParseDisk reads a preset or RATE[:LATENCY], such as 250MB/s:2ms: a disk that
// overlaps the latencies of reads, as solid-state disks do.
func ParseDisk(text string) (DiskSpec, error) {
	if i := slices.Index(DiskPresets(), text); i >= 0 {
		return EmulatedDisks[i], nil
	}
	want := fmt.Errorf("want %s, or RATE[:LATENCY] such as 250MB/s or 250MB/s:2ms", strings.Join(DiskPresets(), ", "))
	rate, latency, has := strings.Cut(text, ":")
	n, err := humanize.ParseBytes(strings.TrimSuffix(rate, "/s"))
	if err != nil || n < 1000 || n > 1<<40 || strings.ContainsAny(rate, "- ") {
		return DiskSpec{}, want
	}
	d := DiskSpec{Name: text, Rate: float64(n)}
	if has {
		if d.Latency, err = time.ParseDuration(latency); err != nil || d.Latency < 0 || d.Latency > time.Minute {
			return DiskSpec{}, want
		}
	}
	return d, nil
}

// Emulated tells whether d is a disk to emulate.
func (d DiskSpec) Emulated() bool { return d.Rate > 0 }

// Time is how long d takes for so many bytes in so many discontiguous reads, one after the
// other, s; a disk that overlaps latencies pays none here.
func (d DiskSpec) Time(bytes, reads float64) float64 {
	t := bytes / d.Rate
	if d.Seek {
		t += reads * d.Latency.Seconds()
	}
	return t
}

// DiskPresets names EmulatedDisks.
func DiskPresets() (names []string) {
	for _, d := range EmulatedDisks {
		names = append(names, d.Name)
	}
	return names
}
