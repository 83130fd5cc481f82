package chart

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"dlbench/results"
)

// cacheOrder is the order in which states of the page cache are shown.
var cacheOrder = []string{"cold-data", "cold-all", "direct", "warm"}

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
	measured
}

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
				compareIn(cacheOrder, a.Cache, b.Cache), cmp.Compare(a.Readers, b.Readers))
		})
		all = append(all, here...)
	}
	return all
}

func diskCaseOf(report int, r *results.Result) diskCase {
	p := results.As[results.DiskParams](r.Params)
	proven, ok := r.Proven()
	c := diskCase{
		source:   source{Report: report, Store: clean(p.Store)},
		Cache:    clean(p.Cache),
		Readers:  int64(max(1, p.Readers)),
		Unproven: ok && !proven,
		measured: measured{r},
	}
	// Every case has an order; a name leaves out the one that goes without saying.
	if strings.Contains(r.Name, "/order=") {
		c.Order = clean(p.Order)
	}
	if len(r.Assumed) > 0 {
		c.Disk, c.Cache = cmp.Or(clean(p.Disk), "unnamed"), paced
	}
	return c
}

// storeTitles are the forms of a data set in words.
var storeTitles = map[string]string{"files": "JPEG files", "tar": "tar shards", "raw": "raw samples",
	"tensor": "tensor"}

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

// peaks are the rates that reading from disks is compared with.
var peaks = []struct {
	name, title string
	glyph       func(draw.Canvas, vg.Point)
}{
	{"device-link", "link of the disk", func(c draw.Canvas, p vg.Point) { star.at(c, p, 5.5*px, ink, ink) }},
	{"nvme-peak", "NVMe peak", func(c draw.Canvas, p vg.Point) { circle.at(c, p, 4*px, paper, ink) }},
	{"sata3-peak", "SATA3 peak", func(c draw.Canvas, p vg.Point) { square.at(c, p, 4*px, paper, ink) }},
	{"100MB/s", "hard disk", func(c draw.Canvas, p vg.Point) { pyramid.at(c, p, 4.5*px, paper, ink) }},
}

// batchBytes is what the case reads for a batch: the time of one times the
// bandwidth, to three digits, as medians of both are not of one sample. What comes
// out as the run's own batch is that.
func batchBytes(rep *results.Report, r *results.Result) int64 {
	t, ok := pointOf(r, "time")
	rate, both := pointOf(r, "bandwidth")
	n := t.Median * rate.Median
	if !ok || !both || n < 1 || n > 1e18 {
		return 0
	}
	if b, ok := batchOf(rep, rep.Config.DType); ok && math.Abs(n/float64(b.Bytes())-1) < 0.002 {
		return b.Bytes()
	}
	unit := math.Pow10(max(0, int(math.Floor(math.Log10(n)))-2))
	return int64(math.Round(n/unit) * unit)
}

// diskCurve is a line of cases of one source and state of the page cache: colour and
// marker by source, dashes by cache.
func diskCurve(c diskCase, name string, source int) curve {
	s := series{source, c.Disk != ""}
	return curve{Name: name, series: s, style: s.styled(cacheDashes[c.Cache])}
}

// cacheDashes are the line patterns of the states of the page cache; cold-data is
// solid.
var cacheDashes = map[string][]vg.Length{"cold-all": dashes[1], "direct": dashes[2], paced: dashes[3],
	"warm": dashes[4]}

// sourcesOf lists the sources of cases in their order.
func sourcesOf(cases []diskCase) []source {
	var all []source
	for _, c := range cases {
		all = results.AppendNew(all, c.source)
	}
	return all
}

// alikeCases sorts cases by their source, whatever their machine.
func alikeCases(cases []diskCase) [][]diskCase {
	var all [][]diskCase
	for _, c := range cases {
		same := findOrAdd(&all, nil, func(o []diskCase) bool {
			s := o[0].source
			s.Report = c.Report
			return s == c.source
		})
		*same = append(*same, c)
	}
	return all
}

// what names the source of c and the state of the page cache.
func (c diskCase) what(cache string) string {
	c.Cache = cache
	return c.name()
}

// cachesOf lists the states of the page cache of cases.
func cachesOf(cases []diskCase) []string {
	var all []string
	for _, c := range cases {
		all = results.AppendNew(all, c.Cache)
	}
	slices.SortFunc(all, func(a, b string) int { return compareIn(cacheOrder, a, b) })
	return all
}
