package external

import (
	"cmp"
	"fmt"
	"slices"

	"dlbench/bench"
	"dlbench/results"
)

// externalFindings says of each loader what it feeds, how many workers it wants, and how
// that compares with dlbench's own loader.
func externalFindings(env bench.Env, rs []results.Result) (all []results.Finding) {
	for _, l := range env.Loaders {
		all = append(all, finding(rs, l.Name))
	}
	return all
}

// scaling is the cases of a loader with nothing waiting, by workers.
func scaling(rs []results.Result, name string) []*results.Result {
	all := results.Cases(rs, "external", func(p params) bool { return p.Loader == name && p.Step == 0 })
	all = slices.DeleteFunc(all, func(r *results.Result) bool { return r.Metric("throughput") == nil })
	slices.SortFunc(all, func(a, b *results.Result) int { return cmp.Compare(workersOf(a), workersOf(b)) })
	return all
}

func workersOf(r *results.Result) int { return results.As[params](r.Params).Workers }

// almostAll is the share of a loader's best rate that fewer workers must reach to be
// recommended instead.
const almostAll = 0.97

// recommended is the case of the fewest workers that feed almost as much as any number.
func recommended(all []*results.Result) *results.Result {
	best := slices.MaxFunc(all, func(a, b *results.Result) int {
		return cmp.Compare(results.MedianOf(a, "throughput"), results.MedianOf(b, "throughput"))
	})
	i := slices.IndexFunc(all, func(r *results.Result) bool {
		return results.MedianOf(r, "throughput") >= almostAll*results.MedianOf(best, "throughput")
	})
	return all[i]
}

func finding(rs []results.Result, name string) results.Finding {
	claim := "loader " + name
	all := scaling(rs, name)
	if len(all) == 0 {
		return results.Unmeasured(claim, "no case of this loader could be measured")
	}
	r := recommended(all)
	feeds := results.IntervalOf(r.Metric("throughput"))
	text := fmt.Sprintf("%s feeds %.0f images/s (%.0f to %.0f) with %s", name, feeds.Value, feeds.Lo, feeds.Hi,
		results.Plural(workersOf(r), "worker"))
	if len(all) > 1 {
		text += ", the number to use here"
	}
	own := results.CaseOf(rs, "external", func(p params) bool {
		return p.Loader == results.OwnLoader && p.Step == 0 && p.Workers == workersOf(r)
	})
	if own != nil && own.Metric("throughput") != nil {
		x := results.RatioOf(r.Metric("throughput"), own.Metric("throughput"))
		text += fmt.Sprintf("; dlbench's own loader feeds %.0f with as many: this one has %.2f (%.2f to %.2f) of that",
			own.Metric("throughput").Median, x.Value, x.Lo, x.Hi)
	}
	return feeds.Finding(claim, results.Holds, results.PerSecond, text)
}
