package chart

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"dlbench/results"
)

// Orders in which stores and states of the page cache are shown, and both in words. Simulated
// is the state where the disk is: its reads come from memory, at the time of the disk.
var (
	storeOrder  = []string{"files", "tar", "raw", "tensor"}
	storeTitles = map[string]string{"files": "JPEG files", "tar": "tar shards", "raw": "raw samples", "tensor": "tensor"}
	cacheOrder  = []string{results.ColdData, results.ColdAll, results.Direct, results.Remote, results.Warm}
	cacheTexts  = map[string]string{
		results.ColdData: " (evicted from the page cache)",
		results.ColdAll:  " (all caches dropped)",
		results.Direct:   " (past the page cache)",
		results.Warm:     " (from the page cache, in memory)",
		results.Remote:   " (over the network from an object store)",
	}
)

// diskCase is one result of suite disk. Disk is "" for the machine's own, Order for the
// usual one of the store; Cache is "simulated" where the disk is.
type diskCase struct {
	results.DiskParams
	measured
}

// diskCases gathers the results of suite disk that have the metric and those that
// failed, by store and cache, simulated disks after those measured.
func diskCases(reports []*results.Report, metric string) []diskCase {
	all := casesOf(reports, "disk", func(m measured) (diskCase, any, bool) {
		p := results.As[results.DiskParams](m.Result.Params)
		c := diskCase{measured: m}
		c.Store, c.Cache, c.Readers = short(p.Store), short(p.Cache), max(1, p.Readers)
		if p.Order != results.UsualOrder[p.Store] {
			c.Order = short(p.Order)
		}
		if len(m.Result.Assumed) > 0 {
			c.Disk, c.Cache = cmp.Or(short(p.Disk), "unnamed"), "simulated"
		}
		return c, c.DiskParams, m.has(metric)
	})
	slices.SortStableFunc(all, func(a, b diskCase) int {
		return cmp.Or(cmp.Compare(a.Disk, b.Disk), compareIn(storeOrder, a.Store, b.Store),
			cmp.Compare(a.Order, b.Order), compareIn(cacheOrder, a.Cache, b.Cache))
	})
	return all
}

// title is the store in words, and the order of its reads where it is unusual.
func (c diskCase) title() string {
	return results.List(cmp.Or(storeTitles[c.Store], c.Store, "unnamed store"), c.Order)
}

// diskBars adds the cases with one reader to v, a group for each store.
func diskBars(v bars, metric string, complete func(diskCase, *barRow)) []picture {
	for _, c := range diskCases(v.reports, metric) {
		if c.Readers != 1 {
			continue
		}
		row := rowOf(c.measured, metric, v.quantity)
		row.fill = partColor[results.PartRead]
		if c.Disk != "" {
			row.Assumed = []string{"disk " + c.Disk}
		}
		if !row.Failed {
			complete(c, &row)
		}
		cache := cmp.Or(c.Cache, "unknown cache") + cacheTexts[c.Cache]
		if c.Disk != "" && v.several() {
			cache = "" // the title says that the disk is simulated
		}
		v.add(c.title(), cache, "", row)
	}
	return v.pictures()
}

// diskTimes are the times of a batch, beside what kinds of disks need.
func diskTimes(reports []*results.Report) []picture {
	v := bars{
		title:    "Time to read one batch from disk",
		subtitle: "One reader, and its bandwidth; median, shorter is better",
		quantity: timePerBatch,
		reports:  reports,
	}
	return diskBars(v, "time", func(c diskCase, row *barRow) {
		if rate, ok := pointOf(c.Result, "bandwidth"); ok {
			row.Value += ", " + bandwidth.value(rate.Median)
		}
		row.Marks = diskMarks(c, len(reports) > 1)
	})
}

// peaks are the rates that reading from disks is compared with.
var peaks = []struct {
	name, title string
	glyph       func(draw.Canvas, vg.Point)
}{
	{"device-link", "link of the disk", outline(star, ink)},
	{"nvme-peak", "NVMe peak", outline(circle, nil)},
	{"sata3-peak", "SATA3 peak", outline(square, nil)},
	{"100MB/s", "hard disk", outline(pyramid, nil)},
}

// diskMarks are the references of a case. Of several machines each has its own link.
func diskMarks(c diskCase, several bool) (all []mark) {
	for i, p := range peaks {
		text := p.title
		if rate := valueOf(c.Result, p.name, "bandwidth"); rate > 0 && !(several && i == 0) {
			text += ", " + results.FormatExact(rate, results.BytesPerSecond)
		}
		all = append(all, markOf(valueOf(c.Result, p.name, "time"), text, p.glyph)...)
	}
	t := valueOf(c.Result, "article", "time")
	text := "article's hard disk: " + results.FormatExact(t, results.Seconds) + " (100 MiB/s)"
	return append(all, markOf(t, text, outline(funnel, nil))...)
}

// diskLatencies are the times of single reads, and how far they are apart.
func diskLatencies(reports []*results.Report) []picture {
	v := bars{
		title:    "Latency of single reads from disk",
		subtitle: "Median, and the time within which 95 % of the reads end; one reader; a read's size differs by store",
		quantity: quantity{"time of a read", results.Seconds},
		spread:   "from 5 % to 95 % of the reads",
		reports:  reports,
	}
	return diskBars(v, "read_latency", func(c diskCase, row *barRow) {
		row.Spread = span{}
		share := map[float64]*float64{} // the time within which that share of the reads ends
		for _, q := range c.Result.Metric("read_latency").Quantiles {
			share[q.P] = &q.Value
		}
		if median := share[0.5]; drawable(median) {
			row.Median, row.Value = *median, v.quantity.value(*median)
		}
		if most := share[0.95]; drawable(most) {
			row.Value += ", 95 %: " + v.quantity.value(*most)
			row.Spread = spanAround(row.Median, share[0.05], most)
		}
	})
}
