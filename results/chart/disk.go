package chart

import (
	"cmp"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"dlbench/results"
)

// cacheOrder is the order in which states of the page cache are shown.
var cacheOrder = []string{results.ColdData, results.ColdAll, results.Direct, results.Warm}

// paced stands for the state of the page cache where the disk is assumed: its
// reads come from memory, at the time of the disk.
const paced = "paced"

// diskCase is one result of suite disk. Disk is "" for the machine's own, Order for the
// usual one of the store; Cache is paced where the disk is assumed.
type diskCase struct {
	results.DiskParams
	measured
}

// diskCases gathers the results of suite disk that keep accepts and those that
// failed, by report and source in the order of the results, assumed disks after
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

func cacheOf(c diskCase) string { return c.Cache }

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
		return c.title() + ", assumed disk " + results.Clip(c.Disk, maxDevice)
	}
	return c.title() + ", " + results.Clip(c.Cache, maxDevice)
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
var cacheDashes = map[string][]vg.Length{results.ColdAll: dashes[1], results.Direct: dashes[2], paced: dashes[3],
	results.Warm: dashes[4]}

// cacheTexts say what was measured in each state of the page cache.
var cacheTexts = map[string]string{
	results.ColdData: "evicted from the page cache",
	results.ColdAll:  "all caches dropped",
	results.Direct:   "past the page cache",
	results.Warm:     "from the page cache, in memory",
	paced:            "reads from memory at the time of the disk",
}

// cacheColor is the colour of a state of the page cache: blue where the disk is
// read and nothing is cached, orange past the cache, red from memory.
var cacheColor = map[string]color.Color{
	results.ColdData: seriesColor[0],
	results.ColdAll:  seriesColor[5],
	results.Direct:   seriesColor[4],
	results.Warm:     seriesColor[1],
	paced:            seriesColor[2],
}

// diskTimeCases gathers the cases with one reader. The unusual order of a store is
// among them where there is no other.
func diskTimeCases(reports []*results.Report) []diskCase {
	cases := slices.DeleteFunc(diskCases(reports, func(r *results.Result) bool { return has(r, "time") }),
		func(c diskCase) bool { return c.Readers != 1 })
	return slices.DeleteFunc(slices.Clone(cases), func(c diskCase) bool {
		return c.Order != "" && slices.ContainsFunc(cases, func(o diskCase) bool {
			usual := o.source()
			usual.Order = c.Order
			return o.Order == "" && o.report == c.report && usual == c.source()
		})
	})
}

// diskKey is what reads have in common that are compared: on one machine
// the store, of several also the state of the page cache.
type diskKey struct {
	results.DiskParams       // without readers
	bytes              int64 // of a batch as it is stored
}

// title names the reads, with the size of a batch.
func (k diskKey) title() string {
	cache, size := "", ""
	if k.Cache != "" && k.Disk == "" {
		cache = cacheText(k.Cache)
	}
	if k.bytes > 0 {
		size = results.FormatBytes(k.bytes) + " a batch"
	}
	return results.List(diskCase{DiskParams: k.DiskParams}.title(), cache, size)
}

// cacheText names a state of the page cache and says what that is.
func cacheText(cache string) string {
	name := results.Clip(cmp.Or(cache, "unknown cache"), maxDevice)
	if text := cacheTexts[cache]; text != "" {
		return name + " (" + text + ")"
	}
	return name
}

// sameBytes is the difference, as a share, up to which batches are of one size: what
// a case reads is computed from medians.
const sameBytes = 0.02

// diskTimes has a group for each store, and of several machines for each state of the
// page cache too.
func diskTimes(reports []*results.Report) bars {
	v := bars{title: "Time to read one batch from disk", quantity: timePerBatch}
	v.compare(reports)
	for _, c := range diskTimeCases(reports) {
		k := diskKey{c.DiskParams, batchBytes(reports[c.report], c.Result)}
		k.Readers = 0
		row := rowOf(c.measured, "time", timePerBatch)
		if c.unproven() && !row.Failed {
			row.Caveat = caveatUnproven
		}
		if v.machines == nil {
			k.Cache, row.Detail = "", cacheText(c.Cache)
			row.fill = cmp.Or[color.Color](cacheColor[c.Cache], muted)
		}
		for i, g := range v.Groups {
			if o := g.key.(diskKey); o.alike(k) {
				o.bytes = cmp.Or(o.bytes, k.bytes)
				v.Groups[i].key, v.Groups[i].Title = o, o.title()
				k = o
				break
			}
		}
		g := barGroup{Title: k.title(), key: k}
		row.Marks, g.Marks = diskMarks(c, v.machines != nil)
		if c.Disk != "" {
			g.Assumed = []string{"disk " + results.Clip(c.Disk, maxDevice)}
		}
		v.add(g, row)
	}
	if len(v.Groups) > 0 {
		v.subtitle = upper(imagesText(reports)+"one reader, ") +
			"each store in its usual order; median, shorter is better"
		v.captions = captions(reports, diskText)
	}
	stores := []string{"files", "tar", "raw", "tensor"}
	slices.SortStableFunc(v.Groups, func(a, b barGroup) int {
		k, o := a.key.(diskKey), b.key.(diskKey)
		return cmp.Or(compareBool(k.Disk != "", o.Disk != ""), compareIn(stores, k.Store, o.Store),
			compareIn(cacheOrder, k.Cache, o.Cache))
	})
	return v
}

// alike reports whether reads of k and o are compared.
func (k diskKey) alike(o diskKey) bool {
	near := math.Abs(float64(k.bytes-o.bytes)) <= sameBytes*float64(o.bytes)
	unknown := k.bytes == 0 || o.bytes == 0
	k.bytes = o.bytes
	return k == o && (near || unknown)
}

// diskMarks are the references of a case that worked. Of several machines each has its
// own link.
func diskMarks(c diskCase, several bool) (own, all []mark) {
	if c.Failed() {
		return nil, nil
	}
	for i, p := range peaks {
		text := p.title
		if rate := valueOf(c.Result, p.name, "bandwidth"); rate > 0 && !(several && i == 0) {
			text += ", " + results.FormatExact(rate, results.BytesPerSecond)
		}
		m := markOf(valueOf(c.Result, p.name, "time"), text, p.glyph)
		if several && i == 0 {
			own = m
		} else {
			all = append(all, m...)
		}
	}
	t := valueOf(c.Result, "article", "time")
	text := "article's hard disk: " + results.FormatExact(t, results.Seconds) + " (100 MiB/s)"
	return own, append(all, markOf(t, text, drawTheory)...)
}
