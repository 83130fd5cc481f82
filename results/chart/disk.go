package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dlbench/results"
)

// cacheOrder is the order in which states of the page cache are shown.
var cacheOrder = []string{"cold-data", "cold-all", "direct", "warm"}

// compareCache orders states of the page cache; unknown ones come last, by name.
func compareCache(a, b string) int {
	rank := func(s string) int {
		if i := slices.Index(cacheOrder, s); i >= 0 {
			return i
		}
		return len(cacheOrder)
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
}

// paced stands for the state of the page cache where the disk is assumed: its
// reads come from memory, at the time of the disk.
const paced = "paced"

// source is what disk charts tell apart besides the cache and the readers: one
// store of one disk.
type source struct {
	Report int
	Disk   string // hdd, 100MB/s:8ms: an assumed disk; "" the machine's own
	Store  string
	Order  string // "" for the usual one of the store
}

// diskCase is one result of suite disk.
type diskCase struct {
	source
	Cache    string // paced where the disk is assumed
	Readers  int64
	Unproven bool
	Result   *results.Result
}

// Failed tells that the case has no numbers to read.
func (c diskCase) Failed() bool { return c.Result.Status == results.Failed }

// diskCases gathers the results of suite disk that keep accepts and those that
// failed, by report; sources in the order of the results, assumed disks after
// those measured, and each by cache and readers. Of cases that differ in other
// parameters the first counts, which is the plain one.
func diskCases(reports []*results.Report, keep func(*results.Result) bool) []diskCase {
	var all []diskCase
	for i, rep := range reports {
		var here []diskCase
		var sources []source
		for j := range rep.Results {
			r := &rep.Results[j]
			if r.Suite != "disk" || r.Status == results.Skipped || r.Status != results.Failed && !keep(r) {
				continue
			}
			c := diskCaseOf(i, r)
			if slices.ContainsFunc(here, func(o diskCase) bool {
				return o.source == c.source && o.Cache == c.Cache && o.Readers == c.Readers
			}) {
				continue
			}
			if !slices.Contains(sources, c.source) {
				sources = append(sources, c.source)
			}
			here = append(here, c)
		}
		slices.SortStableFunc(here, func(a, b diskCase) int {
			return cmp.Or(compareBool(a.Disk != "", b.Disk != ""),
				cmp.Compare(slices.Index(sources, a.source), slices.Index(sources, b.source)),
				compareCache(a.Cache, b.Cache), cmp.Compare(a.Readers, b.Readers))
		})
		all = append(all, here...)
	}
	return all
}

func diskCaseOf(report int, r *results.Result) diskCase {
	proven, ok := r.Proven()
	c := diskCase{
		source:   source{Report: report, Store: clean(r.Params.Text("store"))},
		Cache:    clean(r.Params.Text("cache")),
		Readers:  max(1, r.Params.Int("readers")),
		Unproven: ok && !proven,
		Result:   r,
	}
	// Every case has an order; a name leaves out the one that goes without saying.
	if strings.Contains(r.Name, "/order=") {
		c.Order = clean(r.Params.Text("order"))
	}
	if len(r.Assumed) > 0 {
		c.Disk, c.Cache = cmp.Or(clean(r.Params.Text("disk")), "unnamed"), paced
	}
	return c
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// storeTitles are the forms of a data set in words.
var storeTitles = map[string]string{"files": "JPEG files", "tar": "tar shards", "raw": "raw samples", "tensor": "tensor"}

// title is the store in words, and the order of its reads where it is unusual.
func (s source) title() string {
	t := results.Clip(cmp.Or(storeTitles[s.Store], s.Store, "unnamed store"), maxDevice)
	if s.Order != "" {
		t += ", " + results.Clip(s.Order, maxDevice)
	}
	return t
}

// disk names the disk if it is assumed.
func (s source) disk() string {
	if s.Disk == "" {
		return ""
	}
	return "assumed disk " + results.Clip(s.Disk, maxDevice)
}

// name is c, without its readers and its machine, for a legend.
func (c diskCase) name() string {
	return c.title() + ", " + cmp.Or(c.disk(), results.Clip(c.Cache, maxDevice))
}

// tiny is the least value that is drawn: the logarithm of its half is finite.
const tiny = 1e-30

// diskPoint is pointOf within what a logarithmic axis can show.
func diskPoint(r *results.Result, metric string) (p point, ok bool) {
	p, ok = pointOf(r, metric)
	if p.Spread.Lo < tiny {
		p.Spread, p.Range = span{}, false
	}
	return p, ok && p.Median >= tiny
}

// diskPeaks are the rates that reading from disks is held against.
var diskPeaks = []struct{ name, title string }{
	{"device-link", "link of the disk"},
	{"nvme-peak", "NVMe peak"},
	{"sata3-peak", "SATA3 peak"},
	{"100MB/s", "hard disk"},
}

// assumedWhere ends the title of a chart.
func assumedWhere(assumed, measured bool, mark string) string {
	switch {
	case assumed && measured:
		return fmt.Sprintf(", assumed disk where %s", mark)
	case assumed:
		return ", assumed disk"
	}
	return ""
}
