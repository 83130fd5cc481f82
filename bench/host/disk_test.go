package host

import (
	"math"
	"path"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"dlbench/results"
)

const sysBlock = "sys/class/block"

// block makes the files of a block device: its folder below /sys/devices, whose
// last part is the name, and the links to it.
func block(dir, number string, more files) files {
	name := path.Base(dir)
	f := files{
		"sys/block/" + name:                                 "-> ../devices/" + dir,
		sysBlock + "/" + name:                               "-> ../../devices/" + dir,
		"sys/dev/block/" + number:                           "-> ../../devices/" + dir,
		"sys/devices/" + dir + "/size":                      "1000000\n",
		"sys/devices/" + dir + "/queue/read_ahead_kb":       "128\n",
		"sys/devices/" + dir + "/queue/logical_block_size":  "512\n",
		"sys/devices/" + dir + "/queue/physical_block_size": "4096\n",
		"sys/devices/" + dir + "/queue/scheduler":           "none [mq-deadline] kyber\n",
		"sys/devices/" + dir + "/queue/rotational":          "0\n",
	}
	for file, content := range more {
		f["sys/devices/"+dir+"/"+file] = content
	}
	return f
}

const (
	spins  = "queue/rotational"
	ssd    = "0000:01:00.0"
	ata    = "pci0000:00/0000:00:17.0/ata3/host2/target2:0:0/2:0:0:0/block/sda"
	sas    = "pci0000:00/0000:00:03.0/0000:02:00.0/host0/port-0:0/end_device-0:0/target0:0:0/0:0:0:0/block/sdb"
	nvme   = "pci0000:00/0000:00:01.0/0000:01:00.0/nvme/nvme0/nvme0n1"
	onNVMe = "30 1 259:2 / / rw,noatime - ext4 /dev/nvme0n1p2 rw\n"
)

func part(dir, number, name string) files {
	return files{
		sysBlock + "/" + name:                            "-> ../../devices/" + dir + "/" + name,
		"sys/dev/block/" + number:                        "-> ../../devices/" + dir + "/" + name,
		"sys/devices/" + dir + "/" + name + "/partition": "2\n",
		"sys/devices/" + dir + "/" + name + "/size":      "500\n",
	}
}

// nvmeDisk is a disk in a slot of the given link, with a partition.
func nvmeDisk(slot string) files {
	d := dev{ssd, "010802", "144d:a80a", slot, nil}
	return merge(onMetal, pci(port("0000:00:01.0", slot), d), part(nvme, "259:2", "nvme0n1p2"), block(nvme, "259:0", files{
		"device": "-> ../../nvme0", "queue/scheduler": "[none] mq-deadline\n",
	}), files{
		"sys/devices/" + path.Dir(nvme) + "/model": "Samsung SSD 980 PRO 1TB                 \n", "sys/devices/" + path.Dir(nvme) + "/transport": "pcie\n",
		"sys/devices/" + path.Dir(nvme) + "/address": ssd + "\n", "sys/devices/" + path.Dir(nvme) + "/serial": "SECRET\n",
	})
}

func sata(speed string, more files) files {
	return merge(onMetal, block(ata, "8:0", merge(files{"device/model": "WDC WD40EFRX-68N\n", "device/vendor": "ATA     \n"}, more)),
		files{"sys/class/ata_link/link3/sata_spd": speed + "\n"})
}

