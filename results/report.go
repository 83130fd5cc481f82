// Package results holds what dlbench measured: the report and its JSON form, the
// statistics of its samples, how numbers are written for people, and how reports of
// one machine are merged.
//
// Quantities are in base units: seconds, bytes, bytes per second, items per
// second. A number that is not finite is left out, with a reason in its place.
package results

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// SchemaVersion is the version that this package writes. Adding a field does
// not raise it: readers ignore what they do not know.
const SchemaVersion = 2

// Status of a report.
const (
	Complete    = "complete"
	Interrupted = "interrupted"
)

// Status of a result.
const (
	OK      = "ok"
	Skipped = "skipped"
	Failed  = "failed"
)

// Direction in which a metric improves.
const (
	Lower  = "lower"
	Higher = "higher"
)

// Units of metrics. A dimensionless metric has the unit Ratio.
const (
	Seconds        = "s"
	Bytes          = "B"
	BytesPerSecond = "B/s"
	PerSecond      = "1/s"
	Ratio          = "1"
	Batches        = "batches"
)

// Report is one run of dlbench, or several runs of one machine.
type Report struct {
	SchemaVersion int          `json:"schema_version"`
	Status        string       `json:"status"` // Complete or Interrupted
	Tool          Tool         `json:"tool"`
	Started       time.Time    `json:"started"`
	Finished      time.Time    `json:"finished"`
	Label         string       `json:"label,omitempty"`  // what the user calls this machine or run
	Merged        int          `json:"merged,omitempty"` // of how many reports this one was merged; 0 for a run's own
	Starts        []Start      `json:"starts,omitempty"` // of a merged report: of each report that it was made of
	Config        Config       `json:"config"`
	Software      Software     `json:"software"`
	Host          Host         `json:"host"`
	Dataset       *Dataset     `json:"dataset,omitempty"`
	Results       []Result     `json:"results"`
	Findings      []Finding    `json:"findings,omitempty"`
	Predictions   []Prediction `json:"predictions,omitempty"`
	Verdict       *Verdict     `json:"verdict,omitempty"`
	Nodes         *Nodes       `json:"nodes,omitempty"` // of nodes that measured together; the rest is the first one's
	Warnings      []string     `json:"warnings,omitempty"`
}

// Start is when one of several merged reports began. Its runs are numbered from Run, up
// to the next one's.
type Start struct {
	Run int       `json:"run"`
	At  time.Time `json:"at"`
}

// Tool identifies the program that wrote a report.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Dirty   bool   `json:"dirty,omitempty"` // built from a changed checkout
	Go      string `json:"go"`
}

// Config is what the run was asked to do.
type Config struct {
	Suites  []string            `json:"suites"`
	Devices []string            `json:"devices,omitempty"`
	Batch   int                 `json:"batch"` // images in a batch
	Shape   []int               `json:"shape"` // height, width, channels
	DType   string              `json:"dtype"`
	Quick   bool                `json:"quick,omitempty"`
	Count   int                 `json:"count,omitempty"`
	MinTime float64             `json:"min_time,omitempty"` // s, least length of a sample
	Timeout float64             `json:"timeout,omitempty"`  // s, for a case
	Repeat  int                 `json:"repeat,omitempty"`
	Axes    map[string][]string `json:"axes,omitempty"`
	Seed    uint64              `json:"seed"`
}

// Software names what did the work.
type Software struct {
	Driver  string `json:"driver,omitempty"`  // CUDA driver version, "12.4"
	Backend string `json:"backend,omitempty"` // how the driver is called: purego, gorgonia.org/cu
	Decoder string `json:"decoder,omitempty"`
}

// Dataset describes the images that were read.
type Dataset struct {
	Store       string `json:"store"`
	Images      int64  `json:"images"`
	LeftOut     int64  `json:"left_out,omitempty"` // images that are bad, or not decoded here
	Bytes       int64  `json:"bytes"`
	Fingerprint string `json:"fingerprint,omitempty"`
	Seed        uint64 `json:"seed,omitempty"`
	From        string `json:"from,omitempty"` // that is no disk of this machine: s3, or a network file system

	Network *Network `json:"network,omitempty"` // of an object store
}

// Network is what a run asked of an object store, until it ended.
type Network struct {
	Bytes     int64 `json:"bytes"` // that were read
	MaxBytes  int64 `json:"max_bytes,omitempty"`
	Requests  int64 `json:"requests"` // with those that were repeated
	Retries   int64 `json:"retries"`
	Throttled int64 `json:"throttled"` // answers 503 and 429
}

// String is "1.2 GB in 4321 requests, 3 of them repeated, 2 throttled (503 or 429)".
func (n *Network) String() string {
	text := fmt.Sprintf("%s in %s", FormatBytes(n.Bytes), Plural(int(n.Requests), "request"))
	if n.Retries+n.Throttled > 0 {
		text += fmt.Sprintf(", %d of them repeated, %d throttled (503 or 429)", n.Retries, n.Throttled)
	}
	return text
}

