package bench

import (
	"dlbench/results"
)

// Values of the disk suite's axes that code refers to.
const (
	coldData, coldAll, warmed, direct = "cold-data", "cold-all", "warm", "direct"
	sequential, shuffled              = "sequential", "shuffled"
)

// usualOrder is how training reads a store: files and records shuffled, shards and
// batches as they lie.
var usualOrder = map[string]string{"files": shuffled, "tar": sequential, "raw": shuffled, "tensor": sequential}

// diskResult is the case of a store with one reader, in the store's usual order.
func diskResult(rs []results.Result, store, cache string) *results.Result {
	found := pick(rs, func(r *results.Result) bool {
		return r.Suite == "disk" && r.Params.Text("store") == store && r.Params.Text("cache") == cache &&
			r.Params.Int("readers") == 1 && r.Params.Text("order") == usualOrder[store] && r.Metric("time") != nil
	})
	if len(found) == 0 {
		return nil
	}
	return found[0]
}
