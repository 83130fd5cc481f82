package chart

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"dlbench/results"
)

// diskTimeVersusCharts holds the time that one batch takes from the disks of
// machines against each other.
func diskTimeVersusCharts(reports []*results.Report) []Chart {
	var figures []func() *figure
	for _, v := range diskTimeVersus(reports).charts() {
		figures = append(figures, func() *figure {
			return v.fill(&figure{
				title:    v.titled("Time to read one batch from disk, by machine"),
				subtitle: "One reader, " + imagesText(reports) + "each store in its usual order; median, shorter is better",
				caption:  shared(v.shown(diskCaptions(reports))),
			}, timeAxis("time per batch"))
		})
	}
	return numbered("disk-batch-time", figures)
}

// diskKey is what reads have in common that are held against each other.
type diskKey struct {
	Disk, Store, Order, Cache string
	bytes                     int64 // of a batch as it is stored
}

// title names the reads, with the size of a batch.
func (k diskKey) title() string {
	parts := []string{source{Store: k.Store, Order: k.Order}.title()}
	if k.Disk == "" {
		parts = append(parts, results.Clip(k.Cache, maxDevice))
		if text := cacheTexts[k.Cache]; text != "" {
			parts[1] += " (" + text + ")"
		}
	}
	if k.bytes > 0 {
		parts = append(parts, results.FormatBytes(k.bytes)+" a batch")
	}
	return strings.Join(parts, ", ")
}

// assumed names the disk if it is.
func (k diskKey) assumed() []string {
	if k.Disk == "" {
		return nil
	}
	return []string{"disk " + results.Clip(k.Disk, maxDevice)}
}

// sameBytes is the difference, as a share, up to which batches are of one size: what
// a case reads is computed from medians.
const sameBytes = 0.02

// diskTimeVersus has a group for each store and state of the page cache.
func diskTimeVersus(reports []*results.Report) versus {
	v := versus{names: machines(reports)}
	for _, c := range diskTimeCases(reports) {
		k := diskKey{c.Disk, c.Store, c.Order, c.Cache, batchBytes(reports[c.Report], c.Result)}
		for _, g := range v.Groups {
			o := g.key.(diskKey)
			if n := k.bytes; n == 0 || math.Abs(float64(o.bytes-n)) <= sameBytes*float64(n) {
				if o.bytes = n; o == k {
					k = g.key.(diskKey)
					break
				}
			}
		}
		row := versusRow{Machine: c.Report, Failed: c.Failed()}
		g := versusGroup{Title: k.title(), Assumed: k.assumed(), key: k}
		if !c.Failed() {
			row.point, _ = diskPoint(c.Result, "time")
			u := secondsFor(row.Median)
			row.Value = u.text(row.Median)
			if c.Unproven {
				row.Doubt = doubtUnproven
			}
			row.Marks = markOf(valueOf(c.Result, diskPeaks[0].name, "time"), diskPeaks[0].title, peakMark[0])
			g.Marks = diskMarks(c.Result)
		}
		v.add(g, row)
	}
	order := func(g versusGroup) int {
		return slices.Index([]string{"files", "tar", "raw", "tensor"}, g.key.(diskKey).Store)
	}
	slices.SortStableFunc(v.Groups, func(a, b versusGroup) int {
		k, o := a.key.(diskKey), b.key.(diskKey)
		return cmp.Or(compareBool(k.Disk != "", o.Disk != ""), cmp.Compare(order(a), order(b)), cmp.Compare(k.Store, o.Store), compareCache(k.Cache, o.Cache))
	})
	return v
}

// diskMarks are the references that do not depend on the machine.
func diskMarks(r *results.Result) []versusMark {
	var all []versusMark
	for i, p := range diskPeaks[1:] {
		text := p.title
		if rate := valueOf(r, p.name, "bandwidth"); rate > 0 {
			text += ", " + results.FormatExact(rate, results.BytesPerSecond)
		}
		all = append(all, markOf(valueOf(r, p.name, "time"), text, peakMark[i+1])...)
	}
	if t := valueOf(r, "article", "time"); t > 0 {
		all = append(all, markOf(t, "article's hard disk: "+timeLabel(t)+" (100 MiB/s)", drawTheory)...)
	}
	return all
}
