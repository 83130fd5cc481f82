package host

import (
	"math"
	"path"
	"slices"
	"strings"
	"testing"
)

func FuzzParseList(f *testing.F) {
	for _, s := range []string{"0-3,8", "", "0-", "4294967295", "0-65535,0-65535"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		list := parseList(s)
		if !slices.IsSorted(list) || len(list) > maxCPU+1 {
			t.Errorf("%q: %d CPUs", s, len(list))
		}
		for i, n := range list {
			if n < 0 || n > maxCPU || i > 0 && list[i-1] == n {
				t.Errorf("%q: %v", s, list)
			}
		}
	})
}

func FuzzParseLink(f *testing.F) {
	for _, s := range []string{"16.0 GT/s PCIe", "Unknown speed", "NaN GT/s", "255", "16"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if gts := parseSpeed(s); gts != 0 && (gts < 2.5 || gts > 128) {
			t.Errorf("%q: %v GT/s", s, gts)
		}
		if n := parseWidth(s); n < 0 || n > 32 {
			t.Errorf("%q: x%d", s, n)
		}
		if a := address(s); a != "" && address(a) != a {
			t.Errorf("%q: %q is no fixed point", s, a)
		}
	})
}

func FuzzGranted(f *testing.F) {
	for _, s := range []string{"max 100000", "50000 100000", "50000", "-1 1", "9223372036854775807 1"} {
		quota, period, _ := strings.Cut(s, " ")
		f.Add(quota, period)
	}
	f.Fuzz(func(t *testing.T, quota, period string) {
		if cpus := granted(quota, period); cpus < 0 || math.IsInf(cpus, 0) || math.IsNaN(cpus) {
			t.Errorf("%q %q: %v", quota, period, cpus)
		}
	})
}

func FuzzLevels(f *testing.F) {
	f.Add("/", "/a/b")
	f.Add("/docker/x", "/docker/x/../../..")
	f.Add("..", "//")
	f.Fuzz(func(t *testing.T, root, own string) {
		dirs := levels(mount{root: root, point: "/sys/fs/cgroup"}, own)
		if len(dirs) == 0 || dirs[len(dirs)-1] != "/sys/fs/cgroup" {
			t.Fatalf("%q %q: %v does not end at the mount", root, own, dirs)
		}
		for _, dir := range dirs {
			if path.Clean(dir) != dir || dir != "/sys/fs/cgroup" && !strings.HasPrefix(dir, "/sys/fs/cgroup/") {
				t.Errorf("%q %q: %q leaves the mount", root, own, dir)
			}
		}
	})
}
