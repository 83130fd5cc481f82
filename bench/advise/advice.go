package advise

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dlbench/bench/theory"
	"dlbench/results"
)

// changes are those that help, settings before purchases, each by what it brings.
func (v *verdict) changes(r *results.Verdict) (lines []string) {
	if r.Bound == boundGPU && v.given {
		return []string{"nothing: the GPU is the limit"}
	}
	if r.Status == results.Inconclusive && r.Loader == "" {
		return lines
	}
	if strings.HasPrefix(v.decoder(), "Go") {
		lines = append(lines, "free: install libjpeg-turbo, which decodes at three times the speed or more: "+
			"then measure again")
	}
	var help []results.Prediction
	var unsure []string
	for _, p := range v.whatIfs {
		switch {
		case p.Cost == "" || p.Value == nil || *p.Value < (1+noGain)**p.Base:
		case *p.Lo <= *p.Base:
			unsure = append(unsure, fmt.Sprintf("%s (%.0f to %.0f images/s)", p.Change, *p.Lo, *p.Hi))
		default:
			help = append(help, p)
		}
	}
	slices.SortStableFunc(help, func(a, b results.Prediction) int { // "free" before "purchase"
		return cmp.Or(cmp.Compare(a.Cost, b.Cost), -cmp.Compare(*a.Value, *b.Value))
	})
	for _, p := range help {
		lines = append(lines, v.advice(p))
	}
	if len(unsure) > 0 {
		text := "not certain to bring anything, by what was measured here: "
		lines = append(lines, text+strings.Join(unsure, ", "))
	} else if len(help) == 0 {
		lines = append(lines, "none of the changes that were tried brings more than 2 %")
	}
	return lines
}

// advice is a change in words, with what it brings and what that rests on.
func (v *verdict) advice(p results.Prediction) string {
	gain := 100 * (*p.Value / *p.Base - 1)
	s := fmt.Sprintf("%s: %s: %.0f instead of %.0f images/s (%+.0f %%; %.0f to %.0f)",
		p.Cost, p.Change, *p.Value, *p.Base, gain, *p.Lo, *p.Hi)
	if v.given && *p.Base < v.demand {
		switch {
		case *p.Lo > v.demand:
			s += ", enough"
		case *p.Hi > v.demand:
			s += ", perhaps enough"
		default:
			s += ", not enough"
		}
	}
	return s + "; " + rests(p)
}

// rests says what a prediction rests on.
func rests(p results.Prediction) string {
	var s []string
	switch {
	case p.Error != nil:
		checks := "four of five checks, none of them"
		if p.Checks > 0 {
			checks = results.Plural(p.Checks, "check")
		}
		s = append(s, fmt.Sprintf("its model was off by up to %.1f %% in %s of this kind", 100**p.Error, checks))
	case !strings.Contains(p.Note, measuredHere):
		s = append(s, "unchecked")
	}
	if p.Extrapolated {
		s = append(s, "extrapolated")
	}
	if p.Note != "" {
		s = append(s, p.Note)
	}
	return strings.Join(s, "; ")
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
		"a loader that has it is three times as fast or more, and bound by something else perhaps")
	note(name != "" && !slow, "decoded by "+name+", as loaders in Python that use this library would")
	note(m.split && !m.apart && base.Metric("read") == nil && !slices.Contains(base.Assumed, "disk"),
		"reading and preprocessing are told apart by the preprocess suite alone, not in the pipeline")
	note(slices.Contains(base.Assumed, "link"),
		"the link is assumed: what is said of copies follows from "+m.params.Device)
	note(slices.Contains(base.Assumed, "disk"),
		"the disk is assumed: what is said of reading follows from "+m.params.Disk)
	lost := 1 - m.granted()
	note(lost > mostLost, fmt.Sprintf("other programs took %.0f %% of the CPU time that the loader could use: "+
		"its speed on a quiet machine is higher", 100*lost))
	switch real := !m.parts.disk.Emulated() && m.report.Dataset != nil; {
	case results.ProvenCold(base):
		note(real, "the data was read past the page cache, as where it is larger than RAM")
	case results.Bypassed(base):
		note(real, "the data was to be read past the page cache, which is not proven")
	default:
		note(real, "the data was read from the page cache, as in all epochs but the first where it fits into RAM")
	}
	return append(lines, v.claims()...)
}

// mostLost is the share of the CPU time that may be missing before a note says so.
const mostLost = 0.1

// granted is the share of the CPU time that the loader had, of what it could use; 1
// where it is not known, and where it mostly waits for something else.
func (m *model) granted() float64 {
	work := m.loader.readCPU + m.loader.preprocess
	cpu := median(m.base, "cpu")
	if cpu <= 0 || work/m.loader.share()/float64(m.loader.workers) < m.loader.stepTime()/2 {
		return 1
	}
	return min(1, cpu/work)
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
		lines = append(lines, fmt.Sprintf("cores a GPU (A7, A17): %s, beside %s that the step keeps busy",
			strings.Join(needs, ", "), results.Plural(m.parts.busy, "thread")))
	}
	for _, p := range v.whatIfs {
		if p.Kind == kindGPUs && p.Value != nil {
			const fed = "%s is fed %.0f images/s (%.0f to %.0f; A6, extrapolated, each with a link as now)"
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
