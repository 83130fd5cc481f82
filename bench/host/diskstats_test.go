package host

import (
	"testing"
	"time"
)

func TestDiskStats(t *testing.T) {
	const stat = "  195200    39620  7919970   138205    76656   101438  9867680   102198        0    35312   252489   110752       44  6692536    10994     8547     1091\n"
	root := plant(t, files{"proc/x": ""}, block(nvme, "259:0", files{"stat": stat}), part(nvme, "259:2", "nvme0n1p2"), block(ata, "8:0", files{"stat": "1 0 2 3 0 0 0 0 0 0 4\n"}),
		block("virtual/block/vda", "1:0", files{"stat": stat, "queue/iostats": "0\n"}), block("virtual/block/vdb", "1:1", files{"stat": noise}),
		block("virtual/block/vdc", "1:2", files{"stat": "1 0 2 3 0 0 0 0 0 0 -4\n"}), block("virtual/block/vdd", "1:3", files{"stat": "1 0 99999999999999999 3 0 0 0 0 0 0 4\n"}))
	one := DiskCounters{7919970 * 512, 252489 * time.Millisecond}
	for _, c := range []struct {
		name    string
		devices []string
		want    DiskCounters
		ok      bool
	}{
		{"disk", []string{"nvme0n1"}, one, true},
		{"of a partition", []string{"nvme0n1p2"}, one, true},
		{"two", []string{"nvme0n1", "sda"}, DiskCounters{7919972 * 512, 252493 * time.Millisecond}, true},
		{"one missing", []string{"nvme0n1", "sdz"}, DiskCounters{}, false},
		{"none", nil, DiskCounters{}, false},
		{"no path", []string{"../../devices/" + ata, "..", "", "."}, DiskCounters{}, false},
		{"does not count", []string{"vda"}, DiskCounters{}, false},
		{"noise", []string{"vdb"}, DiskCounters{}, false},
		{"negative", []string{"vdc"}, DiskCounters{}, false},
		{"too large", []string{"vdd"}, DiskCounters{}, false},
	} {
		if have, ok := DiskStats(root, c.devices); have != c.want || ok != c.ok {
			t.Errorf("%s: %+v %v, want %+v", c.name, have, ok, c.want)
		}
	}
}

func TestDiskCountersSince(t *testing.T) {
	old := DiskCounters{1000, 4294967 * time.Second}
	d := DiskCounters{9192, time.Second}.Since(old) // the queue's time came around
	if d.ReadBytes != 8192 || d.QueueTime != 1296*time.Millisecond {
		t.Errorf("%+v", d)
	}
	q := DiskCounters{QueueTime: 8 * time.Second}
	if q.Depth(2*time.Second) != 4 || q.Depth(0) != 0 || q.Depth(-1) != 0 {
		t.Errorf("depth %v", q.Depth(2*time.Second))
	}
}
