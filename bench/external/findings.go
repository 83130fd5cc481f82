package external

import (
	"fmt"
	"slices"

	"dlbench/bench"
	"dlbench/results"
)

// claims says of each loader what it feeds, how many workers it wants, and how
// that compares with dlbench's own loader.
func claims(env bench.Env, rs []results.Result) (all []bench.Claim) {
	for _, l := range env.Loaders {
		all = append(all, bench.Claim{Name: "loader " + l.Name, Found: finding(rs, l.Name),
			Missing: "no case of this loader could be measured"})
	}
	return all
}

func finding(rs []results.Result, name string) (none results.Finding) {
	r := results.ScalingOf(rs, name).Recommended()
	if r == nil {
		return none
	}
	workers := results.WorkersOf(r)
	feeds := results.IntervalOf(r.Metric("throughput"))
	text := fmt.Sprintf("%s feeds %.0f images/s (%.0f to %.0f) with %s", name, feeds.Value, feeds.Lo, feeds.Hi,
		results.Plural(workers, "worker"))
	asMany := func(r *results.Result) bool { return results.WorkersOf(r) == workers }
	own := results.ScalingOf(rs, results.OwnLoader).Cases
	if i := slices.IndexFunc(own, asMany); i >= 0 {
		x := results.RatioOf(r.Metric("throughput"), own[i].Metric("throughput"))
		text += fmt.Sprintf("; dlbench's own loader feeds %.0f with as many: this one has %.2f (%.2f to %.2f) of that",
			own[i].Metric("throughput").Median, x.Value, x.Lo, x.Hi)
	}
	return feeds.Finding(results.Holds, results.PerSecond, text)
}
