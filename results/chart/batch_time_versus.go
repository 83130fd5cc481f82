package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dlbench/bench/theory"
	"dlbench/results"
)

// batchTimeVersusCharts holds the time that one batch takes over the links of
// machines against each other.
func batchTimeVersusCharts(reports []*results.Report) []Chart {
	var figures []func() *figure
	for _, b := range batches(reports) {
		for _, v := range batchTimeVersus(reports, b).charts() {
			figures = append(figures, func() *figure {
				return v.fill(&figure{
					title: v.titled("Time to copy one batch to the GPU, by machine"),
					subtitle: fmt.Sprintf("Host to device, %s (%s), warm source; median, shorter is better",
						b, results.FormatBytes(b.Bytes())),
					caption: shared(v.shown(captions(reports, "float32"))),
				}, timeAxis("time per batch"))
			})
		}
	}
	return numbered("pcie-batch-time", figures)
}

// timeAxis counts in seconds.
func timeAxis(text string) axis { return axis{text, secondsFor, timeLabel} }

// batchTimeVersus has a group for each kind of memory, measured and assumed apart,
// and copies within main memory last; none where nothing is copied to a device.
func batchTimeVersus(reports []*results.Report, batch theory.Batch) versus {
	v := versus{names: machines(reports)}
	all := batchCopies(reports, batch)
	if !slices.ContainsFunc(all, func(c copies) bool {
		return c.Spec != "host" && slices.ContainsFunc(c.Results, func(r *results.Result) bool { return r.Status == results.OK })
	}) {
		return v
	}
	for _, c := range all {
		for i, r := range c.Results {
			k := copyKey{clean(r.Params.Text("mem")), c.Spec == "host", len(r.Assumed) > 0}
			if slices.ContainsFunc(c.Results[:i], func(o *results.Result) bool { return clean(o.Params.Text("mem")) == k.mem }) {
				continue // the same copy with other parameters; the first is the plain one
			}
			g := versusGroup{Title: k.mem + " memory", key: k}
			if k.host {
				g.Title = "copy within main memory, " + k.mem
			}
			if k.assumed {
				g.Assumed = []string{"link"}
			}
			v.add(g, copyRow(reports, all, c, r))
		}
	}
	slices.SortStableFunc(v.Groups, func(a, b versusGroup) int {
		k, o := a.key.(copyKey), b.key.(copyKey)
		return cmp.Or(compareBool(k.host, o.host), compareMem(k.mem, o.mem), compareBool(k.assumed, o.assumed))
	})
	return v
}

// copyKey is what copies have in common that are held against each other.
type copyKey struct {
	mem           string
	host, assumed bool
}

// copyRow is the row of one copy, with what its link is held against.
func copyRow(reports []*results.Report, all []copies, c copies, r *results.Result) versusRow {
	row := versusRow{Machine: c.report, Failed: r.Status == results.Failed, Detail: c.detail(reports, all)}
	if !row.Failed {
		row.point, _ = pointOf(r, "time")
		u := secondsFor(row.Median)
		row.Value = u.text(row.Median)
		row.Others = spanOf(r, "published", "time")
	}
	row.Band = spanOf(r, "protocol-band", "time")
	row.Marks = slices.Concat(
		markOf(valueOf(r, "line-rate", "time"), "line rate of the link", drawRate),
		markOf(valueOf(r, "article-theory", "time"), "article's theory (1 GiB/s a lane: 9 % faster than the line)", drawTheory),
		markOf(valueOf(r, "article-practice", "time"), "article's practice (its rule of thumb: twice the theory)", drawPractice))
	return row
}

// detail tells c from the other devices of its machine: by its link, and by its name
// where the machine has several.
func (c copies) detail(reports []*results.Report, all []copies) string {
	if c.Spec == "host" {
		return ""
	}
	device, link := c.title(reports[c.report])
	spec := strings.Split(clean(c.Spec), ":")
	if spec[0] == "sim" {
		return device + strings.TrimPrefix(link, "assumed link") // its group says so
	}
	several := slices.ContainsFunc(all, func(o copies) bool {
		return o.report == c.report && o.Spec != c.Spec && o.Spec != "host" && !strings.HasPrefix(o.Spec, "sim")
	})
	if several {
		return results.Clip(strings.Join(spec[:min(2, len(spec))], ":"), maxDevice) + " " + link
	}
	return link
}