// Result is one case: one point of a suite's parameters.
type Result struct {
	Suite      string      `json:"suite"`
	Name       string      `json:"name"` // suite/key=value/..., unique in a report
	Params     Params      `json:"params"`
	Assumed    []string    `json:"assumed,omitempty"` // which parts were simulated: link, step, disk
	Status     string      `json:"status"`            // OK, Skipped or Failed
	Reason     string      `json:"reason,omitempty"`  // why not OK
	Metrics    []Metric    `json:"metrics,omitempty"`
	References []Reference `json:"references,omitempty"`
	Proof      Record      `json:"proof,omitzero"` // evidence: the link while copying, residency, bytes read
	Fit        Record      `json:"fit,omitzero"`   // of type Fit
	Series     []Series    `json:"series,omitempty"`
	Warnings   []string    `json:"warnings,omitempty"`
}

// Metric is one measured quantity of a case with all its samples.
type Metric struct {
	Name       string     `json:"name"`
	Unit       string     `json:"unit"`
	Better     string     `json:"better,omitempty"` // Lower or Higher
	Samples    []Sample   `json:"samples,omitempty"`
	Median     float64    `json:"median"`
	Min        float64    `json:"min"`
	Max        float64    `json:"max"`
	Lo         *float64   `json:"lo,omitempty"` // interval of the median; absent below 6 samples and for simulated values
	Hi         *float64   `json:"hi,omitempty"`
	Confidence float64    `json:"confidence,omitempty"` // of [Lo, Hi], 0.95
	MAD        float64    `json:"mad"`                  // median absolute deviation
	Outliers   int        `json:"outliers,omitempty"`   // counted, never removed
	Dropped    int        `json:"dropped,omitempty"`    // samples that were no finite numbers
	Quantiles  []Quantile `json:"quantiles,omitempty"`  // of single observations
	Runs       *Runs      `json:"runs,omitempty"`       // how runs differ; absent for a single run
	Reason     string     `json:"reason,omitempty"`     // why a number is missing
}

// Sample is one timed stretch of N repetitions; Value is per repetition.
type Sample struct {
	Value float64  `json:"value"`
	N     int      `json:"n"`             // repetitions
	T     float64  `json:"t"`             // s since the run started
	Run   int      `json:"run,omitempty"` // number of the run, from 0
	Flags []string `json:"flags,omitempty"`
}

// Quantile is the P-quantile, P in (0, 1), of a metric's observations.
type Quantile struct {
	P     float64 `json:"p"`
	Value float64 `json:"value"`
}

// Reference is a number, or a band from Lo to Hi, that a metric is compared with.
type Reference struct {
	Name   string   `json:"name"`   // line-rate, protocol-band, article-theory, ...
	Metric string   `json:"metric"` // the metric it belongs to
	Value  *float64 `json:"value,omitempty"`
	Lo     *float64 `json:"lo,omitempty"`
	Hi     *float64 `json:"hi,omitempty"`
	Source string   `json:"source"`
}

// DemandPrefix begins the names of references that say how much a GPU takes in: no
// bound of a row, but a line to compare all rows with.
const DemandPrefix = "demand: "

// Series is a quantity over time.
type Series struct {
	Name string    `json:"name"`
	Unit string    `json:"unit"`
	T    []float64 `json:"t"` // s since the case started
	V    []float64 `json:"v"`
}

// Verdicts of a Finding.
const (
	Holds        = "holds"
	Fails        = "fails"
	Inconclusive = "inconclusive"
	NotMeasured  = "not-measured"
)

// Finding is a sentence about the machine that follows from metrics.
type Finding struct {
	Claim   string   `json:"claim"` // A1, A4, ...: cmd/dlbench/help/claims.md has them
	Verdict string   `json:"verdict"`
	Text    string   `json:"text"`
	Value   *float64 `json:"value,omitempty"`
	Lo      *float64 `json:"lo,omitempty"`
	Hi      *float64 `json:"hi,omitempty"`
	Unit    string   `json:"unit,omitempty"`
	Assumed []string `json:"assumed,omitempty"`
}

// Prediction is what a model said of a change, and what was then measured.
type Prediction struct {
	Change   string   `json:"change"`
	Kind     string   `json:"kind,omitempty"` // what is changed: cores, link, disk, ...
	Metric   string   `json:"metric"`
	Unit     string   `json:"unit"`
	Base     *float64 `json:"base,omitempty"` // without the change, measured
	Value    *float64 `json:"value,omitempty"`
	Lo       *float64 `json:"lo,omitempty"` // the interval, predicted before anything was measured
	Hi       *float64 `json:"hi,omitempty"`
	Measured *float64 `json:"measured,omitempty"` // of a check
	// predicted over measured less 1; if not checked, the largest of its kind
	Error        *float64 `json:"error,omitempty"`
	Checks       int      `json:"checks,omitempty"`       // of its kind, behind Error
	Extrapolated bool     `json:"extrapolated,omitempty"` // outside of what was checked
	Cost         string   `json:"cost,omitempty"`         // Free or Purchase; "" for what is no advice
	Assumed      []string `json:"assumed,omitempty"`
	Note         string   `json:"note,omitempty"`
	Enough       string   `json:"enough,omitempty"` // when nothing waits: yes, perhaps or no; "" where nothing is needed
}

