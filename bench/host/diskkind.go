package host

import (
	"regexp"
	"slices"
	"strings"

	"dlbench/results"
)

// The forms of folders on the way down to a device of /sys, and what they say.
var (
	ataPort   = regexp.MustCompile(`^ata([0-9]+)$`)
	sasDevice = regexp.MustCompile(`^end_device-`)
	remote    = regexp.MustCompile(`^(session[0-9]+|rport-.*)$`) // iSCSI, Fibre Channel
	usbBus    = regexp.MustCompile(`^usb[0-9]+$`)
	nvmeName  = regexp.MustCompile(`^nvme[0-9]+n[0-9]+$`)
)

// kindsByName are devices whose name tells their kind.
var kindsByName = []struct{ prefix, kind string }{
	{"vd", results.DiskVirtio}, {"xvd", results.DiskXen}, {"loop", results.DiskLoop}, {"mmcblk", results.DiskMMC},
	{"nbd", results.DiskNetwork}, {"rbd", results.DiskNetwork}, {"drbd", results.DiskNetwork},
	{"zram", results.DiskMemory}, {"ram", results.DiskMemory}, {"pmem", results.DiskMemory},
	{"dm-", results.DiskUnknown}, {"md", results.DiskUnknown}, // whose parts are not visible
}

// virtualModels are words of models that hypervisors give their disks, and RAID
// volumes of controllers: neither tells what is behind.
var (
	virtualModels = []string{"QEMU", "VBOX", "VMware", "Msft", "Virtual Disk", "PersistentDisk", "Xen", "BHYVE", "Parallels"}
	raidModels    = []string{"PERC", "LOGICAL VOLUME", "Logical Drive", "RAID", "MR9", "MegaR"}
	networkModels = []string{"Amazon Elastic Block Store", "nvme_card-pd", "MSFT NVMe Accelerator"}
)

// disk is what a single device says of itself.
type disk struct {
	blockDev
	kind, model string
	rotational  *bool
	link        string // "unknown" if so
	linkRate    float64
	notes       []string
}

func contains(s string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

// readDisk describes a whole disk.
func readDisk(t tree, b blockDev) disk {
	d := disk{blockDev: b, kind: results.DiskUnknown, model: b.model(), link: "unknown"}
	rotates, rotKnown := b.dir.number("queue/rotational")
	way := b.way(t)
	on := func(form *regexp.Regexp) bool { return slices.ContainsFunc(way, form.MatchString) }
	virtio := slices.ContainsFunc(way, func(s string) bool { return strings.HasPrefix(s, "virtio") })
	believed := true // the device's word on whether it rotates

	for _, k := range kindsByName {
		if rest, ok := strings.CutPrefix(b.name, k.prefix); ok && rest != "" {
			d.kind, believed = k.kind, k.kind == results.DiskMMC
			break
		}
	}
	switch {
	case d.kind != results.DiskUnknown:
	case nvmeName.MatchString(b.name):
		d.kind = results.DiskNVMe
		b.nvmeLink(t, &d)
		believed = d.kind == results.DiskNVMe // and not behind a network
	case virtio:
		d.kind, believed = results.DiskVirtio, false
	case contains(d.model, virtualModels):
		d.kind, believed = results.DiskVirtual, false
	case on(remote):
		d.kind, believed = results.DiskNetwork, false
	case contains(d.model, raidModels):
		believed = false
		d.notes = append(d.notes, b.name+": a RAID controller's volume, which does not tell what disks it is made of")
	case on(usbBus):
		d.kind, believed = results.DiskUSB, rotKnown && rotates == 0 // bridges say 1 of anything
	case on(ataPort):
		d.kind = results.DiskSATA
		b.sataLink(t, way, &d)
	case on(sasDevice):
		d.kind = results.DiskSAS
		if strings.HasPrefix(b.dir.text("device/vendor"), "ATA") {
			d.kind = results.DiskSATA
		}
	}
	if contains(d.model, networkModels) {
		d.notes = append(d.notes, b.name+": a network volume; burst credits and the first touch of blocks from a snapshot change its speed")
		d.link, d.linkRate = "unknown", 0
	}
	if believed && rotKnown && rotates >= 0 && rotates <= 1 {
		spins := rotates == 1
		d.rotational = &spins
		if spins && (d.kind == results.DiskSATA || d.kind == results.DiskSAS || d.kind == results.DiskUnknown) {
			d.kind = results.DiskSpinning
		}
	}
	switch d.kind {
	case results.DiskVirtio, results.DiskXen, results.DiskVirtual:
		d.notes = append(d.notes, b.name+": what is behind the virtual disk is unknown, and its host may cache: a second pass can be faster")
	}
	return d
}

// way lists the folders from /sys down to the device.
func (b blockDev) way(t tree) []string {
	dir := strings.ReplaceAll(string(b.dir), "\\", "/")
	if i := strings.LastIndex(dir, "/sys/"); i >= 0 {
		dir = dir[i:]
	}
	return strings.Split(dir, "/")
}

// model of a disk, "" if it does not say. SCSI disks have a vendor of their own;
// ATA disks have "ATA" there, virtio the number of its maker.
func (b blockDev) model() string {
	model := printable(b.dir.text("device/model"))
	if model == "" {
		return printable(b.dir.text("device/name")) // SD cards
	}
	vendor := printable(b.dir.text("device/vendor"))
	if vendor == "" || vendor == "ATA" || vendor == "NVMe" || strings.HasPrefix(vendor, "0x") || strings.HasPrefix(model, vendor) {
		return model
	}
	return printable(vendor + " " + model)
}
