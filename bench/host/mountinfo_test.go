package host

import (
	"encoding/json"
	"strings"
	"testing"

	"dlbench/results"
)

func printed(d results.Disk) string {
	b, _ := json.Marshal(d)
	return string(b)
}

func TestMountOf(t *testing.T) {
	const mounts = `22 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw
23 22 8:3 / /home rw shared:2 master:3 - ext4 /dev/sda3 rw
24 23 0:40 / /home/a\040b rw - btrfs /dev/sdb1 rw
25 22 0:41 / /mnt rw - tmpfs tmpfs rw
26 22 0:42 / /mnt rw - tmpfs tmpfs rw
27 26 8:5 / /var/x rw - ext4 /dev/sda5 rw
28 22 8:6 / /var rw - ext4 /dev/sda6 rw
29 22 0:43 / /empty rw - tmpfs  rw
30 22 0:44 / /dash rw - tmpfs - rw
`
	ms := parseMountInfo(noise + mounts)
	if len(ms) != 9 {
		t.Fatalf("%d mounts: %+v", len(ms), ms)
	}
	if m := ms[7]; m.source != "" || len(m.options) != 2 {
		t.Errorf("mount without a source: %+v", m)
	}
	for _, c := range []struct{ path, dev, point, want string }{
		{"/etc", "8:2", "/", "8:2"},
		{"/", "8:2", "/", "8:2"},
		{"/home", "8:3", "/home", "8:3"},
		{"/homes", "8:2", "/", "8:2"},
		{"/home/a b/c", "0:99", "/home/a b", "0:40"}, // a volume of btrfs has a number of its own
		{"/mnt/x", "", "/mnt", "0:42"},               // the later mount hides the earlier one
		{"/mnt/x", "0:41", "/mnt", "0:41"},
		{"/var/x/y", "8:6", "/var", "8:6"}, // mounted over the parent of another mount
		{"/var/x/y", "8:5", "/var/x", "8:5"},
	} {
		m, ok := mountOf(ms, c.path, c.dev)
		if !ok || m.point != c.point || m.dev != c.want {
			t.Errorf("%s on %s: %+v %v", c.path, c.dev, m, ok)
		}
	}
	if _, ok := mountOf(nil, "/", ""); ok {
		t.Error("found a mount among none")
	}
}

func FuzzMountInfo(f *testing.F) {
	for _, s := range []string{
		noise, onNVMe, "31 30 0:50 / / rw - overlay overlay rw,lowerdir=/l:/m,upperdir=/data,workdir=/w\n",
		"30 1 0:35 / / rw - btrfs /dev/nvme0n1p2 rw,compress=zstd:3\n", "30 1 0:70 / /data rw - nfs4 s:/e rw,vers=4.2\n", "1 1 0:0 / / - a - b",
		"30 1 0:35 / / rw - bcachefs /dev/..:/dev/.:/dev/ rw\n", `1 1 4294967295:4294967296 / /\040 x - y`,
	} {
		f.Add(s, "/data/set")
	}
	root := plant(f, nvmeDisk(gen4x4+", "+gen4x4))
	f.Fuzz(func(t *testing.T, text, path string) {
		ms := parseMountInfo(text)
		for _, m := range ms {
			if !strings.HasPrefix(m.point, "/") || m.fsType == "" {
				t.Errorf("%+v", m)
			}
			m.compresses()
		}
		if m, ok := mountOf(ms, path, ""); ok && !within(path, m.point) {
			t.Errorf("%q is not below %q", path, m.point)
		}
		v := view{tree(root), ms, fakeNumbers("259:2", nil)}
		d := v.diskOf(path, 0)
		if d.Name == "" || d.Kind == "" || d.Cache == "" || (d.Cache == results.CacheNotControllable) != (d.CacheReason != "") {
			t.Errorf("%+v", d)
		}
		for _, o := range d.MountOptions {
			if strings.ContainsAny(o, "/\\ \n") {
				t.Errorf("option %q", o)
			}
		}
	})
}
