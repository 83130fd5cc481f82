package host

import (
	"encoding/json"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"dlbench/results"
)

const (
	onSDA = "30 1 8:0 / / rw - xfs /dev/sda rw\n"
	other = "30 1 0:70 / / rw - "
)

// diskCases are machines with a file /data/set.
var diskCases = []struct {
	name      string
	mountinfo string
	files     files
}{
	{"NVMe", onNVMe, nvmeDisk(gen4x4)},
	{"NVMe in an old slot", onNVMe, nvmeDisk("8.0 GT/s PCIe x4, 16.0 GT/s PCIe x4")},
	{"SATA", onSDA, sata("6.0 Gbps")},
	{"SATA, speed unknown", onSDA, sata("<unknown>")},
	{"hard disk", onSDA, sata("3.0 Gbps", "queue/rotational 1")},
	{"SAS", "30 1 8:16 / / rw - xfs /dev/sdb rw\n",
		block(sas, "8:16", "device/model PX05SMB040", "device/vendor TOSHIBA")},
	{"SATA behind SAS", "30 1 8:16 / / rw - xfs /dev/sdb rw\n",
		block(sas, "8:16", "device/model X", "device/vendor ATA     ")},
	{"RAID controller", onSDA, block("pci0000:00/0000:00:03.0/host0/target0:2:0/0:2:0:0/block/sda", "8:0",
		"device/model PERC H730 Mini", "device/vendor DELL", "queue/rotational 1")},
	{"iSCSI", "30 1 8:32 / / rw - xfs /dev/sdc rw\n",
		block("platform/host5/session1/target5:0:0/5:0:0:0/block/sdc", "8:32")},
	{"USB", "30 1 8:48 / / rw - exfat /dev/sdd rw\n",
		block("pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0/host6/target6:0:0/6:0:0:0/block/sdd", "8:48",
			"queue/rotational 1")},
	{"USB, solid state", "30 1 8:48 / / rw - exfat /dev/sdd rw\n",
		block("pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0/host6/target6:0:0/6:0:0:0/block/sdd", "8:48")},
	{"SD card", "30 1 179:0 / / rw - ext4 /dev/mmcblk0 rw\n",
		block("platform/soc/mmc_host/mmc0/mmc0:0001/block/mmcblk0", "179:0", "device/name SN128")},
	{"virtio", "30 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard,resuid=65534\n",
		block("pci0000:00/0000:00:02.0/virtio1/block/vda", "254:0", "queue/rotational 1", "device/vendor 0x1af4")},
	{"virtio-scsi", onSDA, block("pci0000:00/0000:00:03.0/virtio0/host0/target0:0:1/0:0:1:0/block/sda", "8:0",
		"queue/rotational 1", "device/vendor Google", "device/model PersistentDisk")},
	{"emulated SATA", onSDA, sata("1.5 Gbps", "queue/rotational 1", "device/model QEMU HARDDISK")},
	{"Xen", "30 1 202:0 / / rw - ext4 /dev/xvda rw\n",
		block("vbd-51712/block/xvda", "202:0", "queue/rotational 1")},
	{"NVMe over a network", "30 1 259:9 / / rw - xfs /dev/nvme1n1 rw\n",
		merge(block("virtual/nvme-subsystem/nvme-subsys1/nvme1n1", "259:9"), files{
			"sys/devices/virtual/nvme-subsystem/nvme-subsys1/nvme1": "-> ../../nvme-fabrics/ctl/nvme1",
			"sys/devices/virtual/nvme-fabrics/ctl/nvme1/transport":  "tcp\n"})},
	{"EBS", onNVMe, merge(nvmeDisk(gen4x4), at("sys/devices/"+nvme, "../model Amazon Elastic Block Store"))},
	{"LVM over encryption", "30 1 253:1 / / rw - ext4 /dev/mapper/secret-root rw\n", merge(nvmeDisk(gen4x4),
		block("virtual/block/dm-0", "253:0", "dm/uuid CRYPT-LUKS2-SECRET", "slaves/nvme0n1p2"),
		block("virtual/block/dm-1", "253:1", "dm/uuid LVM-SECRET", "dm/name secret-root", "slaves/dm-0",
			"queue/read_ahead_kb 512"))},
	{"RAID 0", "30 1 9:0 / /data rw - xfs /dev/md0 rw\n", merge(sata("6.0 Gbps"),
		block(strings.NewReplacer("ata3", "ata4", "sda", "sdb").Replace(ata), "8:16"),
		at("sys/class/ata_link/link4", "sata_spd 6.0 Gbps"),
		block("virtual/block/md0", "9:0", "md/level raid0", "slaves/sda", "slaves/sdb", "size 2000000"))},
	{"RAID over unlike disks", "30 1 9:0 / /data rw - xfs /dev/md0 rw\n",
		merge(sata("6.0 Gbps", "queue/rotational 1"), nvmeDisk(gen4x4),
			block("virtual/block/md0", "9:0", "md/level raid1", "slaves/sda", "slaves/nvme0n1p2"))},
	{"dm without slaves", "30 1 253:3 / / rw - ext4 /dev/mapper/x rw\n", block("virtual/block/dm-3", "253:3")},
	{"dm in a circle", "30 1 253:0 / / rw - ext4 /dev/mapper/x rw\n",
		merge(block("virtual/block/dm-0", "253:0", "slaves/dm-1"),
			block("virtual/block/dm-1", "253:1", "slaves/dm-0"))},
	{"loop", onNVMe + "31 30 7:0 / /data rw - ext4 /dev/loop0 rw\n",
		merge(nvmeDisk(gen4x4), block("virtual/block/loop0", "7:0", "loop/backing_file /home/secret.img",
			"loop/dio 0"))},
	{"loop, direct", "31 30 7:0 / /data rw - ext4 /dev/loop0 rw\n",
		block("virtual/block/loop0", "7:0", "loop/backing_file /home/secret.img", "loop/dio 1")},
	{"overlay", onNVMe + "31 30 0:50 / /data rw,noatime - overlay overlay rw," +
		"lowerdir=/var/lib/docker/l/A:/var/lib/docker/l/B,upperdir=/var/lib/docker/u\n", nvmeDisk(gen4x4)},
	{"btrfs", "30 1 0:35 /@home / rw,noatime - btrfs /dev/nvme0n1p2 rw,compress=zstd:3,subvol=/@secret\n",
		merge(nvmeDisk(gen4x4), at("sys/class/bdi", "btrfs-1/read_ahead_kb 4096"))},
	{"btrfs over dm", "30 1 0:35 / / rw - btrfs /dev/mapper/secret rw,compress=no\n",
		merge(nvmeDisk(gen4x4), block("virtual/block/dm-0", "253:0", "slaves/nvme0n1p2"),
			files{"dev/dm-0": "", "dev/mapper/secret": "-> ../dm-0"})},
	{"btrfs over two", "30 1 0:35 / / rw - btrfs /dev/sda rw\n", merge(nvmeDisk(gen4x4), sata("6.0 Gbps"),
		at("sys/fs/btrfs", "features/raid1c34 0", "1234-SECRET/devices/nvme0n1p2", "1234-SECRET/devices/sda"))},
	{"bcachefs", "30 1 0:45 / / rw - bcachefs /dev/nvme0n1p2:/dev/sda rw,compression=lz4\n",
		merge(nvmeDisk(gen4x4), sata("6.0 Gbps"))},
	{"f2fs", "30 1 8:0 / / rw - f2fs /dev/sda rw,compress_algorithm=lz4\n", sata("6.0 Gbps")},
	{"ZFS", "30 1 0:60 / / rw - zfs secretpool/data rw,xattr\n", nil},
	{"tmpfs", "30 1 0:27 / /data rw - tmpfs tmpfs rw,size=1k\n", nil},
	{"ramfs", other + "ramfs ramfs rw\n", nil},
	{"hugetlbfs", other + "hugetlbfs x rw\n", nil},
	{"NFS", "30 1 0:70 / /data rw - nfs4 secret.example:/export " +
		"rw,vers=4.2,rsize=1048576,clientaddr=10.0.0.1,nconnect=8\n",
		at("sys/class/bdi", "0:70/read_ahead_kb 15360")},
	{"CIFS", other + "cifs //secret/x rw,username=secret,cache=strict\n", nil},
	{"Ceph", other + "ceph 10.0.0.1:/ rw,name=secret\n", nil},
	{"Lustre", other + "lustre 10.0.0.1@o2ib:/secret rw\n", nil},
	{"9p", other + "9p secret rw,trans=virtio\n", nil},
	{"virtiofs", other + "virtiofs secret rw\n", nil},
	{"sshfs", other + "fuse.sshfs secret@host: rw,user_id=1\n", nil},
	{"NTFS through FUSE", "30 1 8:0 / / rw - fuseblk /dev/sda rw\n", sata("6.0 Gbps")},
	{"proc", "30 1 0:21 / / rw - proc proc rw\n", nil},
	{"no /sys", onNVMe, nil},
	{"no /sys, LVM", "30 1 253:1 / / rw - ext4 /dev/mapper/secret rw\n", nil},
	{"no mounts", noise, nil},
	{"number alone", strings.Replace(onNVMe, "/dev/nvme0n1p2", "/dev/root", 1), nvmeDisk(gen4x4)},
	{"noise, NVMe", noise + onNVMe, noisy(nvmeDisk(gen4x4))},
	{"noise, SATA", noise + onSDA, noisy(sata("6.0 Gbps"))},
	{"noise, loop", noise + "30 1 7:0 / / rw - ext4 /dev/x rw\n", noisy(block("virtual/block/loop0", "7:0"))},
}

