// Package bench measures: suites of cases, the core that runs them, and what
// follows from their numbers. It prints nothing and knows no flags.
package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"dlbench/bench/theory"
	"dlbench/results"
)

// Suite is a family of cases. The list of suites has one entry for each; the command line,
// `dlbench list`, go test -bench and the report follow from what it declares.
type Suite struct {
	Name string
	Doc  string // one line
	Axes []AxisInfo
	// Cases returns the curated cases, with the axes of Env expanded.
	Cases func(Env) ([]Case, error)
	// Claims adds to finished results what follows from several of them, and judges the
	// suite's claims by them. It may be nil.
	Claims func(Env, []results.Result) []Claim
	// Devices and Data say that the suite copies to devices, and that it reads a data
	// set: Env has them then. Decode says that it decodes images: those of the data
	// were checked then.
	Devices, Data, Decode bool
	// Share and Quick are the suite's time in a run and in a quick one, for its
	// cases together; 0 for the default. Cases that need more take more.
	Share, Quick time.Duration
	// Samples is how many samples a case has at least, and Visit how many of them are
	// taken in a row: all where the suite's cases cannot be paused. 0 for the default.
	Samples, Visit int
}

// Claim is a claim, and what cases that were selected for it and tested say of it.
type Claim struct {
	Name    string                    // A1, siblings
	Missing string                    // what is not there to judge it by where nothing was found; "" for no finding then
	Needs   func(results.Params) bool // the cases that it is judged by; nil for none in particular
	Found   results.Finding
}

// Needs makes of a condition on a suite's parameters that of a Claim.
func Needs[P any](fit func(P) bool) func(results.Params) bool {
	return func(p results.Params) bool { return fit(results.As[P](p)) }
}

// mostReasons is how many different reasons a finding gives for what is not there.
const mostReasons = 2

// WhyNot says why cases with such parameters were not measured, "" where all were or there are
// none.
func WhyNot(rs []results.Result, needs func(results.Params) bool) string {
	var reasons []string
	for _, r := range rs {
		if r.Status != results.OK && r.Reason != "" && needs != nil && needs(r.Params) {
			reasons = results.AppendNew(reasons, r.Reason)
		}
	}
	text := strings.Join(reasons[:min(len(reasons), mostReasons)], "; ")
	if n := len(reasons) - mostReasons; n > 0 {
		text += fmt.Sprintf("; and %d more", n)
	}
	return text
}

// Findings says what finished results mean for the suite's claims. One without a verdict is not
// measured.
func (s Suite) Findings(env Env, rs []results.Result) (all []results.Finding) {
	if s.Claims == nil {
		return nil
	}
	for _, c := range s.Claims(env, rs) {
		f := c.Found
		f.Claim, f.Verdict = c.Name, cmp.Or(f.Verdict, results.NotMeasured)
		if f.Text == "" && c.Missing != "" {
			f.Text = c.Missing + results.After(": ", WhyNot(rs, c.Needs))
		}
		if f.Text != "" {
			all = append(all, f)
		}
	}
	return all
}

// Case is one point of a suite's parameters.
type Case struct {
	Params     results.Params
	Group      string        // cases of one group are interleaved, since they are compared
	Assumed    []string      // the parts that a stand-in produces: link, step, disk
	Device     string        // when it is lost, its other cases end too; "" for none
	Mode       string        // in which the device is used: one that does not come back ends its cases alone
	CPUs       []int         // where the measuring thread runs; nil leaves it alone
	Least      time.Duration // samples follow each other without a pause for so long at least
	Restarts   int           // how often its group is measured anew at least; 0 is once
	Metrics    []MetricDef
	References []results.Reference
	Prepare    func(context.Context) error // may take its time, before the case is opened; nil for nothing
	Skip       string                      // why the case cannot run here; then it is listed and not opened
	Open       func(context.Context, Env) (Runner, error)
}

