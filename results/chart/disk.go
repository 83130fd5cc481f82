package chart

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"dlbench/results"
)

// cacheOrder is the order in which states of the page cache are shown.
var cacheOrder = []string{results.ColdData, results.ColdAll, results.Direct, results.Warm}

// paced stands for the state of the page cache where the disk is simulated: its
// reads come from memory, at the time of the disk.
const paced = "simulated"

// diskCase is one result of suite disk. Disk is "" for the machine's own, Order for the
// usual one of the store; Cache is paced where the disk is simulated.
type diskCase struct {
	results.DiskParams
	measured
}

// diskCases gathers the results of suite disk that keep accepts and those that
// failed, by report and source in the order of the results, simulated disks after
// those measured, and each by cache and readers.
func diskCases(reports []*results.Report, keep func(*results.Result) bool) []diskCase {
	all := casesOf(reports, "disk", func(m measured) (diskCase, bool) {
		return diskCaseOf(m), m.Failed() || keep(m.Result)
	})
	type key struct {
		report int
		results.DiskParams
	}
	all = firsts(all, func(c diskCase) key { return key{c.report, c.DiskParams} })
	sources := groups(all, func(c diskCase) key { return key{c.report, c.source()} })
	for _, same := range sources {
		slices.SortStableFunc(same, func(a, b diskCase) int {
			return cmp.Or(compareIn(cacheOrder, a.Cache, b.Cache), cmp.Compare(a.Readers, b.Readers))
		})
	}
	slices.SortStableFunc(sources, func(a, b []diskCase) int {
		return cmp.Or(cmp.Compare(a[0].report, b[0].report), compareBool(a[0].Disk != "", b[0].Disk != ""))
	})
	return slices.Concat(sources...)
}

func diskCaseOf(m measured) diskCase {
	p := results.As[results.DiskParams](m.Result.Params)
	c := diskCase{measured: m}
	c.Store, c.Cache, c.Readers = clean(p.Store), clean(p.Cache), max(1, p.Readers)
	if p.Order != results.UsualOrder[p.Store] {
		c.Order = clean(p.Order)
	}
	if len(m.Result.Assumed) > 0 {
		c.Disk, c.Cache = cmp.Or(clean(p.Disk), "unnamed"), paced
	}
	return c
}

// source is what disk charts tell apart besides the cache and the readers: one store of
// one disk.
func (c diskCase) source() results.DiskParams {
	c.Cache, c.Readers = "", 0
	return c.DiskParams
}

// storeTitles are the forms of a data set in words.
var storeTitles = map[string]string{"files": "JPEG files", "tar": "tar shards", "raw": "raw samples",
	"tensor": "tensor"}

// title is the store in words, and the order of its reads where it is unusual.
func (c diskCase) title() string {
	t := results.Clip(cmp.Or(storeTitles[c.Store], c.Store, "unnamed store"), maxDevice)
	return t + results.After(", ", results.Clip(c.Order, maxDevice))
}

// name is c, without its readers and its machine, for a legend.
func (c diskCase) name() string {
	if c.Disk != "" {
		return c.title() + ", simulated disk " + results.Clip(c.Disk, maxDevice)
	}
	return c.title() + ", " + results.Clip(c.Cache, maxDevice)
}

// peaks are the rates that reading from disks is compared with.
var peaks = []struct {
	name, title string
	glyph       func(draw.Canvas, vg.Point)
}{
	{"device-link", "link of the disk", func(c draw.Canvas, p vg.Point) { star.at(c, p, 5.5*px, ink, ink) }},
	{"nvme-peak", "NVMe peak", func(c draw.Canvas, p vg.Point) { circle.at(c, p, 4*px, nil, ink) }},
	{"sata3-peak", "SATA3 peak", func(c draw.Canvas, p vg.Point) { square.at(c, p, 4*px, nil, ink) }},
	{"100MB/s", "hard disk", func(c draw.Canvas, p vg.Point) { pyramid.at(c, p, 4.5*px, nil, ink) }},
}