func TestDiskOf(t *testing.T) {
	all := map[string]results.Disk{}
	for _, c := range diskCases {
		all[c.name] = diskOf(tree(plant(t, c.files, files{"proc/self/mountinfo": c.mountinfo})), "/data/set")
	}
	checkGolden(t, "disks.json", all)
	b, err := json.Marshal(all)
	if s := strings.ToLower(string(b)); err != nil || strings.Contains(s, "secret") || strings.Contains(s, "10.0.0.1") {
		t.Errorf("a report tells too much: %s %v", s, err)
	}
}

func TestDiskOfThisMachine(t *testing.T) {
	dir := t.TempDir()
	d := DiskOf("/", dir)
	if later := DiskOf("/", dir+"/not/there/yet"); later.Name != d.Name || later.Total != d.Total {
		t.Errorf("a folder is on %+v, one to be made in it on %+v", d, later)
	}
	if d.Name == "" || d.Kind == "" || d.Cache == "" {
		t.Errorf("%+v", d)
	}
	if runtime.GOOS == "linux" && (d.FileSystem == "" || d.Total <= 0 || d.Free > d.Total) {
		t.Errorf("%+v", d)
	}
	if slices.ContainsFunc(d.Notes, func(n string) bool { return strings.Contains(n, dir) }) {
		t.Errorf("notes with paths: %q", d.Notes)
	}
}

