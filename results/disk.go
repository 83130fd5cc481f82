package results

// DiskParams is the parameters of a case of the disk suite: reads of batches.
type DiskParams struct {
	Disk    string `json:"disk,omitempty"` // a simulated one; "" for the real one
	Store   string `json:"store"`
	Cache   string `json:"cache"`
	Readers int    `json:"readers"`
	Order   string `json:"order"`
}

// DiskProof is the evidence of a case of the disk suite.
type DiskProof struct {
	Samples        int      `json:"samples"`
	Pages          string   `json:"pages"` // of the readers' buffers
	Reads          int64    `json:"reads"`
	BytesAsked     int64    `json:"bytes_asked"`
	BytesRead      int64    `json:"bytes_read"`
	Disk           string   `json:"disk,omitempty"` // a simulated one, in words
	Proven         *bool    `json:"proven,omitempty"`
	Why            string   `json:"why,omitempty"`                  // not proven
	ResidentBefore *float64 `json:"resident_before_most,omitempty"` // share in the page cache
	ResidentAfter  *float64 `json:"resident_after_most,omitempty"`
	FromDevice     *int64   `json:"bytes_from_device,omitempty"` // by the process's counters
	OfDevice       *int64   `json:"bytes_of_device,omitempty"`   // by the device's
}

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