// Costs of a change.
const (
	Free     = "free" // a setting, or work to be done once
	Purchase = "purchase"
)

// Warnf adds a warning to r; an empty text adds none.
func (r *Result) Warnf(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); text != "" {
		r.Warnings = append(r.Warnings, text)
	}
}

// Metric returns the metric of that name, or nil.
func (r *Result) Metric(name string) *Metric {
	for i := range r.Metrics {
		if r.Metrics[i].Name == name {
			return &r.Metrics[i]
		}
	}
	return nil
}

// MedianOf is the median of a metric of r, 0 where there is none: nothing that is measured
// is below that.
func MedianOf(r *Result, metric string) float64 {
	if r == nil || r.Metric(metric) == nil {
		return 0
	}
	return max(0, r.Metric(metric).Median)
}

// Unfinished begins the warning of a case that was measured in part.
const Unfinished = "unfinished: "

// CasesFinished says how many cases were measured, and how many of them in part.
func (r *Report) CasesFinished() string {
	inPart := 0
	for _, res := range r.Results {
		if slices.ContainsFunc(res.Warnings, func(w string) bool { return strings.HasPrefix(w, Unfinished) }) {
			inPart++
		}
	}
	text := Plural(len(r.Results)-inPart, "case") + " finished"
	if inPart > 0 {
		text += fmt.Sprintf(", %d measured in part", inPart)
	}
	return text
}

// Cases are the OK results of a suite whose parameters fit, in order.
func Cases[P any](rs []Result, suite string, fit func(P) bool) (found []*Result) {
	for i := range rs {
		r := &rs[i]
		if r.Status == OK && r.Suite == suite && fit(As[P](r.Params)) {
			found = append(found, r)
		}
	}
	return found
}

// CaseOf is the first of Cases, nil where there is none.
func CaseOf[P any](rs []Result, suite string, fit func(P) bool) *Result {
	if found := Cases(rs, suite, fit); len(found) > 0 {
		return found[0]
	}
	return nil
}

// Reference returns the reference of that name and metric, or nil.
func (r *Result) Reference(name, metric string) *Reference {
	for i := range r.References {
		if r.References[i].Name == name && r.References[i].Metric == metric {
			return &r.References[i]
		}
	}
	return nil
}

// LineSlack is how much faster than its line a measurement may come out: more is an
// error of the measurement, or of what is known of the link.
const LineSlack = 1.002

// LineShare is the measured bandwidth over the line rate of the link.
func (r *Result) LineShare() (share float64, ok bool) {
	m, ref := r.Metric("bandwidth"), r.Reference("line-rate", "bandwidth")
	if m == nil || ref == nil || ref.Value == nil {
		return 0, false
	}
	share = m.Median / *ref.Value
	return share, share > 0 && IsFinite(share)
}

// Kind is "measured" or "simulated link and step".
func (r *Result) Kind() string {
	if len(r.Assumed) == 0 {
		return "measured"
	}
	return "simulated " + AssumedText(r.Assumed)
}

// AssumedText names simulated parts: "link and step".
func AssumedText(parts []string) string { return Plain(InWords(parts)) }

// AssumedAlike tells whether a and b assumed the same parts.
func AssumedAlike(a, b *Result) bool {
	x, y := slices.Sorted(slices.Values(a.Assumed)), slices.Sorted(slices.Values(b.Assumed))
	return slices.Equal(x, y)
}

// UniqueNames checks that no two results of r have one name.
func (r *Report) UniqueNames() error {
	for _, same := range Grouped(r.Results, func(r Result) string { return r.Name }) {
		if len(same) > 1 {
			return fmt.Errorf("two results are named %q", same[0].Name)
		}
	}
	return nil
}

// MachineNames names the machine of each report by its label or else its CPU, cut to n
// characters; a name that is there already gets a number.
func MachineNames(reports []*Report, n int) []string {
	var names []string
	for _, r := range reports {
		name := cmp.Or(Words(r.Label, n), Words(r.Host.CPU.Model, n), "unnamed machine")
		names = append(names, UniqueName(names, name))
	}
	return names
}

// UniqueName is a name, with a number behind it where it is among those given.
func UniqueName(names []string, name string) string {
	unique := name
	for i := 2; slices.Contains(names, unique); i++ {
		unique = fmt.Sprintf("%s (%d)", name, i)
	}
	return unique
}

// Rank is the place of s in order, behind all of them where it is not among them.
func Rank(order []string, s string) int {
	if i := slices.Index(order, s); i >= 0 {
		return i
	}
	return len(order)
}
