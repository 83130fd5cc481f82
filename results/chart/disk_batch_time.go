package chart

import (
	"cmp"
	"image/color"
	"math"
	"slices"
	"strings"

	"dlbench/results"
)

// cacheTexts say what was measured in each state of the page cache.
var cacheTexts = map[string]string{
	"cold-data": "evicted from the page cache",
	"cold-all":  "all caches dropped",
	"direct":    "past the page cache",
	"warm":      "from the page cache, in memory",
	paced:       "reads from memory at the time of the disk",
}

// cacheColor is the colour of a state of the page cache: blue where the disk is
// read and nothing is cached, orange past the cache, red from memory.
var cacheColor = map[string]color.Color{
	"cold-data": seriesColor[0],
	"cold-all":  seriesColor[5],
	"direct":    seriesColor[4],
	"warm":      seriesColor[1],
	paced:       seriesColor[2],
}

// diskTimeCases gathers the cases with one reader. The unusual order of a store is
// among them where there is no other.
func diskTimeCases(reports []*results.Report) []diskCase {
	cases := slices.DeleteFunc(diskCases(reports, func(r *results.Result) bool { return has(r, "time") }),
		func(c diskCase) bool { return c.Readers != 1 })
	return slices.DeleteFunc(slices.Clone(cases), func(c diskCase) bool {
		usual := c.source
		usual.Order = ""
		return c.Order != "" && slices.ContainsFunc(cases, func(o diskCase) bool { return o.source == usual })
	})
}

// diskKey is what reads have in common that are compared: on one machine
// the store, of several also the state of the page cache.
type diskKey struct {
	Disk, Store, Order, Cache string
	bytes                     int64 // of a batch as it is stored
}

// title names the reads, with the size of a batch.
func (k diskKey) title() string {
	parts := []string{source{Store: k.Store, Order: k.Order}.title()}
	if k.Cache != "" && k.Disk == "" {
		parts = append(parts, cacheText(k.Cache))
	}
	if k.bytes > 0 {
		parts = append(parts, results.FormatBytes(k.bytes)+" a batch")
	}
	return strings.Join(parts, ", ")
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
		k := diskKey{c.Disk, c.Store, c.Order, c.Cache, batchBytes(reports[c.Report], c.Result)}
		row := diskRow(c)
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

func diskRow(c diskCase) barRow {
	row := barRow{Machine: c.Report, Failed: c.Failed()}
	if row.Failed {
		return row
	}
	row.measure(c.Result, "time", timePerBatch)
	if c.Unproven {
		row.Doubt = doubtUnproven
	}
	return row
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
	if t := valueOf(c.Result, "article", "time"); t > 0 {
		text := "article's hard disk: " + results.FormatExact(t, results.Seconds) + " (100 MiB/s)"
		all = append(all, markOf(t, text, drawTheory)...)
	}
	return own, all
}