func TestMountOf(t *testing.T) {
	const mounts = `22 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw
23 22 8:3 / /home rw shared:2 master:3 - ext4 /dev/sda3 rw
24 23 0:40 / /home/a\040b rw - btrfs /dev/sdb1 rw
25 22 0:41 / /mnt rw - tmpfs tmpfs rw
26 22 0:42 / /mnt rw - tmpfs - rw
27 26 8:5 / /var/x rw - ext4 /dev/sda5 rw
28 22 8:6 / /var rw - ext4 /dev/sda6 rw
29 22 0:43 / /empty rw - tmpfs  rw
`
	ms := parseMountInfo(noise + mounts)
	if len(ms) != 8 {
		t.Fatalf("%d mounts: %+v", len(ms), ms)
	}
	if m := ms[7]; m.source != "" || len(m.options) != 2 || ms[4].source != "-" {
		t.Errorf("mount without a source: %+v, with a dash: %+v", m, ms[4])
	}
	for _, c := range []struct{ path, point, want string }{
		{"/etc", "/", "8:2"},
		{"/", "/", "8:2"},
		{"/home", "/home", "8:3"},
		{"/homes", "/", "8:2"},
		{"/home/a b/c", "/home/a b", "0:40"},
		{"/mnt/x", "/mnt", "0:42"}, // the later mount hides the earlier one
		{"/var/x/y", "/var/x", "8:5"},
	} {
		if m, ok := mountOf(ms, c.path); !ok || m.point != c.point || m.dev != c.want {
			t.Errorf("%s: %+v %v", c.path, m, ok)
		}
	}
	if _, ok := mountOf(nil, "/"); ok {
		t.Error("found a mount among none")
	}
}

