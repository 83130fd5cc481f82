package chart

import (
	"cmp"
	"fmt"
	"slices"

	"dlbench/results"
)

// loaderCase is one result of suite external in which nothing waits.
type loaderCase struct {
	results.ExternalParams
	measured
}

// loaders are the images/s of loaders by workers, each measured in processes of its own,
// with dlbench's own as reference.
func loaders(reports []*results.Report) []picture {
	v := bars{
		title:    "Loaders by number of workers",
		subtitle: "Each in processes of its own, nothing waits; in brackets against dlbench's own; longer is better",
		quantity: throughput,
		reports:  reports,
	}
	cases := casesOf(reports, "external", func(m measured) (loaderCase, any, bool) {
		p := results.As[results.ExternalParams](m.Result.Params)
		p.Loader = cmp.Or(short(p.Loader), "unnamed loader")
		inTraining := p.Loader == results.WrapLoader || p.Loader == results.ProbeLoader
		return loaderCase{p, m}, p, p.Step == 0 && !inTraining && m.has("throughput")
	})
	slices.SortStableFunc(cases, func(a, b loaderCase) int {
		own := []string{results.OwnLoader} // comes last
		return cmp.Or(cmp.Compare(a.Workers, b.Workers),
			cmp.Compare(results.Rank(own, b.Loader), results.Rank(own, a.Loader)))
	})
	type place struct{ report, workers int }
	own := map[place]float64{} // what dlbench's own loader feeds
	for _, c := range cases {
		if p, ok := pointOf(c.Result, "throughput"); ok && c.Loader == results.OwnLoader && !c.Failed() {
			own[place{c.report, c.Workers}] = p.Median
		}
	}
	for _, c := range cases {
		row := rowOf(c.measured, "throughput", v.quantity)
		if c.Loader == results.OwnLoader {
			row.fill = muted
		} else if of := own[place{c.report, c.Workers}]; of > 0 && !row.Failed {
			row.Value += fmt.Sprintf(" (%.2f ×)", row.Median/of)
		}
		v.add(results.Plural(c.Workers, "worker"), c.Loader, "", row)
		v.addNeed(reports[c.report], 0)
	}
	return v.pictures()
}
