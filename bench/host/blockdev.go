package host

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/procfs/blockdevice"

	"dlbench/bench/theory"
	"dlbench/results"
)

// blockDev is the folder of a block device in /sys, all symlinks followed, in which
// those of its bus are above it. Its base is the device's name.
type blockDev struct{ tree }

// Links to block devices, by their number, "259:2", and by their name, "nvme0n1p2".
const (
	byNumber = "sys/dev/block/"
	byName   = "sys/class/block/"
)

// block follows a link into /sys/devices, and goes from a partition up to its disk.
func (t tree) block(folder, name string) (blockDev, bool) {
	dir, err := filepath.EvalSymlinks(t.path(folder + name))
	if err != nil || strings.Trim(name, ".") == "" {
		return blockDev{}, false
	}
	if tree(dir).exists("partition") {
		dir = filepath.Dir(dir)
	}
	return blockDev{tree(dir)}, true
}

// size in bytes: the file counts sectors of 512 bytes on every device.
func (b blockDev) size() int64 { return b.positive("size") * 512 }

// maxStack bounds how many devices may lie over each other: a tree that is no machine's
// may have loops.
const maxStack = 8

// leaves adds the disks at the bottom of a device to those that are found already:
// through dm (LVM, encryption, multipath) and md, whose parts are their slaves. A device
// without slaves is its own leaf. What was found on the way is noted.
func (b blockDev) leaves(t tree, found []blockDev, notes *[]string, depth int) []blockDev {
	if text := b.stacked(); text != "" {
		*notes = results.AppendNew(*notes, text)
	}
	leaf := true
	for _, name := range b.names("slaves") {
		if s, ok := t.block(byName, name); ok && depth < maxStack {
			found, leaf = s.leaves(t, found, notes, depth+1), false
		}
	}
	if leaf {
		found = results.AppendNew(found, b)
	}
	return found
}

// stacks are what device mapper's volumes make of the devices below them, by the
// beginning of their UUID.
var stacks = map[string]string{
	"LVM":   ": LVM volume",
	"CRYPT": ": encrypted, decryption takes CPU time",
	"mpath": ": multipath",
}

// stacked says what a device makes of those below it; "" for a plain disk. The
// volume's name is the user's and left out.
func (b blockDev) stacked() string {
	if level := printable(b.text("md/level")); level != "" {
		return b.base() + ": software RAID, " + level
	}
	kind, _, _ := strings.Cut(b.text("dm/uuid"), "-")
	return results.After(b.base(), stacks[kind])
}

const guestDisk = "what is behind the virtual disk is unknown, and its host may cache: a second pass can be faster"

// kindRules tell a disk's kind by its folder below /sys/devices, which ends in its name,
// and its model on the line after that; the first that fits holds. What hypervisors and
// RAID controllers show does not tell what is behind.
var kindRules = []struct{ form, kind, note string }{
	{`/vd[^/]+\n`, results.DiskVirtio, guestDisk},
	{`/xvd[^/]+\n`, results.DiskXen, guestDisk},
	{`/loop[^/]+\n`, results.DiskLoop, "a file, on a disk that is not looked for"},
	{`/mmcblk[^/]+\n`, results.DiskMMC, ""},
	{`/(nbd|rbd|drbd)[^/]+\n`, results.DiskNetwork, ""},
	{`/(zram|ram|pmem)[^/]+\n`, results.DiskMemory, ""},
	{`/(dm-|md)[^/]+\n`, results.DiskUnknown, "the devices below it are not visible"},
	{`/nvme[0-9]+n[0-9]+\n`, results.DiskNVMe, ""},
	{`/virtio.*/`, results.DiskVirtio, guestDisk},
	{`\n.*(QEMU|VBOX|VMware|Msft|Virtual Disk|PersistentDisk|Xen|BHYVE|Parallels)`, results.DiskVirtual, guestDisk},
	{`/(session[0-9]+|rport-[^/]*)/`, results.DiskNetwork, ""}, // iSCSI, Fibre Channel
	{`\n.*(PERC|LOGICAL VOLUME|Logical Drive|RAID|MR9|MegaR)`, results.DiskUnknown,
		"a RAID controller's volume, which does not tell what disks it is made of"},
	{`/usb[0-9]+/`, results.DiskUSB, ""},
	{`/ata[0-9]+/`, results.DiskSATA, ""},
	{`/end_device-`, results.DiskSAS, ""},
	{``, results.DiskUnknown, ""},
}

var (
	ataPort       = regexp.MustCompile(`/ata([0-9]+)/`)
	networkModels = regexp.MustCompile(`Amazon Elastic Block Store|nvme_card-pd|MSFT NVMe Accelerator`)
)

