package pagecache

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"dlbench/bench/host"
	"dlbench/results"
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

// UnknownBytes is a count that cannot be read.
const UnknownBytes = -1

// KnownBytes is a count for a report, nil for UnknownBytes.
func KnownBytes(n int64) *int64 {
	if n < 0 {
		return nil
	}
	return &n
}

// Proof is the evidence that reads went where they should.
type Proof struct {
	Before, After float64 // share of the pages in the cache; NaN if unknown
	Unverified    string  // why they are unknown, as Residency says; "" if they are not
	Asked         int64   // B, by the reads
	FromDevice    int64   // B that block devices read for this process; UnknownBytes
	DeviceBytes   int64   // B that the disk's devices read for everybody; UnknownBytes
	Depth         float64 // average number of requests in the devices' queues; 0 if unknown
	Network       bool    // the files lie beyond a network or a program (FUSE), whose reads may not be counted
	Verdict       string  // "" for valid, else why not
}

// Judge says why reads from a state of the page cache, such as results.Warm, were not what
// they claim to be; "" for those that were. It begins with ErrUnverifiable's words when
// the evidence is missing and not against it.
func Judge(cache string, p Proof) (why string) {
	share := float64(p.FromDevice) / float64(p.Asked)
	direct, warm := cache == results.Direct, cache == results.Warm
	cold := !direct && !warm
	switch uncounted := p.Network && p.FromDevice == 0; {
	case p.Asked <= 0:
		return "nothing was read"
	case !direct && (p.Unverified != "" || math.IsNaN(p.Before)):
		return cmp.Or(p.Unverified, ErrUnverifiable.Error())
	case p.FromDevice < 0:
		return fmt.Sprintf("%v: /proc/self/io cannot be read", ErrUnverifiable)
	case cold && p.Before >= ColdResident:
		return fmt.Sprintf("%s of the data were cached before", percent(p.Before))
	case warm && p.Before <= WarmResident:
		return fmt.Sprintf("only %s of the data were cached before", percent(p.Before))
	case warm && share >= notFromDisk:
		return fmt.Sprintf("%s of the bytes came from the disk", percent(share))
	case cold && uncounted: // that none was in this machine's memory is all that can be known
	case direct && uncounted:
		return fmt.Sprintf("%v: this file system does not count what it reads", ErrUnverifiable)
	case !warm && share < fromDisk:
		return fmt.Sprintf("only %s of the bytes came from the disk: the rest was cached, compressed or never written",
			percent(share))
	case direct && p.Unverified == "" && p.After-p.Before > directBuffered: // false for NaN
		return "the file system sent direct reads through the page cache"
	}
	return ""
}

// othersRead is how many times the bytes that were asked for this process may have read
// from devices: more were others' reads, which hide what is missing of these.
const othersRead = 1.5

// JudgeDirect is Judge of direct reads by a process that may read other data, too.
func JudgeDirect(p Proof) (why string) {
	if float64(p.FromDevice) > othersRead*float64(p.Asked) && p.Asked > 0 {
		return fmt.Sprintf("%v: this process read other data from the disk meanwhile", ErrUnverifiable)
	}
	return Judge(results.Direct, p)
}

// Warnings leave a proof valid: the device's bytes differ from
// this process's.
func (p Proof) Warnings() []string {
	differ := math.Abs(float64(p.DeviceBytes - p.FromDevice))
	if p.DeviceBytes < 0 || p.FromDevice < 0 || differ <= foreignIO*float64(max(p.FromDevice, p.Asked)) {
		return nil
	}
	return []string{fmt.Sprintf("the disk read %s while this process was given %s: other I/O on it, a cache "+
		"between them, or a device that was not seen", results.FormatBytes(p.DeviceBytes), results.FormatBytes(p.FromDevice))}
}

// percent keeps three decimals and rounds down, so that 98.9996 % is not
// shown as the 99 % that it misses.
func percent(share float64) string {
	return strconv.FormatFloat(math.Floor(1e5*share+1e-6)/1e3, 'f', -1, 64) + " %"
}

// ReadWatch counts what is read from its start on.
type ReadWatch struct {
	root    string
	devices []string
	started time.Time
	own     int64
	all     host.DiskCounters
	known   bool // all
}

// WatchReads begins to count; devices are those of results.Disk.
func WatchReads(root string, devices []string) ReadWatch {
	w := ReadWatch{root: root, devices: devices}
	w.all, w.known = host.DiskStats(root, devices)
	w.own = readByProcess(root)
	w.started = time.Now()
	return w
}

// Fill puts into p what was read since the start.
func (w ReadWatch) Fill(p *Proof) {
	wall := time.Since(w.started)
	p.FromDevice, p.DeviceBytes, p.Depth = UnknownBytes, UnknownBytes, 0
	if own := readByProcess(w.root); own >= 0 && w.own >= 0 {
		p.FromDevice = own - w.own
	}
	if all, ok := host.DiskStats(w.root, w.devices); ok && w.known {
		d := all.Since(w.all)
		p.DeviceBytes, p.Depth = d.ReadBytes, float64(d.QueueTime)/float64(max(wall, 1))
	}
}

// readByProcess is how many bytes block devices read for this process so far, all
// threads, read ahead included; UnknownBytes where /proc below root does not say, or a
// container denies it. Source: proc_pid_io(5).
func readByProcess(root string) int64 {
	text, _ := os.ReadFile(filepath.Join(root, "proc/self/io"))
	_, number, _ := strings.Cut(string(text), "\nread_bytes: ")
	var n int64
	if _, err := fmt.Sscan(number, &n); err != nil || n < 0 {
		return UnknownBytes
	}
	return n
}
