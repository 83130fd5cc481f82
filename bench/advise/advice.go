package advise

import (
	"fmt"
	"slices"
	"strings"

	"dlbench/bench/theory"
	"dlbench/results"
)

// rests says what a prediction rests on.
func rests(p results.Prediction) string {
	measured := strings.Contains(p.Note, measuredHere)
	switch {
	case p.Kind == kindStrategy && measured:
		return "measured; same crops each epoch"
	case p.Kind == kindStrategy:
		return "estimate; same crops each epoch"
	case measured:
		return "measured"
	case p.Extrapolated:
		return "extrapolated"
	case p.Error != nil && p.Checks > 0:
		return fmt.Sprintf("checked, off by %.0f %%", 100**p.Error)
	}
	return "estimate, not checked"
}

// decoder is what decoded in the base, "" where it is not known.
func (v *verdict) decoder() string {
	return results.As[results.PipelineProof](v.m.base.Proof).Decoder
}

// notes are what the verdict rests on, and what it says of the articles' other claims.
func (v *verdict) notes() (lines []string) {
	m, base := v.m, v.m.base
	note := func(when bool, text string) {
		if when {
			lines = append(lines, text)
		}
	}
	name := v.decoder()
	slow := strings.HasPrefix(name, "Go")
	note(slow, "decoded by "+name+", since libjpeg-turbo is missing: "+
		"a loader that has it is at least three times as fast, and may have another bottleneck")
	note(name != "" && !slow, "decoded by "+name+", as by the Python loaders that use this library")
	note(m.split && !m.apart && base.Metric("read") == nil && !slices.Contains(base.Assumed, "disk"),
		"only the preprocess suite tells reading and preprocessing apart, the pipeline does not")
	note(slices.Contains(base.Assumed, "link"),
		"the link is simulated: all figures of copies follow from "+m.params.Device)
	note(slices.Contains(base.Assumed, "disk"),
		"the disk is simulated: all figures of reads follow from "+m.params.Disk)
	switch real := !m.parts.disk.Emulated() && m.report.Dataset != nil; {
	case paramsOf(base).Cache == results.Remote:
		note(real, "the data was read over the network, as in each epoch without a cache of the loader's own")
	case results.ProvenCold(base):
		note(real, "the data was read past the page cache, as where it is larger than RAM")
	case results.Bypassed(base):
		note(real, "the data should have been read past the page cache, but there is no proof")
	default:
		note(real, "the data was read from the page cache, as in each epoch after the first, if the data fits into RAM")
	}
	return append(lines, v.claims()...)
}

// claims are what the verdict says of the articles' claims about cores, GPUs and RAM.
func (v *verdict) claims() (lines []string) {
	m := v.m
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
		lines = append(lines, fmt.Sprintf("cores that a GPU needs (A7): %s, next to %s",
			strings.Join(needs, ", "), results.Plural(m.parts.busy, "training thread")))
	}
	for _, p := range v.whatIfs {
		if p.Kind == kindGPUs && p.Value != nil {
			const fed = "%s gets %.0f images/s (%.0f to %.0f; A6, extrapolated, each with a link as now)"
			lines = append(lines, fmt.Sprintf(fed, p.Change, *p.Value, *p.Lo, *p.Hi))
		}
	}
	measured := func(f results.Finding) bool { return f.Claim == "A5" && f.Verdict != results.NotMeasured }
	if i := slices.IndexFunc(m.report.Findings, measured); i >= 0 {
		f, word := m.report.Findings[i], "at least as much as"
		if f.Verdict == results.Fails {
			word = "less than"
		}
		const ram = "RAM against the largest GPU's memory (A5): %s; that is %s the article asks for"
		lines = append(lines, fmt.Sprintf(ram, f.Text, word))
	}
	return lines
}
