package host

import (
	"fmt"
	"slices"
	"strings"

	"dlbench/results"
)

// devices fills in what the block devices below a file system say.
func (v view) devices(d *results.Disk, tops []blockDev, depth int) {
	var leaves []disk
	for _, top := range tops {
		below, notes := top.leaves(v.tree, 0)
		d.Notes = append(d.Notes, notes...)
		for _, b := range below {
			if !slices.ContainsFunc(leaves, func(l disk) bool { return l.name == b.name }) {
				leaves = append(leaves, readDisk(v.tree, b))
			}
		}
	}
	top := tops[0]
	d.ReadAhead = kilobytes(top.number("queue/read_ahead_kb"))
	d.LogicalBlock, d.PhysicalBlock = top.number("queue/logical_block_size"), top.number("queue/physical_block_size")
	d.Size = top.size()
	d.Name = top.name
	if len(leaves) == 1 {
		d.Name, d.Size = leaves[0].name, leaves[0].size()
	} else if len(tops) > 1 {
		d.Size = 0
		for _, t := range tops {
			d.Size += t.size()
		}
		d.Notes = append(d.Notes, fmt.Sprintf("the file system is on %d devices", len(tops)))
	}
	combine(d, leaves)
	if leaves[0].kind == results.DiskLoop && len(leaves) == 1 {
		v.loop(d, leaves[0], depth)
	}
}

// combine puts together what the disks below a file system say: what they agree
// on, and the sum of their links, which bounds reads that go to all of them.
func combine(d *results.Disk, leaves []disk) {
	var models, kinds, links, schedulers []string
	d.Rotational, d.LinkRate = leaves[0].rotational, 0
	for _, l := range leaves {
		d.Devices = append(d.Devices, l.name)
		models, kinds, links = added(models, l.model), added(kinds, l.kind), added(links, l.link)
		schedulers = added(schedulers, l.scheduler())
		d.Notes = append(d.Notes, l.notes...)
		d.LinkRate += l.linkRate
		if l.rotational == nil || d.Rotational == nil || *l.rotational != *d.Rotational {
			d.Rotational = nil
		}
	}
	d.Model = strings.Join(models, ", ")
	d.Scheduler = strings.Join(schedulers, ", ")
	d.Kind = kinds[0]
	if len(kinds) > 1 {
		d.Kind = results.DiskUnknown
		d.Notes = append(d.Notes, "devices of several kinds: "+strings.Join(kinds, ", "))
	}
	switch {
	case slices.Contains(links, "unknown"):
		d.Link, d.LinkRate = "unknown", 0
	case len(leaves) > 1 && len(links) == 1:
		d.Link = fmt.Sprintf("%d x %s", len(leaves), links[0])
	default:
		d.Link = strings.Join(links, " + ")
	}
}

// added appends a word that is not there yet.
func added(list []string, word string) []string {
	if word == "" || slices.Contains(list, word) {
		return list
	}
	return append(list, word)
}

// loop follows a loop device to the disk of the file that it serves, where that
// can be seen. Unless it reads the file directly, the file's pages are cached as
// well, where dropping those of the device does not reach.
func (v view) loop(d *results.Disk, l disk, depth int) {
	if l.dir.text("loop/dio") != "1" {
		d.Cache, d.CacheReason = results.CacheNotControllable, l.name+" reads its file through a page cache of its own"
	}
	file := l.dir.text("loop/backing_file")
	if _, _, ok := v.numbers(file); !ok || !strings.HasPrefix(file, "/") || depth >= maxStack {
		d.Notes = append(d.Notes, l.name+": the disk of its file is not visible")
		return
	}
	below := v.diskOf(file, depth+1)
	if len(below.Devices) > 0 {
		d.Devices = below.Devices
	}
	d.Model, d.Rotational = below.Model, below.Rotational
	d.Link, d.LinkRate = below.Link, below.LinkRate
	d.Notes = append(d.Notes, fmt.Sprintf("%s: a file on %s (%s)", l.name, below.Name, below.FileSystem))
	for _, n := range below.Notes {
		d.Notes = added(d.Notes, n)
	}
}
