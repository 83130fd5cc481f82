package host

import (
	"regexp"
	"slices"
	"strings"

	"dlbench/results"
)

// mount is one line of /proc/self/mountinfo.
type mount struct {
	dev     string // "8:2", the number of its device; "0:..." without one block device of its own
	root    string // the folder of the file system that is seen at point
	point   string
	fsType  string
	source  string   // a device node, a server's export, or any word
	options []string // of the mount, then of the file system, as written there
}

// octal undoes the escapes of /proc/self/mountinfo.
var octal = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

func readMounts(t tree) []mount { return parseMountInfo(t.text("proc/self/mountinfo")) }

// parseMountInfo reads mountinfo; lines that are not in its form are left out.
// Source: proc_pid_mountinfo(5).
//
// The parser of prometheus/procfs does not do: one line that it does not understand,
// such as that of a mount whose source is "-", loses all mounts; it leaves the escapes,
// and the order of the options is gone.
func parseMountInfo(text string) (mounts []mount) {
	for line := range strings.Lines(text) {
		// 41 31 0:38 /root /point options [tags...] - type source superoptions
		left, right, ok := strings.Cut(strings.TrimSpace(line), " - ")
		l, r := strings.Fields(left), strings.Split(right, " ") // a source may be empty
		if !ok || len(l) < 6 || len(r) < 3 || r[0] == "" || !strings.HasPrefix(l[4], "/") {
			continue
		}
		mounts = append(mounts, mount{dev: l[2], root: octal.Replace(l[3]), point: octal.Replace(l[4]), fsType: r[0],
			source: octal.Replace(r[1]), options: strings.Split(l[5]+","+r[2], ",")})
	}
	return mounts
}

// mountOf finds the mount that holds path, which is absolute and without symlinks: the
// longest mount point above it, of several mounts on that the last, which hides the others.
func mountOf(mounts []mount, path string) (best mount, found bool) {
	for _, m := range mounts {
		if within(path, m.point) && len(m.point) >= len(best.point) {
			best, found = m, true
		}
	}
	return best, found
}

// within tells whether path is dir or below it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// speedOptions are the mount options that bear on reading and its measurement: of any
// file system; btrfs, bcachefs, f2fs; NFS, CIFS, FUSE, 9p.
var speedOptions = strings.Fields(`
	ro sync dirsync noatime nodiratime lazytime strictatime dax discard nobarrier data volatile
	compress compress-force compression compress_algorithm nodatacow nodatasum autodefrag
	vers proto rsize nconnect noac fsc cache forcedirectio max_read msize trans`)

// plainValue keeps words that a user chose out of a report.
var plainValue = regexp.MustCompile(`^[a-z0-9.:_-]{0,16}$`)

// shown lists the mount's options that a report may have, each once.
func (m mount) shown() (list []string) {
	for _, o := range m.options {
		name, value, _ := strings.Cut(o, "=")
		if slices.Contains(speedOptions, name) && plainValue.MatchString(value) {
			list = results.AppendNew(list, o)
		}
	}
	return list
}

// compresses tells whether files on m are stored compressed, or may be: what
// compresses well, or is all zeros, then reads faster than its disk.
func (m mount) compresses() bool {
	if slices.Contains([]string{"zfs", "squashfs", "erofs", "cramfs"}, m.fsType) {
		return true
	}
	return slices.ContainsFunc(m.options, func(o string) bool {
		name, value, _ := strings.Cut(o, "=")
		return strings.HasPrefix(name, "compress") && value != "no" && value != "none"
	})
}

// fsClass is what a type of file system means for reading from it.
type fsClass struct {
	types  string
	kind   string // "" when the devices below decide
	reason string // why the page cache does not decide alone; "" when it does
	note   string
}

// fsClasses has the file systems that are more than files on a block device.
var fsClasses = []fsClass{
	{"tmpfs ramfs hugetlbfs devtmpfs rootfs", results.DiskMemory, "the file system is memory", ""},
	{"gpfs", results.DiskNetwork, "GPFS keeps files in its own cache (pagepool), which cannot be emptied here, nor " +
		"the servers' memory be seen", ""},
	{"nfs nfs4 cifs smb3 smbfs ceph lustre beegfs beegfs_nodev wekafs pvfs2 orangefs panfs afs", results.DiskNetwork,
		"cold is proven of this client's page cache alone: what the server has in memory cannot be seen", ""},
	{"9p drvfs vboxsf vmhgfs prl_fs virtiofs", results.DiskNetwork, "the host of this virtual machine caches",
		"a share of the host or of a sandbox"},
	{"zfs", "", "ZFS keeps files in its own cache (ARC)",
		"ZFS: what devices its pool has is not visible; compression is its default"},
	{"proc sysfs cgroup cgroup2 devpts mqueue debugfs tracefs securityfs bpf configfs efivarfs", results.DiskUnknown,
		"not a file system that stores data", ""},
	{"fuse fuseblk", results.DiskFUSE, "a program serves the files (FUSE) and may cache them", ""},
}

// classOf looks a type of file system up. fuse, fuse.sshfs and every other
// program are alike; fuseblk has a block device below the program.
func classOf(fsType string) fsClass {
	if strings.HasPrefix(fsType, "fuse.") {
		fsType = "fuse"
	}
	for _, c := range fsClasses {
		if slices.Contains(strings.Fields(c.types), fsType) {
			return c
		}
	}
	return fsClass{}
}
