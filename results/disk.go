package results

import ()

// Values of the disk suite's axes that code refers to.
const (
	ColdData, ColdAll, Warm, Direct = "cold-data", "cold-all", "warm", "direct"
	Sequential, Shuffled            = "sequential", "shuffled"
)

// usualOrder is how training reads a store: files and records shuffled, shards and
// batches as they lie.
var UsualOrder = map[string]string{"files": Shuffled, "tar": Sequential, "raw": Shuffled, "tensor": Sequential}

// diskResult is the case of a store with one reader, in the store's usual order.
func DiskCase(rs []Result, store, cache string) *Result {
	found := Pick(rs, func(r *Result) bool {
		return r.Suite == "disk" && r.Params.Text("store") == store && r.Params.Text("cache") == cache &&
			r.Params.Int("readers") == 1 && r.Params.Text("order") == UsualOrder[store] && r.Metric("time") != nil
	})
	if len(found) == 0 {
		return nil
	}
	return found[0]
}
