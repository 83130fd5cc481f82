package host

import (
	"strconv"
	"strings"
	"time"
)

// DiskCounters are what block devices have done since they were there, by
// themselves or summed. Requests in flight count once they are done.
type DiskCounters struct {
	Reads     int64
	ReadBytes int64
	ReadTime  time.Duration // sum over reads of how long each was in the queue
	QueueTime time.Duration // the same over all requests
}

// DiskStats sums the counters of devices, as results.Disk.Devices names them;
// other processes' requests count as well. ok is false unless every device can be
// seen and counts. Source: Documentation/block/stat.rst of Linux: fields 1, 3 (of
// 512 bytes), 4 and 11 (milliseconds).
func DiskStats(root string, devices []string) (s DiskCounters, ok bool) {
	for _, name := range devices {
		b, found := blockByName(tree(root), name)
		if !found || b.dir.text("queue/iostats") == "0" {
			return DiskCounters{}, false
		}
		f := strings.Fields(b.dir.head("stat", 4096))
		if len(f) < 11 {
			return DiskCounters{}, false
		}
		var n [4]int64
		for i, field := range []int{0, 2, 3, 10} {
			v, err := strconv.ParseInt(f[field], 10, 64)
			if err != nil || v < 0 || v >= 1<<43 { // in bytes and nanoseconds they fit
				return DiskCounters{}, false
			}
			n[i] = v
		}
		s.Reads += n[0]
		s.ReadBytes += n[1] * 512
		s.ReadTime += time.Duration(n[2]) * time.Millisecond
		s.QueueTime += time.Duration(n[3]) * time.Millisecond
	}
	return s, len(devices) > 0
}

// Since returns what was done between an older reading and this one.
func (s DiskCounters) Since(old DiskCounters) DiskCounters {
	return DiskCounters{s.Reads - old.Reads, s.ReadBytes - old.ReadBytes,
		unwrapped(s.ReadTime - old.ReadTime), unwrapped(s.QueueTime - old.QueueTime)}
}

// unwrapped mends a difference of times: the kernel prints 32 bits of
// milliseconds, which come around after 50 days of waiting.
func unwrapped(d time.Duration) time.Duration {
	for d < 0 {
		d += 1 << 32 * time.Millisecond
	}
	return d
}

// Depth is the average number of requests in the queue during wall; 0 if that is
// not positive.
func (s DiskCounters) Depth(wall time.Duration) float64 {
	if wall <= 0 {
		return 0
	}
	return float64(s.QueueTime) / float64(wall)
}
