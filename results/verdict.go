package results

import (
	"cmp"
	"encoding/json"
	"strings"
)

// Answers of a verdict to the question whether loading keeps up with the GPU.
const (
	AnswerNone        = "none"         // nothing is known that images are needed for
	AnswerYes         = "yes"          // the user's own loader keeps up
	AnswerEnoughCores = "enough-cores" // dlbench's loader does, so the cores suffice for one as fast
	AnswerNo          = "no"
	AnswerClose       = "close" // the intervals overlap
	AnswerBusy        = "busy"  // other programs took too much of the machine
	AnswerUnknown     = "unknown"
)

// Verdict says whether a loader keeps up with a GPU, what limits it, and what would help.
// Rates are images/s.
type Verdict struct {
	Answer  string `json:"answer"`
	Why     string `json:"why,omitempty"`    // a sentence, of answers that are neither yes nor no
	Loader  string `json:"loader,omitempty"` // that was measured: dlbench's own, or one of the user's
	Workers int    `json:"workers,omitempty"`
	Busy    int    `json:"busy_threads,omitempty"` // that a training step keeps busy next to them
	Runs    int    `json:"runs,omitempty"`         // of the whole case

	Feeds   *float64 `json:"feeds,omitempty"` // when nothing waits
	FeedsLo *float64 `json:"feeds_lo,omitempty"`
	FeedsHi *float64 `json:"feeds_hi,omitempty"`
	Needs   *float64 `json:"needs,omitempty"` // by all GPUs together
	// what needs them, and whose figure that is; or why it is not known
	NeedsFrom string   `json:"needs_from,omitempty"`
	GPUs      int      `json:"gpus,omitempty"`
	GPUBusy   *float64 `json:"gpu_busy,omitempty"` // share of the time, if the GPU waits for the loader alone
	// where GPUBusy was measured; "" where it follows from what is fed and needed
	GPUBusyFrom string `json:"gpu_busy_from,omitempty"`

	Bottleneck string     `json:"bottleneck,omitempty"` // read, preprocess, copy, gpu, cores, workers, main process
	Limit      string     `json:"limit,omitempty"`      // a sentence about the bottleneck
	Next       string     `json:"next,omitempty"`       // what limits when the bottleneck is gone
	NextFeeds  *float64   `json:"next_feeds,omitempty"`
	Parts      []PartTime `json:"parts,omitempty"`
	Changes    []Change   `json:"changes,omitempty"`   // that help or may help, the cheapest first
	NoEffect   []string   `json:"no_effect,omitempty"` // changes that do not
	Share      *GPUShare  `json:"gpu_share,omitempty"` // where several GPUs are fed
	Notes      []string   `json:"notes,omitempty"`
	Assumed    []string   `json:"assumed,omitempty"`
}

// PartTime is how long a part of the loader takes for a batch when the others are free.
type PartTime struct {
	Name string  `json:"name"` // read, preprocess or copy
	Time float64 `json:"time"` // s
	Note string  `json:"note,omitempty"`
}

// Title is the part in words.
func (p PartTime) Title() string {
	words := map[string]string{PartPreprocess: "decode+crop", PartRead + "+" + PartPreprocess: "read, decode"}
	return cmp.Or(words[p.Name], p.Name)
}

// Change is what a change to the loader would bring, images/s.
type Change struct {
	Name     string  `json:"name"`
	Value    float64 `json:"value"`
	Lo       float64 `json:"lo"`
	Hi       float64 `json:"hi"`
	Enough   string  `json:"enough,omitempty"` // yes, perhaps or no; "" where nothing is needed
	Evidence string  `json:"evidence,omitempty"`
	Cost     string  `json:"cost,omitempty"` // Free or Purchase
	Note     string  `json:"note,omitempty"`
}

// GPUShare is what each of several GPUs gets, images/s.
type GPUShare struct {
	GPUs  int     `json:"gpus"`
	Gets  float64 `json:"gets"`
	Lo    float64 `json:"lo"`
	Hi    float64 `json:"hi"`
	Needs float64 `json:"needs,omitempty"` // by each; 0 where it is not known
	// Cores that each needs for loading, more than were measured where AtLeast; 0 where
	// that is not known.
	Cores    float64 `json:"cores,omitempty"`
	AtLeast  bool    `json:"at_least,omitempty"`
	Fed      int     `json:"fed"`                // GPUs that this machine keeps busy
	Evidence string  `json:"evidence,omitempty"` // of what each gets
}

// Enough says whether a rate between lo and hi meets a need; "" where there is none.
func Enough(lo, hi, need float64) string {
	switch {
	case !(need > 0):
		return ""
	case lo >= need:
		return "yes"
	case hi < need:
		return "no"
	}
	return "perhaps"
}

// UnmarshalJSON reads a verdict, also that of a report of version 1, in which loader was
// what limits it, demand what is needed and changes were texts.
func (v *Verdict) UnmarshalJSON(data []byte) error {
	type plain Verdict
	old := struct {
		*plain
		Bound, Status string
		Demand        *float64
		DemandName    string `json:"demand_name"`
	}{plain: (*plain)(v)}
	err := json.Unmarshal(data, &old)
	if old.Bound == "" && old.Status == "" {
		return err
	}
	v.Bottleneck, v.Loader, v.Changes = v.Loader, OwnLoader, nil
	v.Needs, v.NeedsFrom = old.Demand, old.DemandName
	switch {
	case old.Status == NotMeasured || v.Feeds == nil || v.Needs == nil:
		v.Answer = AnswerUnknown
	case old.Status == Inconclusive:
		v.Answer = AnswerClose
	case *v.Feeds > *v.Needs:
		v.Answer = AnswerEnoughCores
	default:
		v.Answer = AnswerNo
	}
	return nil
}

// Title is the answer as people read it: ENOUGH CORES.
func (v *Verdict) Title() string {
	if v.Answer == AnswerClose {
		return "TOO CLOSE"
	}
	return strings.ToUpper(strings.ReplaceAll(Plain(v.Answer), "-", " "))
}
