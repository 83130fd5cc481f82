package pagecache

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"dlbench/bench/host"
)

// Kinds of reading, by what state the page cache must be in.
const (
	Cold   = "cold"   // nothing cached before
	Warm   = "warm"   // everything cached before
	Direct = "direct" // past the cache, O_DIRECT
)

// Limits of a proof, as shares.
const (
	ColdResident   = 0.001 // at most so much may be cached before a cold read
	WarmResident   = 0.999 // at least so much before a warm one
	fromDisk       = 0.99  // of what was asked must come from the device, or more
	notFromDisk    = 0.01  // at most so much in a warm read
	foreignIO      = 0.05  // by so much the device's bytes may differ from our own
	directBuffered = 0.1   // so much may appear in the cache during direct reads
)

// unknownBytes stands for a count that cannot be read.
const UnknownBytes = -1

// cacheProof is the evidence that reads went where they should.
type Proof struct {
	Before, After float64 // share of the pages in the cache; NaN if it cannot be told
	Unverified    string  // why it cannot be told, "" if it can
	Asked         int64   // B, by the reads
	FromDevice    int64   // B that block devices read for this process; unknownBytes
	DeviceBytes   int64   // B that the disk's devices read for everybody; unknownBytes
	Depth         float64 // average number of requests in the devices' queues; 0 if unknown
	Verdict       string  // "" for valid, else why not
}

// judgeCache tells whether reads of a kind were what they claim to be, and if
// not, why. It begins with errCacheUnverifiable's words when the evidence is
// missing and not against it.
func Judge(kind string, p Proof) (ok bool, why string) {
	share := float64(p.FromDevice) / float64(p.Asked)
	switch {
	case p.Asked <= 0:
		return false, "nothing was read"
	case kind != Direct && p.Unverified != "":
		return false, fmt.Sprintf("%v: %s", ErrUnverifiable, p.Unverified)
	case kind != Direct && math.IsNaN(p.Before):
		return false, fmt.Sprintf("%v: what was cached is unknown", ErrUnverifiable)
	case p.FromDevice < 0:
		return false, fmt.Sprintf("%v: /proc/self/io cannot be read", ErrUnverifiable)
	}
	switch kind {
	case Cold:
		if p.Before >= ColdResident {
			return false, fmt.Sprintf("%s of the data were cached before", cachePercent(p.Before))
		}
		if share < fromDisk {
			return false, fmt.Sprintf("only %s of the bytes came from the disk", cachePercent(share))
		}
	case Warm:
		if p.Before <= WarmResident {
			return false, fmt.Sprintf("only %s of the data were cached before", cachePercent(p.Before))
		}
		if share >= notFromDisk {
			return false, fmt.Sprintf("%s of the bytes came from the disk", cachePercent(share))
		}
	case Direct:
		if share < notFromDisk {
			return false, "the file system served direct reads from memory"
		}
		if share < fromDisk {
			return false, fmt.Sprintf("only %s of the bytes of direct reads came from the disk: the rest was cached, compressed or never written", cachePercent(share))
		}
		if p.Unverified == "" && p.After-p.Before > directBuffered { // false for NaN
			return false, "the file system sent direct reads through the page cache"
		}
	default:
		return false, fmt.Sprintf("no kind of reading: %q", kind)
	}
	return true, ""
}

// warnings are doubts that leave a proof valid: the device's bytes differ from
// this process's.
func (p Proof) Warnings() []string {
	if p.DeviceBytes < 0 || p.FromDevice < 0 {
		return nil
	}
	differ := float64(p.DeviceBytes - p.FromDevice)
	if math.Abs(differ) <= foreignIO*float64(max(p.FromDevice, p.Asked)) {
		return nil
	}
	if differ > 0 {
		return []string{"other I/O on the disk: it read over 5 % more than this process was given"}
	}
	return []string{"the disk read over 5 % less than this process was given: a cache lies between, or not every device was seen"}
}

// cachePercent keeps three decimals and rounds down, so that 98.9996 % is not
// shown as the 99 % that it misses.
func cachePercent(share float64) string {
	return strconv.FormatFloat(math.Floor(1e5*share+1e-6)/1e3, 'f', -1, 64) + " %"
}

// readWatch counts what is read from its start on.
type ReadWatch struct {
	root    string
	devices []string
	started time.Time
	own     processIO
	ownOK   bool
	all     host.DiskCounters
	allOK   bool
}

// watchReads begins to count; devices are those of results.Disk.
func WatchReads(root string, devices []string) ReadWatch {
	w := ReadWatch{root: root, devices: devices}
	w.all, w.allOK = host.DiskStats(root, devices)
	w.own, w.ownOK = readProcessIO(root)
	w.started = time.Now()
	return w
}

// fill puts into p what was read since the start.
func (w ReadWatch) Fill(p *Proof) {
	wall := time.Since(w.started)
	p.FromDevice, p.DeviceBytes, p.Depth = UnknownBytes, UnknownBytes, 0
	if own, ok := readProcessIO(w.root); ok && w.ownOK {
		p.FromDevice = own.ReadBytes - w.own.ReadBytes
	}
	if all, ok := host.DiskStats(w.root, w.devices); ok && w.allOK {
		d := all.Since(w.all)
		p.DeviceBytes, p.Depth = d.ReadBytes, d.Depth(wall)
	}
}