func TestDiskOf(t *testing.T) {
	yes, no := true, false
	const gen4x4Rate = 16e9 * 128 / 130 * 4 / 8
	for _, c := range []struct {
		name      string
		files     files
		mountinfo string
		dev       string            // st_dev of the path
		nodes     map[string]string // other paths: st_dev, or for /dev their own number
		want      results.Disk      // of it, what is not zero
		notes     []string          // parts of notes
	}{
		{"NVMe", nvmeDisk(gen4x4 + ", " + gen4x4), onNVMe, "259:2", nil, results.Disk{
			Name: "nvme0n1", Devices: []string{"nvme0n1"}, Model: "Samsung SSD 980 PRO 1TB", Kind: "nvme", Rotational: &no, Size: 512e6,
			LinkRate: gen4x4Rate, Link: "Gen4 x4", ReadAhead: 128 << 10, Scheduler: "none", LogicalBlock: 512, PhysicalBlock: 4096,
			FileSystem: "ext4", MountOptions: []string{"noatime"}, Cache: "yes"}, nil},
		{"NVMe in an old slot", nvmeDisk(gen3x4 + ", " + gen4x4), onNVMe, "259:2", nil, results.Disk{
			Name: "nvme0n1", Link: "Gen3 x4", LinkRate: 8e9 * 128 / 130 * 4 / 8, Cache: "yes"}, []string{"at Gen3 x4 now and can do Gen4 x4"}},
		{"SATA", sata("6.0 Gbps", nil), "30 1 8:0 / / rw - xfs /dev/sda rw\n", "8:0", nil, results.Disk{
			Name: "sda", Model: "WDC WD40EFRX-68N", Kind: "sata", Rotational: &no, LinkRate: 600e6, Link: "SATA 6.0 Gb/s", Cache: "yes"}, nil},
		{"hard disk", sata("3.0 Gbps", files{spins: "1\n"}), "30 1 8:0 / / rw - xfs /dev/sda rw\n", "8:0", nil, results.Disk{
			Name: "sda", Kind: "spinning", Rotational: &yes, LinkRate: 300e6, Link: "SATA 3.0 Gb/s"}, nil},
		{"SATA, speed unknown", sata("<unknown>", nil), "30 1 8:0 / / rw - xfs /dev/sda rw\n", "8:0", nil, results.Disk{
			Name: "sda", Kind: "sata", Link: "unknown"}, nil},
		{"SAS", block(sas, "8:16", files{"device/model": "PX05SMB040\n", "device/vendor": "TOSHIBA\n"}), "30 1 8:16 / / rw - xfs /dev/sdb rw\n", "8:16", nil,
			results.Disk{Name: "sdb", Model: "TOSHIBA PX05SMB040", Kind: "sas", Rotational: &no, Link: "unknown"}, nil},
		{"SATA behind SAS", block(sas, "8:16", files{"device/model": "X\n", "device/vendor": "ATA     \n"}), "30 1 8:16 / / rw - xfs /dev/sdb rw\n", "8:16", nil,
			results.Disk{Name: "sdb", Kind: "sata"}, nil},
		{"RAID controller", block("pci0000:00/0000:00:03.0/host0/target0:2:0/0:2:0:0/block/sda", "8:0", files{"device/model": "PERC H730 Mini\n", "device/vendor": "DELL\n", spins: "1\n"}),
			"30 1 8:0 / / rw - xfs /dev/sda rw\n", "8:0", nil, results.Disk{Name: "sda", Kind: "unknown"}, []string{"RAID controller"}},
		{"iSCSI", block("platform/host5/session1/target5:0:0/5:0:0:0/block/sdc", "8:32", nil), "30 1 8:32 / / rw - xfs /dev/sdc rw\n", "8:32", nil,
			results.Disk{Name: "sdc", Kind: "network"}, nil},
		{"USB", block("pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0/host6/target6:0:0/6:0:0:0/block/sdd", "8:48", files{spins: "1\n"}),
			"30 1 8:48 / / rw - exfat /dev/sdd rw\n", "8:48", nil, results.Disk{Name: "sdd", Kind: "usb"}, nil},
		{"SD card", block("platform/soc/mmc_host/mmc0/mmc0:0001/block/mmcblk0", "179:0", files{"device/name": "SN128\n"}),
			"30 1 179:0 / / rw - ext4 /dev/mmcblk0 rw\n", "179:0", nil, results.Disk{Name: "mmcblk0", Model: "SN128", Kind: "mmc", Rotational: &no}, nil},
		{"virtio", block("pci0000:00/0000:00:02.0/virtio1/block/vda", "254:0", files{spins: "1\n", "device/vendor": "0x1af4\n"}),
			"30 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard,resuid=65534\n", "254:0", nil,
			results.Disk{Name: "vda", Kind: "virtio", Scheduler: "mq-deadline", MountOptions: []string{"discard"}, Cache: "yes"}, []string{"host may cache"}},
		{"virtio-scsi", block("pci0000:00/0000:00:03.0/virtio0/host0/target0:0:1/0:0:1:0/block/sda", "8:0", files{spins: "1\n", "device/vendor": "Google\n", "device/model": "PersistentDisk\n"}),
			"30 1 8:0 / / rw - ext4 /dev/sda rw\n", "8:0", nil, results.Disk{Name: "sda", Model: "Google PersistentDisk", Kind: "virtio"}, []string{"host may cache"}},
		{"emulated SATA", sata("1.5 Gbps", files{spins: "1\n", "device/model": "QEMU HARDDISK\n"}), "30 1 8:0 / / rw - ext4 /dev/sda rw\n", "8:0", nil,
			results.Disk{Name: "sda", Kind: "virtual", Link: "unknown"}, []string{"host may cache"}},
		{"Xen", block("vbd-51712/block/xvda", "202:0", files{spins: "1\n"}), "30 1 202:0 / / rw - ext4 /dev/xvda rw\n", "202:0", nil,
			results.Disk{Name: "xvda", Kind: "xen"}, nil},
		{"NVMe over a network", merge(block("virtual/nvme-subsystem/nvme-subsys1/nvme1n1", "259:9", nil), files{
			"sys/devices/virtual/nvme-subsystem/nvme-subsys1/nvme1": "-> ../../nvme-fabrics/ctl/nvme1", "sys/devices/virtual/nvme-fabrics/ctl/nvme1/transport": "tcp\n"}),
			"30 1 259:9 / / rw - xfs /dev/nvme1n1 rw\n", "259:9", nil, results.Disk{Name: "nvme1n1", Kind: "network", Link: "unknown"}, []string{"NVMe over tcp"}},
		{"EBS", merge(nvmeDisk(gen4x4+", "+gen4x4), files{"sys/devices/" + path.Dir(nvme) + "/model": "Amazon Elastic Block Store\n"}), onNVMe, "259:2", nil,
			results.Disk{Name: "nvme0n1", Kind: "nvme", Link: "unknown"}, []string{"network volume"}},
		{"LVM over encryption", merge(nvmeDisk(gen4x4+", "+gen4x4),
			block("virtual/block/dm-0", "253:0", files{"dm/uuid": "CRYPT-LUKS2-SECRET\n", "slaves/nvme0n1p2": "-> ../../../../" + nvme + "/nvme0n1p2"}),
			block("virtual/block/dm-1", "253:1", files{"dm/uuid": "LVM-SECRET\n", "dm/name": "secret-root\n", "slaves/dm-0": "-> ../../dm-0", "queue/read_ahead_kb": "512\n"})),
			"30 1 253:1 / / rw - ext4 /dev/mapper/secret-root rw\n", "253:1", nil,
			results.Disk{Name: "nvme0n1", Devices: []string{"nvme0n1"}, Kind: "nvme", Link: "Gen4 x4", ReadAhead: 512 << 10, Scheduler: "none", Size: 512e6},
			[]string{"dm-1: LVM", "dm-0: encrypted"}},
		{"RAID 0", merge(sata("6.0 Gbps", nil), block(strings.ReplaceAll(strings.Replace(ata, "ata3", "ata4", 1), "sda", "sdb"), "8:16", nil),
			files{"sys/class/ata_link/link4/sata_spd": "6.0 Gbps\n"},
			block("virtual/block/md0", "9:0", files{"md/level": "raid0\n", "slaves/sda": "", "slaves/sdb": "", "size": "2000000\n"})),
			"30 1 9:0 / /data rw - xfs /dev/md0 rw\n", "9:0", nil,
			results.Disk{Name: "md0", Devices: []string{"sda", "sdb"}, Kind: "sata", Rotational: &no, Size: 1024e6, LinkRate: 1200e6, Link: "2 x SATA 6.0 Gb/s"},
			[]string{"software RAID, raid0"}},
		{"RAID over unlike disks", merge(sata("6.0 Gbps", files{spins: "1\n"}), nvmeDisk(gen4x4+", "+gen4x4),
			block("virtual/block/md0", "9:0", files{"md/level": "raid1\n", "slaves/sda": "", "slaves/nvme0n1p2": ""})),
			"30 1 9:0 / /data rw - xfs /dev/md0 rw\n", "9:0", nil,
			results.Disk{Name: "md0", Devices: []string{"nvme0n1", "sda"}, Kind: "unknown", Link: "Gen4 x4 + SATA 6.0 Gb/s"}, []string{"several kinds: nvme, spinning"}},
		{"dm without slaves", block("virtual/block/dm-3", "253:3", nil), "30 1 253:3 / / rw - ext4 /dev/mapper/x rw\n", "253:3", nil,
			results.Disk{Name: "dm-3", Devices: []string{"dm-3"}, Kind: "unknown"}, []string{"below dm-3 are not visible"}},
		{"dm in a circle", merge(block("virtual/block/dm-0", "253:0", files{"slaves/dm-1": ""}), block("virtual/block/dm-1", "253:1", files{"slaves/dm-0": ""})),
			"30 1 253:0 / / rw - ext4 /dev/mapper/x rw\n", "253:0", nil, results.Disk{Kind: "unknown"}, nil},
		{"loop", merge(nvmeDisk(gen4x4+", "+gen4x4), block("virtual/block/loop0", "7:0", files{"loop/backing_file": "/home/secret.img\n", "loop/dio": "0\n"})),
			onNVMe + "31 30 7:0 / /data rw - ext4 /dev/loop0 rw\n", "7:0", map[string]string{"/home/secret.img": "259:2"},
			results.Disk{Name: "loop0", Devices: []string{"nvme0n1"}, Kind: "loop", Link: "Gen4 x4", Cache: "not controllable"}, []string{"a file on nvme0n1 (ext4)"}},
		{"loop, direct, unseen", block("virtual/block/loop0", "7:0", files{"loop/backing_file": "/home/secret.img\n", "loop/dio": "1\n"}),
			"31 30 7:0 / /data rw - ext4 /dev/loop0 rw\n", "7:0", nil,
			results.Disk{Name: "loop0", Devices: []string{"loop0"}, Kind: "loop", Cache: "yes"}, []string{"disk of its file is not visible"}},
		{"overlay, seen", nvmeDisk(gen4x4 + ", " + gen4x4), onNVMe +
			"31 30 0:50 / /data rw,noatime - overlay overlay rw,lowerdir=/l,upperdir=/var/upper\\040dir,workdir=/w\n", "0:50",
			map[string]string{"/var/upper dir": "259:2"},
			results.Disk{Name: "nvme0n1", Kind: "nvme", FileSystem: "overlay", MountOptions: []string{"noatime"}, Cache: "yes"}, []string{"overlay over ext4"}},
		{"overlay in a container", nvmeDisk(gen4x4 + ", " + gen4x4), "31 30 0:50 / / rw - overlay overlay rw,lowerdir=/var/lib/docker/l/A:/var/lib/docker/l/B,upperdir=/var/lib/docker/u\n", "0:50", nil,
			results.Disk{Name: "unknown", Kind: "unknown", FileSystem: "overlay", Cache: "yes"}, []string{"not visible in this container"}},
		{"overlay over itself", nil, "31 30 0:50 / / rw - overlay overlay rw,upperdir=/data\n", "0:50", map[string]string{}, results.Disk{Name: "unknown", FileSystem: "overlay"}, nil},
		{"btrfs", merge(nvmeDisk(gen4x4+", "+gen4x4), files{"sys/class/bdi/btrfs-1/read_ahead_kb": "4096\n"}), "30 1 0:35 /@home / rw,noatime - btrfs /dev/nvme0n1p2 rw,compress=zstd:3,subvol=/@secret\n", "0:41", nil,
			results.Disk{Name: "nvme0n1", Kind: "nvme", FileSystem: "btrfs", MountOptions: []string{"noatime", "compress=zstd:3"}, Compressed: true, Cache: "yes", ReadAhead: 4 << 20}, nil},
		{"btrfs over dm", merge(nvmeDisk(gen4x4+", "+gen4x4), block("virtual/block/dm-0", "253:0", files{"slaves/nvme0n1p2": ""})),
			"30 1 0:35 / / rw - btrfs /dev/mapper/secret rw,compress=no\n", "0:35", map[string]string{"/dev/mapper/secret": "253:0"},
			results.Disk{Name: "nvme0n1", Kind: "nvme"}, nil},
		{"btrfs over two", merge(nvmeDisk(gen4x4+", "+gen4x4), sata("6.0 Gbps", nil), files{"sys/fs/btrfs/features/raid1c34": "0\n",
			"sys/fs/btrfs/1234-SECRET/devices/nvme0n1p2": "", "sys/fs/btrfs/1234-SECRET/devices/sda": ""}),
			"30 1 0:35 / / rw - btrfs /dev/sda rw\n", "0:35", nil,
			results.Disk{Devices: []string{"nvme0n1", "sda"}, Kind: "unknown", Size: 1024e6}, []string{"on 2 devices"}},
		{"bcachefs", merge(nvmeDisk(gen4x4+", "+gen4x4), sata("6.0 Gbps", nil)),
			"30 1 0:45 / / rw - bcachefs /dev/nvme0n1p2:/dev/sda rw,compression=lz4\n", "0:45", nil,
			results.Disk{Devices: []string{"nvme0n1", "sda"}, Compressed: true}, []string{"on 2 devices"}},
		{"f2fs", sata("6.0 Gbps", nil), "30 1 8:0 / / rw - f2fs /dev/sda rw,compress_algorithm=lz4\n", "8:0", nil, results.Disk{Name: "sda", Compressed: true}, nil},
		{"ZFS", nil, "30 1 0:60 / / rw - zfs secretpool/data rw,xattr\n", "0:60", nil,
			results.Disk{Name: "unknown", Kind: "unknown", FileSystem: "zfs", Compressed: true, Cache: "not controllable"}, []string{"ZFS"}},
		{"tmpfs", nil, "30 1 0:27 / /data rw - tmpfs tmpfs rw,size=1k\n", "0:27", nil,
			results.Disk{Name: "none", Kind: "memory", FileSystem: "tmpfs", Cache: "not controllable", CacheReason: "the file system is memory"}, nil},
		{"ramfs", nil, "30 1 0:27 / / rw - ramfs ramfs rw\n", "0:27", nil, results.Disk{Kind: "memory"}, nil},
		{"hugetlbfs", nil, "30 1 0:27 / / rw - hugetlbfs x rw\n", "0:27", nil, results.Disk{Kind: "memory"}, nil},
		{"NFS", files{"sys/class/bdi/0:70/read_ahead_kb": "15360\n"}, "30 1 0:70 / /data rw - nfs4 secret.example:/export rw,vers=4.2,rsize=1048576,clientaddr=10.0.0.1,nconnect=8\n", "0:70", nil,
			results.Disk{Name: "none", Kind: "network", FileSystem: "nfs4", MountOptions: []string{"vers=4.2", "rsize=1048576", "nconnect=8"}, Cache: "not controllable", ReadAhead: 15 << 20}, nil},
		{"CIFS", nil, "30 1 0:70 / / rw - cifs //secret/x rw,username=secret,cache=strict\n", "0:70", nil, results.Disk{Kind: "network", MountOptions: []string{"cache=strict"}}, nil},
		{"Ceph", nil, "30 1 0:70 / / rw - ceph 10.0.0.1:/ rw,name=secret\n", "0:70", nil, results.Disk{Kind: "network"}, nil},
		{"Lustre", nil, "30 1 0:70 / / rw - lustre 10.0.0.1@o2ib:/secret rw\n", "0:70", nil, results.Disk{Kind: "network"}, nil},
		{"9p", nil, "30 1 0:70 / / rw - 9p secret rw,trans=virtio\n", "0:70", nil, results.Disk{Kind: "network", Cache: "not controllable"}, []string{"share of the host"}},
		{"virtiofs", nil, "30 1 0:70 / / rw - virtiofs secret rw\n", "0:70", nil, results.Disk{Kind: "network", Cache: "not controllable"}, []string{"share of the host"}},
		{"sshfs", nil, "30 1 0:70 / / rw - fuse.sshfs secret@host: rw,user_id=1\n", "0:70", nil, results.Disk{Name: "none", Kind: "fuse", Cache: "not controllable"}, nil},
		{"NTFS through FUSE", sata("6.0 Gbps", nil), "30 1 8:0 / / rw - fuseblk /dev/sda rw\n", "8:0", nil,
			results.Disk{Name: "sda", Devices: []string{"sda"}, Kind: "fuse", Cache: "not controllable"}, nil},
		{"proc", nil, "30 1 0:21 / / rw - proc proc rw\n", "0:21", nil, results.Disk{Name: "none", Kind: "unknown", Cache: "not controllable"}, nil},
		{"no /sys", nil, onNVMe, "259:2", nil, results.Disk{Name: "nvme0n1p2", Kind: "unknown", FileSystem: "ext4", Cache: "yes"}, []string{"not visible in /sys"}},
		{"no /sys, LVM", nil, "30 1 253:1 / / rw - ext4 /dev/mapper/secret rw\n", "253:1", nil, results.Disk{Name: "unknown", Kind: "unknown"}, []string{"not visible in /sys"}},
		{"no mounts", nil, noise, "259:2", nil, results.Disk{Name: "unknown", Kind: "unknown", Cache: "unknown"}, []string{"cannot be found"}},
		{"stat fails", nvmeDisk(gen4x4 + ", " + gen4x4), strings.Replace(onNVMe, "/dev/nvme0n1p2", "/dev/root", 1), "", nil, results.Disk{Name: "nvme0n1"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := view{tree(plant(t, c.files)), parseMountInfo(c.mountinfo), fakeNumbers(c.dev, c.nodes)}
			have := v.diskOf("/data/set", 0)
			same(t, have, c.want)
			if believable := slices.Contains([]string{"nvme", "sata", "sas", "spinning", "mmc", "fuse", "loop"}, have.Kind); !believable && len(have.Devices) < 2 && have.Rotational != nil {
				t.Errorf("kind %s, and yet rotational is %v", have.Kind, *have.Rotational)
			}
			if have.Compressed != c.want.Compressed {
				t.Errorf("compressed: %v", have.Compressed)
			}
			all := strings.Join(have.Notes, "\n")
			for _, want := range c.notes {
				if !strings.Contains(all, want) {
					t.Errorf("notes %q lack %q", have.Notes, want)
				}
			}
			if s := strings.ToLower(printed(have)); strings.Contains(s, "secret") || strings.Contains(s, "10.0.0.1") {
				t.Errorf("the report tells too much: %s", s)
			}
		})
	}
}

