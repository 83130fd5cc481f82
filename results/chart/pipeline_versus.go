package chart

import (
	"cmp"
	"fmt"
	"slices"

	"dlbench/results"
)

// pipeKey is what pipelines have in common that are held against each other: all
// but the machine, its device, and how many workers it has.
type pipeKey struct {
	pipe
	step    float64
	assumed string
}

// pipeVersus has a group for each pipeline among cases and a row for each case, which
// fill completes.
func pipeVersus(reports []*results.Report, cases []pipeCase, fill func(pipeCase, *versusRow)) versus {
	v := versus{names: machines(reports)}
	var all []copies
	for _, c := range cases {
		if s := (copies{report: c.Report, Spec: c.Device}); !slices.ContainsFunc(all, func(o copies) bool { return o.report == s.report && o.Spec == s.Spec }) {
			all = append(all, s)
		}
	}
	alike := slices.Clone(cases)
	for i := range alike {
		alike[i].Workers = ""
	}
	workers := slices.ContainsFunc(cases, func(c pipeCase) bool { return c.Workers != cases[0].Workers })
	titles := pipeTitles(alike)
	for i, c := range cases {
		k := pipeKey{alike[i].pipe, c.Step, ""}
		k.Report, k.Device = 0, ""
		g := versusGroup{Title: titles[i]}
		if c.Assumed() {
			g.Assumed = assumedParts(cases[i : i+1])
			k.assumed = inWords(g.Assumed)
		}
		g.key = k
		row := versusRow{Machine: c.Report, Failed: c.Failed(), Detail: c.detail(reports, all)}
		if workers {
			row.Detail = listedDetail(row.Detail, "workers "+results.Clip(c.Workers, maxDevice))
		}
		if !row.Failed {
			fill(c, &row)
		}
		v.add(g, row)
	}
	slices.SortStableFunc(v.Groups, func(a, b versusGroup) int { // measured and assumed side by side
		return cmp.Or(cmp.Compare(slices.Index(titles, a.Title), slices.Index(titles, b.Title)), cmp.Compare(len(a.Assumed), len(b.Assumed)))
	})
	return v
}

// detail is the link, and the device where its machine has several.
func (c pipeCase) detail(reports []*results.Report, all []copies) string {
	s := copies{report: c.Report, Spec: c.Device, Link: linkTitle(c.Result)}
	if d := s.detail(reports, all); d != "link unknown" {
		return d
	}
	return results.Clip(c.Device, maxDevice)
}

// stepTimeVersusCharts holds the steps of machines against each other.
func stepTimeVersusCharts(reports []*results.Report) []Chart {
	var figures []func() *figure
	for _, v := range stepTimeVersus(reports).charts() {
		figures = append(figures, func() *figure {
			return v.fill(&figure{
				title:    v.titled("Time of a training step, by machine"),
				subtitle: upper(imagesText(reports) + "from the end of one step to the next; %: the share that the device works; median, shorter is better"),
				caption:  shared(v.shown(pipeCaptions(reports))),
			}, timeAxis("time per step"))
		})
	}
	return numbered("pipeline-step-time", figures)
}

func stepTimeVersus(reports []*results.Report) versus {
	cases := pipeCases(reports, func(c pipeCase) bool {
		_, ok := diskPoint(c.Result, "step_time")
		return c.Step > 0 && (ok || c.Failed())
	})
	v := pipeVersus(reports, cases, func(c pipeCase, row *versusRow) {
		b := stepBarOf(c, "")
		row.point = b.point
		for _, p := range b.parts() {
			row.Parts = append(row.Parts, p.time)
		}
		u := secondsFor(b.Median)
		row.Value = b.value(u)
	})
	v.parts = stepBar{}.parts()
	return v
}

// feedVersusCharts holds the top speed of loaders against each other and against
// what models take.
func feedVersusCharts(reports []*results.Report) []Chart {
	var figures []func() *figure
	var sizes []int
	for _, r := range reports {
		if n := r.Config.Batch; n > 0 && !slices.Contains(sizes, n) {
			sizes = append(sizes, n)
		}
	}
	for _, n := range sizes {
		for _, v := range feedVersus(reports, n).charts() {
			figures = append(figures, func() *figure {
				return v.fill(&figure{
					title:    v.titled("Images that the loader feeds to the device, by machine"),
					subtitle: fmt.Sprintf("Top speed, batch of %d images; ms: the shortest step with which the device is kept busy; median, longer is better", n),
					caption:  shared(v.shown(pipeCaptions(reports))),
				}, imagesAxis)
			})
		}
	}
	return numbered("pipeline-feed", figures)
}

// feedVersus is of the reports with n images in a batch.
func feedVersus(reports []*results.Report, n int) versus {
	cases := pipeCases(reports, func(c pipeCase) bool {
		_, ok := diskPoint(c.Result, "throughput")
		return c.Step == 0 && c.Free == nothing && (ok || c.Failed())
	})
	cases = slices.DeleteFunc(cases, func(c pipeCase) bool { return reports[c.Report].Config.Batch != n })
	var d feeds
	v := pipeVersus(reports, cases, func(c pipeCase, row *versusRow) {
		row.point, _ = diskPoint(c.Result, "throughput")
		t := float64(n) / row.Median
		u := secondsFor(t)
		row.Value = images.text(row.Median) + ", " + u.number(t) + " " + u.name
		d.addDemands(c.Result)
	})
	slices.SortStableFunc(d.Demands, func(a, b demand) int { return cmp.Compare(a.Rate, b.Rate) })
	for _, x := range d.Demands {
		v.Demands = append(v.Demands, versusMark{At: x.Rate, Text: x.Title + ": " + images.text(x.Rate)})
	}
	return v
}
