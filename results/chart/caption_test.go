package chart

import (
	"fmt"
	"testing"

	"dlbench/results"
)

func TestCaptionTexts(t *testing.T) {
	disk := func(d ...results.Disk) string { return diskText(results.Host{Disks: d}) }
	cpu := func(c results.CPU) string { return cpuText(results.Host{CPU: c}) }
	for _, c := range []struct{ have, want string }{
		{disk(), "disk unknown"},
		{disk(results.Disk{Name: "sda", Model: "WDC", Kind: results.DiskSpinning, Link: "SATA 6.0 Gb/s",
			FileSystem: "xfs"}),
			"disk sda WDC, hard disk, SATA 6.0 Gb/s, xfs"},
		{disk(results.Disk{Name: "vda", Kind: results.DiskVirtio, Link: "unknown", FileSystem: "overlay"}),
			"disk vda, virtio, overlay"},
		{disk(results.Disk{Name: "unknown", Kind: results.DiskUnknown}),
			"disk unknown, kind unknown, file system unknown"},
		{cpu(results.CPU{Governor: "unknown"}), "cores unknown"},
		{cpu(results.CPU{Threads: 8, Usable: 0.5}), "8 threads, 0.5 usable"},
		{cpu(results.CPU{Cores: 8, Threads: 8, Usable: 8, Hz: 3.1e9, Governor: "powersave"}),
			"8 cores, 3.1 GHz, governor powersave"},
		{cpu(results.CPU{Cores: 8, Threads: 16, Usable: 4, Governor: "performance"}),
			"8 cores with 16 threads, 4 usable, governor performance"},
	} {
		if c.have != c.want {
			t.Errorf("have %q, want %q", c.have, c.want)
		}
	}
}

func TestShared(t *testing.T) {
	for _, c := range []struct{ captions, want [][]string }{
		{nil, nil},
		{[][]string{{"a", "x"}}, [][]string{{"a", "x"}}},
		{[][]string{{"a", "x", "y"}, {"b", "x", "y"}}, [][]string{{"a"}, {"b"}, {"all: x", "y"}}},
		{[][]string{{"a", "x"}, {"b", "y"}}, [][]string{{"a", "x"}, {"b", "y"}}},
		{[][]string{{"a", "x"}, {"x"}}, [][]string{{"a", "x"}, {"x"}}},
		{[][]string{{"x"}, {"x"}}, [][]string{{"x"}, {"x"}}},
	} {
		if have := shared(c.captions); fmt.Sprint(have) != fmt.Sprint(c.want) {
			t.Errorf("%q: have %q, want %q", c.captions, have, c.want)
		}
	}
}