// Disks that differ in whether they rotate leave that unknown.
func TestCombine(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		disks []*bool
		want  *bool
	}{
		{[]*bool{&yes}, &yes}, {[]*bool{nil}, nil}, {[]*bool{&no, &no}, &no},
		{[]*bool{&yes, &no}, nil}, {[]*bool{&yes, &no, &yes}, nil}, {[]*bool{nil, &no}, nil}, {[]*bool{&yes, nil}, nil},
	} {
		var leaves []results.Disk
		for _, r := range c.disks {
			leaves = append(leaves, results.Disk{Kind: results.DiskUnknown, Link: "unknown", Rotational: r})
		}
		var d results.Disk
		combine(&d, leaves)
		if !reflect.DeepEqual(d.Rotational, c.want) {
			t.Errorf("%d disks: %v, want %v", len(leaves), d.Rotational, c.want)
		}
	}
}

// fakeNumbers is stat(2) of a path below /data, and of nodes.
func fakeNumbers(dev string, nodes map[string]string) func(string) (on, is string) {
	return func(p string) (on, is string) {
		number, ok := nodes[p]
		if !ok && strings.HasPrefix(p, "/data") {
			number = dev
		}
		if strings.HasPrefix(p, "/dev/") {
			return "0:5", number
		}
		return number, ""
	}
}

