package advise

import (
	"fmt"
	"slices"
	"strings"

	"dlbench/bench/theory"
	"dlbench/results"
)

// mostLost is the share of the CPU time that may be missing before it is told.
const mostLost = 0.1

// granted is the share of the CPU time that the loader had, of what it could use by its
// replay; 1 where it is not known.
func (m *loaderModel) granted() float64 {
	cpu := m.base.Metric("cpu")
	o := m.replay.Run()
	step, work := m.base.Metric("step_time").Median, o.By.Preprocess/max(o.Mean(), 1e-9)
	if cpu == nil || step <= 0 || work < 0.5 { // it waits for something else
		return 1
	}
	busy := float64(m.replay.Workers + m.replay.Busy)
	return min(1, cpu.Median/step/(work*float64(m.replay.Workers)*min(1, m.cores/busy)))
}

// goDecoder tells whether Go's decoder stood in for libjpeg-turbo.
func goDecoder(m *loaderModel) bool {
	return strings.HasPrefix(results.As[results.PipelineProof](m.base.Proof).Decoder, "Go")
}

// notes are what the verdict rests on, and what it says of the articles' other claims.
func (v *verdict) notes() (lines []string) {
	m := v.m
	if name := results.As[results.PipelineProof](m.base.Proof).Decoder; name != "" {
		if goDecoder(m) {
			lines = append(lines, "decoded by "+name+", since libjpeg-turbo is missing: a loader that has it is three times as fast or more, and bound by something else perhaps")
		} else {
			lines = append(lines, "decoded by "+name+", as loaders in Python that use this library would")
		}
	}
	if m.split && !m.apart && m.base.Metric("read") == nil && !slices.Contains(m.base.Assumed, "disk") {
		lines = append(lines, "reading and preprocessing are told apart by the preprocess suite alone, not in the pipeline")
	}
	for _, part := range []struct{ name, what string }{
		{"link", "the link is assumed: what is said of copies follows from " + m.base.Params.Text("device")},
		{"disk", "the disk is assumed: what is said of reading follows from " + m.base.Params.Text("disk")},
	} {
		if slices.Contains(m.base.Assumed, part.name) {
			lines = append(lines, part.what)
		}
	}
	if lost := 1 - m.granted(); lost > mostLost {
		lines = append(lines, fmt.Sprintf("other programs took %.0f %% of the CPU time that the loader could use: its speed on a quiet machine is higher", 100*lost))
	}
	if _, emulated := m.diskOf(m.base); !emulated && m.rep.Dataset != nil {
		switch {
		case results.ProvenCold(m.base):
			lines = append(lines, "the data was read past the page cache, as where it is larger than RAM")
		case results.Bypassed(m.base):
			lines = append(lines, "the data was to be read past the page cache, which is not proven")
		default:
			lines = append(lines, "the data was read from the page cache, as in all epochs but the first where it fits into RAM")
		}
	}
	var needs []string
	for _, d := range theory.Demands {
		if n, ok := theory.CoresNeeded(m.rates, d.Rate()); ok {
			text := twoDigits(n.Threads) + " for " + d.Name
			if n.Extrapolated {
				text = "at least " + text + " (extrapolated)"
			}
			needs = append(needs, text)
		}
	}
	if len(needs) > 0 {
		lines = append(lines, fmt.Sprintf("cores a GPU (A7, A17): %s, beside %s that the step keeps busy", strings.Join(needs, ", "), results.Plural(m.replay.Busy, "thread")))
	}
	for _, p := range v.whatIfs {
		if p.Kind == kindGPUs && p.Value != nil {
			lines = append(lines, fmt.Sprintf("%s is fed %.0f images/s (%.0f to %.0f; A6, extrapolated, each with a link as now)", p.Change, *p.Value, *p.Lo, *p.Hi))
		}
	}
	if at := slices.IndexFunc(m.rep.Findings, func(f results.Finding) bool { return f.Claim == "A5" && f.Verdict != results.NotMeasured }); at >= 0 {
		f := m.rep.Findings[at]
		word := "at least as much as"
		if f.Verdict == results.Fails {
			word = "less than"
		}
		lines = append(lines, fmt.Sprintf("RAM against the largest GPU's memory (A5): %s; that is %s the article asks for", f.Text, word))
	}
	return lines
}
