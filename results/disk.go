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

	Requests  int64 `json:"requests,omitempty"` // of an object store, with those that were repeated
	Retries   int64 `json:"retries,omitempty"`
	Throttled int64 `json:"throttled,omitempty"` // answers 503 and 429
}

// Values of the disk suite's axes that code refers to.
const (
	ColdData, ColdAll, Warm, Direct = "cold-data", "cold-all", "warm", "direct"
	FromS3                          = "s3"
	Remote                          = "remote" // over the network from an object store, whose caches are unknown
	Sequential, Shuffled            = "sequential", "shuffled"
)

// MetadataMetrics of a case of files are how many files a second are opened and looked at (stat): the first
// time in the case, after the run has listed them, and later times.
var MetadataMetrics = []string{"first_opens", "opens", "first_stats", "stats"}

// UsualOrder is how training reads a store: files and records shuffled, shards and
// batches as they lie.
var UsualOrder = map[string]string{"files": Shuffled, "tar": Sequential, "raw": Shuffled, "tensor": Sequential}

// DiskCase is the case of a store with one reader, in the store's usual order.
func DiskCase(rs []Result, store, cache string) *Result {
	usual := DiskParams{Store: store, Cache: cache, Readers: 1, Order: UsualOrder[store]}
	fits := func(p DiskParams) bool {
		p.Disk = ""
		return p == usual
	}
	for _, r := range Cases(rs, "disk", fits) {
		if r.Metric("time") != nil {
			return r
		}
	}
	return nil
}