// same compares the fields that want has.
func same(t *testing.T, have, want results.Disk) {
	t.Helper()
	h, w := reflect.ValueOf(have), reflect.ValueOf(want)
	for i := range w.NumField() {
		if f, ok := w.Field(i).Interface().(float64); ok && math.Abs(f-h.Field(i).Float()) <= 1e-9*f {
			continue
		}
		if !w.Field(i).IsZero() && !reflect.DeepEqual(h.Field(i).Interface(), w.Field(i).Interface()) {
			t.Errorf("%s: %v, want %v", w.Type().Field(i).Name, reflect.Indirect(h.Field(i)), reflect.Indirect(w.Field(i)))
		}
	}
}

// Every file of /sys, full of noise: nothing is known, nothing breaks.
func TestDiskOfNoise(t *testing.T) {
	all := merge(nvmeDisk(gen4x4+", "+gen4x4), sata("6.0 Gbps", nil), block("virtual/block/loop0", "7:0", files{"loop/backing_file": "/data/x", "loop/dio": "0"}))
	for name, content := range all {
		if !strings.HasPrefix(content, "-> ") {
			all[name] = noise
		}
	}
	root := plant(t, all)
	for _, number := range []string{"259:2", "8:0", "7:0"} {
		v := view{tree(root), parseMountInfo(noise + "30 1 " + number + " / / rw - ext4 /dev/x rw\n"), fakeNumbers(number, nil)}
		d := v.diskOf("/data", 0)
		if d.Size != 0 || d.LinkRate != 0 || d.Rotational != nil || d.ReadAhead != 0 || strings.ContainsAny(d.Model+d.Scheduler, "\x00\xff\n") {
			t.Errorf("%s: %+v", number, d)
		}
	}
}

func TestDiskOfThisMachine(t *testing.T) {
	dir := t.TempDir()
	list := Disks("/", dir, dir+"/not/there/yet", dir)
	if len(list) != 1 {
		t.Fatalf("one disk, described as %+v", list)
	}
	d := list[0]
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
