package results

import (
	"cmp"
	"slices"

	"dlbench/bench/theory"
)

// PreprocessParams is the parameters of a case of the preprocess suite.
type PreprocessParams struct {
	Threads   int     `json:"threads"`
	Decoder   string  `json:"decoder,omitempty"` // "" of prepared tensors
	Strategy  string  `json:"strategy"`
	Layout    string  `json:"layout"`
	DType     string  `json:"dtype"`
	Antialias string  `json:"antialias,omitempty"`
	Clock     float64 `json:"clock,omitempty"` // GHz that the CPUs were held to; 0 for none
}

// PreprocessProof is the evidence of a case of the preprocess suite.
type PreprocessProof struct {
	CPUs        []int   `json:"cpus"` // of the threads
	Images      int     `json:"images"`
	Damaged     int     `json:"damaged"`
	Converted   int     `json:"converted"`
	Bad         int     `json:"bad"`
	Decoder     string  `json:"decoder,omitempty"`
	ClockBefore float64 `json:"clock_before,omitempty"` // cycles/s
	Governor    *string `json:"governor,omitempty"`
	ClockAfter  float64 `json:"clock_after,omitempty"`
	Throttled   int64   `json:"nr_throttled"` // periods in which a quota stopped the process
	Siblings    int     `json:"siblings"`     // threads that share a core
	Slower      int     `json:"slower"`       // threads on slower cores
}

// Fit is a law of scaling fitted to the rates of several thread counts.
type Fit struct {
	Model            string   `json:"model"`
	X1               float64  `json:"x1"` // rate of one thread, images/s
	Error            float64  `json:"error"`
	Least            int      `json:"least"` // threads it was fitted to
	Most             int      `json:"most"`
	Serial           *float64 `json:"serial,omitempty"`
	Sigma            *float64 `json:"sigma,omitempty"`
	Kappa            *float64 `json:"kappa,omitempty"`
	Peak             *float64 `json:"peak,omitempty"`
	PeakExtrapolated *bool    `json:"peak_extrapolated,omitempty"`
}

// NewFit is a fitted law as a report has it.
func NewFit(s theory.Scaling) *Fit {
	f := &Fit{Model: s.Law, X1: s.X1, Error: s.Error, Least: s.Least, Most: s.Most}
	if s.Law == theory.Amdahl {
		f.Serial = &s.Sigma
		return f
	}
	f.Sigma, f.Kappa = &s.Sigma, &s.Kappa
	if peak, ok := s.Peak(); ok {
		f.Peak, f.PeakExtrapolated = &peak, new(peak > float64(s.Most))
	}
	return f
}

// Values of the preprocess suite's axes that code refers to.
const (
	Online, Offline = "online", "offline"
	NHWC, NCHW      = "nhwc", "nchw"
	On, Off         = "on", "off"
)

// ScalingLine is the cases that differ in their threads or workers alone, in that order.
type ScalingLine struct {
	Cases []*Result
	Rates []theory.Rate
}

func newScalingLine(cases []*Result) *ScalingLine {
	cases = slices.DeleteFunc(cases, func(r *Result) bool { return r.Metric("throughput") == nil })
	slices.SortStableFunc(cases, func(a, b *Result) int { return cmp.Compare(WorkersOf(a), WorkersOf(b)) })
	l := &ScalingLine{Cases: cases}
	for _, r := range cases {
		l.Rates = append(l.Rates, RateOf(r, "throughput"))
	}
	return l
}

// First is the case with the fewest threads.
func (l *ScalingLine) First() *Result { return l.Cases[0] }

// Recommended is the case of the fewest workers that feed almost as much as any number of
// them; nil for none.
func (l *ScalingLine) Recommended() *Result {
	const almostAll = 0.97
	best := 0.0
	for _, r := range l.Rates {
		best = max(best, r.Value)
	}
	for i, r := range l.Rates {
		if r.Value >= almostAll*best {
			return l.Cases[i]
		}
	}
	return nil
}

// ScalingLines groups the cases of the suite.
func ScalingLines(rs []Result) (lines []*ScalingLine) {
	but := func(r *Result) PreprocessParams {
		p := As[PreprocessParams](r.Params)
		p.Threads = 0
		return p
	}
	for _, cases := range Grouped(Cases(rs, "preprocess", func(PreprocessParams) bool { return true }), but) {
		if l := newScalingLine(cases); len(l.Cases) > 0 {
			lines = append(lines, l)
		}
	}
	return lines
}

// RateOf is a metric of a case as a rate of its threads or workers.
func RateOf(r *Result, metric string) theory.Rate {
	x := IntervalOf(r.Metric(metric))
	return theory.Rate{Threads: WorkersOf(r), Value: x.Value, Lo: x.Lo, Hi: x.Hi}
}

// UsualLine is the line of a strategy with the batch as it is by default: the first.
func UsualLine(rs []Result, strategy string) *ScalingLine {
	for _, l := range ScalingLines(rs) {
		if p := As[PreprocessParams](l.First().Params); p.Strategy == strategy && p.Clock == 0 {
			return l
		}
	}
	return nil
}

// MostThreads bounds the threads axis.
const MostThreads = 1024