// MetricDef declares a metric. The first of a case decides when it is measured
// well enough.
type MetricDef struct {
	Name, Unit, Better string
	Resolution         float64 // of the clock behind it, in Unit
	NoInterval         bool    // assumed: an interval would say nothing
	Distribution       bool    // many quantiles, enough to draw it
}

// Runner does the work of a case. It is opened, called and closed on one OS
// thread.
type Runner interface {
	// Sample does n repetitions and records their times.
	Sample(ctx context.Context, n int, r *Recorder) error
	Close() error
}

// OpenCopy returns what opens a case whose runners are copies of r, made ready by Open.
func OpenCopy[R any, P interface {
	*R
	Runner
	Open(context.Context) error
}](r R) func(context.Context, Env) (Runner, error) {
	return func(ctx context.Context, _ Env) (Runner, error) {
		fresh := r
		runner := P(&fresh)
		if err := runner.Open(ctx); err != nil {
			return nil, errors.Join(err, runner.Close())
		}
		return runner, nil
	}
}

// Sizer is a Runner that adjusts how many repetitions make a sample.
type Sizer interface {
	Size(n int) int
}

// Checker is a Runner that can say whether its samples so far are to be trusted.
type Checker interface {
	Check() error
}

// Reporter is a Runner that adds references, proof and warnings to its result,
// once the last sample is there.
type Reporter interface {
	Report(*results.Result)
}

// UsageError is a request that cannot be met as it was put.
type UsageError struct {
	Flag, Value string
	Want        string
}

func (e *UsageError) Error() string {
	return fmt.Sprintf("%s %s: %s", e.Flag, e.Value, e.Want)
}

// Select returns the suites of these names, all for none.
func Select(all []Suite, names []string) ([]Suite, error) {
	if len(names) == 0 {
		return all, nil
	}
	var known []string
	for _, s := range all {
		known = append(known, s.Name)
	}
	var out []Suite
	for _, n := range results.AppendNew(nil, names...) {
		i := slices.Index(known, n)
		if i < 0 {
			return nil, &UsageError{"--suite", fmt.Sprintf("%q", n), "unknown suite: " + Want(n, known)}
		}
		out = append(out, all[i])
	}
	return out, nil
}

// SkipError says that a case cannot run here, which is no failure.
type SkipError struct{ Reason string }

func (e *SkipError) Error() string { return e.Reason }

// Metrics that several suites have.
var (
	MetricBandwidth = MetricDef{Name: "bandwidth", Unit: results.BytesPerSecond, Better: results.Higher}

	// MetricTime is that of a batch.
	MetricTime = MetricDef{Name: "time", Unit: results.Seconds, Better: results.Lower, Resolution: 0.5e-6}
	// MetricImages is a number of images in a time.
	MetricImages = MetricDef{Name: "throughput", Unit: results.PerSecond, Better: results.Higher}
	// MetricLateness is that against a simulated deadline.
	MetricLateness = MetricDef{Name: "lateness", Unit: results.Seconds, Better: results.Lower, Resolution: 1e-7}
)

// RateReferences are those of a rate from lo to hi, or of one where these are equal: as a
// bandwidth, and as the time of so many bytes.
func RateReferences(name, source string, bytes, lo, hi float64) []results.Reference {
	rate := results.Reference{Name: name, Metric: MetricBandwidth.Name, Source: source}
	time := results.Reference{Name: name, Metric: MetricTime.Name, Source: source}
	if lo == hi {
		rate.Value, time.Value = results.Finite(lo), results.Finite(bytes/lo)
	} else {
		rate.Lo, rate.Hi = results.Finite(lo), results.Finite(hi)
		time.Lo, time.Hi = results.Finite(bytes/hi), results.Finite(bytes/lo)
	}
	return []results.Reference{rate, time}
}

// Demands are the rates that GPUs take, as references of a throughput.
func Demands() (all []results.Reference) {
	for _, d := range theory.Demands {
		all = append(all, results.Reference{Name: results.DemandPrefix + d.Name, Metric: MetricImages.Name,
			Value: new(d.Rate()), Source: d.Source})
	}
	return all
}
