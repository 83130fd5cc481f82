package host

import (
	"slices"
	"strings"

	"dlbench/results"
)

// fsClass is what a type of file system means for reading from it.
type fsClass struct {
	kind   string // "" when the devices below decide
	reason string // why the page cache does not decide alone; "" when it does
	note   string
}

const (
	serverCaches = "the server and the client's own cache decide what reaches a disk"
	hostCaches   = "the host of this virtual machine caches"
	isMemory     = "the file system is memory"
	noStore      = "not a file system that stores data"
)

// fsClasses has the file systems that are more than files on a block device.
var fsClasses = map[string]fsClass{
	"tmpfs":     {results.DiskMemory, isMemory, ""},
	"ramfs":     {results.DiskMemory, isMemory, ""},
	"hugetlbfs": {results.DiskMemory, isMemory, ""},
	"devtmpfs":  {results.DiskMemory, isMemory, ""},
	"rootfs":    {results.DiskMemory, isMemory, ""},

	"nfs":    {results.DiskNetwork, serverCaches, ""},
	"nfs4":   {results.DiskNetwork, serverCaches, ""},
	"cifs":   {results.DiskNetwork, serverCaches, ""},
	"smb3":   {results.DiskNetwork, serverCaches, ""},
	"smbfs":  {results.DiskNetwork, serverCaches, ""},
	"ceph":   {results.DiskNetwork, serverCaches, ""},
	"lustre": {results.DiskNetwork, serverCaches, ""},
	"gpfs":   {results.DiskNetwork, serverCaches, ""},
	"beegfs": {results.DiskNetwork, serverCaches, ""},
	"wekafs": {results.DiskNetwork, serverCaches, ""},
	"pvfs2":  {results.DiskNetwork, serverCaches, ""},
	"afs":    {results.DiskNetwork, serverCaches, ""},
	"9p":     {results.DiskNetwork, hostCaches, "9p: a share of the host or of a sandbox"},
	"drvfs":  {results.DiskNetwork, hostCaches, "Windows files seen from WSL: slow for small files"},
	"vboxsf": {results.DiskNetwork, hostCaches, "a share of the host"},
	"vmhgfs": {results.DiskNetwork, hostCaches, "a share of the host"},
	"prl_fs": {results.DiskNetwork, hostCaches, "a share of the host"},

	"virtiofs": {results.DiskNetwork, hostCaches, "virtiofs: a share of the host"},

	"zfs": {"", "ZFS keeps files in its own cache (ARC)", "ZFS: what devices its pool has is not visible; compression is its default"},

	"proc":   {results.DiskUnknown, noStore, ""},
	"sysfs":  {results.DiskUnknown, noStore, ""},
	"cgroup": {results.DiskUnknown, noStore, ""}, "cgroup2": {results.DiskUnknown, noStore, ""},
	"devpts": {results.DiskUnknown, noStore, ""}, "mqueue": {results.DiskUnknown, noStore, ""},
	"debugfs": {results.DiskUnknown, noStore, ""}, "tracefs": {results.DiskUnknown, noStore, ""},
	"securityfs": {results.DiskUnknown, noStore, ""}, "bpf": {results.DiskUnknown, noStore, ""},
	"configfs": {results.DiskUnknown, noStore, ""}, "efivarfs": {results.DiskUnknown, noStore, ""},
}

// classOf looks a type of file system up. fuse, fuse.sshfs and every other
// program are alike; fuseblk has a block device below the program.
func classOf(fsType string) fsClass {
	if fsType == "fuse" || fsType == "fuseblk" || strings.HasPrefix(fsType, "fuse.") {
		return fsClass{results.DiskFUSE, "a program serves the files (FUSE) and may cache them", ""}
	}
	return fsClasses[fsType]
}

// packed are file systems of compressed images.
var packed = []string{"squashfs", "erofs", "cramfs"}

// compresses tells whether files on m are stored compressed, or may be: what
// compresses well, or is all zeros, then reads faster than its disk.
func (m mount) compresses() bool {
	if m.fsType == "zfs" || slices.Contains(packed, m.fsType) {
		return true
	}
	for _, name := range []string{"compress", "compress-force", "compression", "compress_algorithm"} {
		if value, ok := m.option(name); ok && value != "no" && value != "none" {
			return true
		}
	}
	return false
}
