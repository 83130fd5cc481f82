package results

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// PipelineParams is the parameters of a case of the pipeline suite.
type PipelineParams struct {
	Device   string   `json:"device"`
	Mem      string   `json:"mem"`
	Prefetch int      `json:"prefetch"` // batches
	Workers  int      `json:"workers"`
	Strategy string   `json:"strategy"`
	Free     string   `json:"free"` // parts that were made free
	Disk     string   `json:"disk"`
	Cache    string   `json:"cache,omitempty"` // "" in reports that did not have it, which used it
	Step     Duration `json:"step"`
	DType    string   `json:"dtype,omitempty"`
	CPUs     CPUCount `json:"cpus"`
	StepCPU  int      `json:"step-cpu"`       // threads that the step keeps busy
	Soak     Duration `json:"soak,omitempty"` // of steps of the same work without a pause; 0 for steps of a time
}

// IsFree tells whether a part was made free.
func (p PipelineParams) IsFree(part string) bool {
	return slices.Contains(strings.Split(p.Free, "+"), part)
}

// Duration is a time that JSON has as text, 216ms.
type Duration time.Duration

func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText writes the time as Go does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalJSON reads a time; what is none becomes one below 0, which no step has.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var text string
	_ = json.Unmarshal(data, &text)
	t, err := time.ParseDuration(text)
	if *d = Duration(t); err != nil {
		*d = -1
	}
	return nil
}

// CPUCount is a number of CPUs; 0 is all, which JSON has as text.
type CPUCount int

// MarshalJSON writes the number, or "all".
func (n CPUCount) MarshalJSON() ([]byte, error) {
	if n == 0 {
		return []byte(`"all"`), nil
	}
	return json.Marshal(int(n))
}

// UnmarshalJSON reads a number; all else is all of them.
func (n *CPUCount) UnmarshalJSON(data []byte) error {
	if *n = 0; json.Unmarshal(data, (*int)(n)) != nil {
		*n = 0
	}
	return nil
}

// PipelineProof is the evidence of a case of the pipeline suite.
type PipelineProof struct {
	Slots           int    `json:"slots"` // batches in the making at most
	MemoryAnnounced int64  `json:"memory_announced"`
	Steps           int    `json:"steps"`
	StepCPU         int    `json:"step_cpu"`
	LinkSource      string `json:"link_source,omitempty"`
	LoadedLink
	Decoder    string  `json:"decoder,omitempty"`
	ShortSide  float64 `json:"short_side,omitempty"` // pixels, the median of the images'
	Epochs     *int    `json:"epochs,omitempty"`
	Repeated   string  `json:"repeated,omitempty"`
	Damaged    *int    `json:"damaged,omitempty"`
	Bad        *int    `json:"bad,omitempty"`
	Proven     *bool   `json:"proven,omitempty"` // that reads past the page cache were that
	Why        string  `json:"why,omitempty"`
	BytesAsked *int64  `json:"bytes_asked,omitempty"`
	FromDevice *int64  `json:"bytes_from_device,omitempty"`
	Watched
}

// Parts of the pipeline that can be made free.
const (
	PartRead, PartPreprocess, PartCopy = "read", "preprocess", "copy"
	FreeNothing                        = "nothing"
	FreeAll                            = PartRead + "+" + PartPreprocess + "+" + PartCopy
	FreeLoading                        = PartRead + "+" + PartPreprocess
)

// StrategyTensor reads whole batches that were prepared before.
const StrategyTensor = "tensor"

// CacheUsed reads through the page cache, whatever it holds.
const CacheUsed = "used"

// RealDisk is the disk that holds the data, and no simulated one.
const RealDisk = "real"

// MostPrefetch bounds the prefetch axis.
const MostPrefetch = 1024

// PipelineCases are results, of which its methods find those of the pipeline suite.
type PipelineCases []Result

// Where returns the OK cases with a step and step times whose parameters fit, in order.
func (rs PipelineCases) Where(fit func(PipelineParams) bool) []*Result {
	known := func(p PipelineParams) bool { return p.Step >= 0 && fit(p) }
	return slices.DeleteFunc(Cases(rs, "pipeline", known), func(r *Result) bool {
		return r.Metric("step_time") == nil || r.Params.Text("step") == ""
	})
}

// Fastest is the case of the loader's top speed that feeds most, of those that load the
// same data in the same way as the first.
func (rs PipelineCases) Fastest() *Result {
	var best *Result
	for _, r := range rs.Where(func(q PipelineParams) bool { return q.Step == 0 && q.Free == FreeNothing }) {
		m := r.Metric("throughput")
		if m != nil && (best == nil || m.Median > best.Metric("throughput").Median && alike(r, best)) {
			best = r
		}
	}
	return best
}

// alike tells whether two cases load the same data in the same way.
func alike(a, b *Result) bool {
	p, q := As[PipelineParams](a.Params), As[PipelineParams](b.Params)
	return p.Strategy == q.Strategy && p.Disk == q.Disk && p.Cache == q.Cache && p.CPUs == q.CPUs &&
		p.StepCPU == q.StepCPU
}

// Bypassed tells whether a case of the pipeline reads past the page cache, or over a network for each
// batch.
func Bypassed(r *Result) bool {
	cache := As[PipelineParams](r.Params).Cache
	return cache == Direct || cache == Remote
}

// ProvenCold tells whether a case past the page cache is one, as far as is known.
func ProvenCold(r *Result) bool {
	proven, known := r.Proven()
	return Bypassed(r) && (proven || !known)
}