// readDisk describes a whole disk: what a single device says of itself.
func readDisk(t tree, b blockDev) results.Disk {
	d := results.Disk{Name: b.base(), Model: b.model(), Link: results.Unknown, Scheduler: b.chosen("queue/scheduler")}
	note := func(text string) { d.Notes = append(d.Notes, d.Name+": "+text) }
	_, folder, _ := strings.Cut(filepath.ToSlash(string(b.tree)), "/sys/devices")
	for _, rule := range kindRules {
		if regexp.MustCompile(rule.form).MatchString(folder + "\n" + d.Model) {
			d.Kind = rule.kind
			if rule.note != "" {
				note(rule.note)
			}
			break
		}
	}
	switch d.Kind {
	case results.DiskNVMe:
		b.nvmeLink(t, &d, note)
	case results.DiskSATA:
		sataLink(t, ataPort.FindStringSubmatch(folder)[1], &d)
	case results.DiskSAS:
		if strings.HasPrefix(b.text("device/vendor"), "ATA") {
			d.Kind = results.DiskSATA
		}
	}
	if networkModels.MatchString(d.Model) {
		note("a network volume; burst credits and the first touch of blocks from a snapshot change its speed")
		d.Link, d.LinkRate = results.Unknown, 0
	}
	if (d.Kind == results.DiskSATA || d.Kind == results.DiskSAS) && b.text("queue/rotational") == "1" {
		d.Kind = results.DiskSpinning
	}
	return d
}

// model of a disk, "" if it does not say. SCSI disks have a vendor of their own;
// ATA disks have "ATA" there, virtio the number of its maker.
func (b blockDev) model() string {
	model, vendor := printable(b.text("device/model")), printable(b.text("device/vendor"))
	switch {
	case model == "":
		return printable(b.text("device/name")) // SD cards
	case vendor == "ATA", vendor == "NVMe", strings.HasPrefix(vendor, "0x"), strings.HasPrefix(model, vendor):
		return model
	}
	return printable(vendor + " " + model)
}

// sataRates are bytes a second after 8b/10b coding, by sata_spd of an ata_link.
var sataRates = map[string]float64{"1.5 Gbps": 150e6, "3.0 Gbps": 300e6, "6.0 Gbps": 600e6}

// sataLink reads the speed that the port has agreed on. Link N belongs to port
// ataN; behind a port multiplier it is the host's side.
func sataLink(t tree, port string, d *results.Disk) {
	speed := t.text("sys/class/ata_link/link" + port + "/sata_spd")
	if rate := sataRates[speed]; rate > 0 {
		d.Link, d.LinkRate = "SATA "+speed[:3]+" Gb/s", rate
	}
}

// nvmeLink takes the narrowest hop between an NVMe disk's controller and its root port.
// The disk's parent is the controller, or the subsystem with links to several of them
// (multipath), of which the first will do.
func (b blockDev) nvmeLink(t tree, d *results.Disk, note func(string)) {
	c := tree(filepath.Dir(string(b.tree)))
	if below, _ := filepath.Glob(c.path("nvme*/transport")); len(below) > 0 {
		c = tree(filepath.Dir(below[0]))
	}
	transport := printable(c.text("transport"))
	if slices.Contains([]string{"tcp", "rdma", "fc", "loop"}, transport) {
		d.Kind = results.DiskNetwork
		note("NVMe over " + transport)
		return
	}
	l := NewLinkReader(string(t), c.text("address")).Read()
	now, ok := theory.LinkOf(l.GTs, l.Width)
	if !ok || l.State != results.LinkKnown {
		return
	}
	d.Link, d.LinkRate = now.Title(), now.LineRate()
	if most, _ := theory.LinkOf(l.MaxGTs, l.MaxWidth); most.LineRate() > d.LinkRate {
		note(fmt.Sprintf("its link is at %s now and can do %s", d.Link, most.Title()))
	}
}

// DiskCounters are what block devices have done since they were there, by
// themselves or summed. Requests in flight count once they are done.
type DiskCounters struct {
	ReadBytes int64
	QueueTime time.Duration // sum over requests of how long each was in the queue
	InFlight  int64         // requests that are not done, when this was read
}

// DiskStats sums the counters of devices, as results.Disk.Devices names them;
// other processes' requests count as well. ok is false unless every device can be
// seen and counts. Source: Documentation/block/stat.rst of Linux: fields 3 (of 512
// bytes), 9 and 11 (milliseconds).
func DiskStats(root string, devices []string) (s DiskCounters, ok bool) {
	t := tree(root)
	fs, err := blockdevice.NewFS(t.path("proc"), t.path("sys"))
	for _, name := range devices {
		b, found := t.block(byName, name)
		if err != nil || !found || b.text("queue/iostats") == "0" {
			return DiskCounters{}, false
		}
		n, fields, err := fs.SysBlockDeviceStat(b.base())
		if err != nil || fields < 11 {
			return DiskCounters{}, false
		}
		s.ReadBytes += int64(n.ReadSectors) * 512
		s.QueueTime += time.Duration(n.WeightedIOTicks) * time.Millisecond
		s.InFlight += int64(n.IOsInProgress)
	}
	return s, len(devices) > 0
}

// Since returns what was done between an older reading and this one. The kernel prints
// 32 bits of milliseconds, which come around after 50 days of waiting.
func (s DiskCounters) Since(old DiskCounters) DiskCounters {
	d := DiskCounters{s.ReadBytes - old.ReadBytes, s.QueueTime - old.QueueTime, s.InFlight}
	for d.QueueTime < 0 {
		d.QueueTime += 1 << 32 * time.Millisecond
	}
	return d
}
