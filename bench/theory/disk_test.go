package theory

import (
	"strings"
	"testing"
	"time"
)

func TestParseDisk(t *testing.T) {
	for text, want := range map[string]DiskSpec{
		"stream100":      {Rate: 100e6},
		"hdd":            {Rate: 100e6, Latency: 12700 * time.Microsecond, Seek: true},
		"sata3":          {Rate: 600e6},
		"nvme":           {Rate: 3.4e9},
		"250MB/s":        {Rate: 250e6},
		"250MB":          {Rate: 250e6},
		"1GiB/s:2ms":     {Rate: 1 << 30, Latency: 2 * time.Millisecond},
		"100MB/s:12.7ms": {Rate: 100e6, Latency: 12700 * time.Microsecond},
	} {
		want.Name = text
		if d, err := ParseDisk(text); err != nil || d != want || !d.Emulated() {
			t.Errorf("ParseDisk(%q) = %+v, %v; want %+v", text, d, err, want)
		}
	}
	for _, text := range []string{"", "ssd", "0", "-1MB/s", "1B/s", "100MB/s:", "100MB/s:-1ms", "100MB/s:2",
		"100MB/s:2h", "99999999TB/s", "100 MB/s"} {
		if d, err := ParseDisk(text); err == nil || !strings.Contains(err.Error(), "stream100, hdd, sata3, nvme") {
			t.Errorf("ParseDisk(%q) = %+v, %v; want an error that says what is allowed", text, d, err)
		}
	}
}