func FuzzMountInfo(f *testing.F) {
	for _, c := range diskCases {
		f.Add(c.mountinfo, "/data/set")
	}
	f.Add("30 1 0:35 / / rw - bcachefs /dev/..:/dev/.:/dev/ rw\n", "/data/set")
	f.Add(`1 1 4294967295:4294967296 / /\040 x - y`, "/data/set")
	root := plant(f, nvmeDisk(gen4x4))
	f.Fuzz(func(t *testing.T, text, path string) {
		mounts := parseMountInfo(text)
		for _, m := range mounts {
			if !strings.HasPrefix(m.point, "/") || m.fsType == "" {
				t.Errorf("%+v", m)
			}
			m.compresses()
		}
		if m, ok := mountOf(mounts, path); ok && !within(path, m.point) {
			t.Errorf("%q is not below %q", path, m.point)
		}
		write(t, root, files{"proc/self/mountinfo": text})
		d := diskOf(tree(root), "/data/set")
		uncached := d.Cache == results.CacheNotControllable
		if d.Name == "" || d.Kind == "" || d.Cache == "" || uncached != (d.CacheReason != "") {
			t.Errorf("%+v", d)
		}
		for _, o := range d.MountOptions {
			if strings.ContainsAny(o, "/\\ \n") {
				t.Errorf("option %q", o)
			}
		}
	})
}

func TestDiskStats(t *testing.T) {
	const stat = "stat   195200    39620  7919970   138205    76656   101438  9867680   102198" +
		"        0    35312   252489   110752       44  6692536    10994     8547     1091"
	root := plant(t, at("proc", "x"), block(nvme, "259:0", stat), part(nvme, "259:2", "nvme0n1p2"),
		block(ata, "8:0", "stat 1 0 2 3 0 0 0 0 6 0 4"), block("virtual/block/vda", "1:0", stat, "queue/iostats 0"),
		block("virtual/block/vdb", "1:1", "stat "+noise),
		block("virtual/block/vdc", "1:2", "stat 1 0 2 3 0 0 0 0 0 0 -4"))
	one := DiskCounters{7919970 * 512, 252489 * time.Millisecond, 0}
	for _, c := range []struct {
		name    string
		devices []string
		want    DiskCounters
		ok      bool
	}{
		{"disk", []string{"nvme0n1"}, one, true},
		{"of a partition", []string{"nvme0n1p2"}, one, true},
		{"two", []string{"nvme0n1", "sda"}, DiskCounters{7919972 * 512, 252493 * time.Millisecond, 6}, true},
		{"one missing", []string{"nvme0n1", "sdz"}, DiskCounters{}, false},
		{"none", nil, DiskCounters{}, false},
		{"no path", []string{"../../devices/" + ata, "..", "", "."}, DiskCounters{}, false},
		{"does not count", []string{"vda"}, DiskCounters{}, false},
		{"noise", []string{"vdb"}, DiskCounters{}, false},
		{"negative", []string{"vdc"}, DiskCounters{}, false},
	} {
		if have, ok := DiskStats(root, c.devices); have != c.want || ok != c.ok {
			t.Errorf("%s: %+v %v, want %+v", c.name, have, ok, c.want)
		}
	}
}

func TestDiskCountersSince(t *testing.T) {
	old := DiskCounters{1000, 4294967 * time.Second, 5}
	d := DiskCounters{9192, time.Second, 2}.Since(old) // the queue's time came around
	if d.ReadBytes != 8192 || d.QueueTime != 1296*time.Millisecond || d.InFlight != 2 {
		t.Errorf("%+v", d)
	}
}
