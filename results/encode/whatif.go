package encode

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"dlbench/results"
)

// WhatIf writes what changes would bring, in the first screen's words: a table of those that
// change something, and a sentence for each other one.
func WhatIf(w io.Writer, r *results.Report, v *results.Verdict) error {
	s := &screen{report: r, verdict: v, most: math.MaxInt}
	s.line("%s", s.machine())
	s.line("")
	if v.Answer == results.AnswerBusy { // it holds for all that follows
		s.answer(false)
	}
	s.feedsAndNeeds()
	s.line("")
	s.whatIfs()
	notes := v.Notes
	if len(v.Assumed) > 0 {
		notes = append(slices.Clone(notes), "simulated, not measured: "+strings.Join(v.Assumed, ", "))
	}
	for _, note := range notes {
		s.paragraph(2, note)
	}
	_, err := w.Write([]byte(strings.TrimRight(s.text.String(), "\n") + "\n"))
	return err
}

// whatIfs are the table of changes, what is to be said of them, and what has no effect.
func (s *screen) whatIfs() {
	v := s.verdict
	s.table("would feed", v.Changes)
	var notes []string
	for _, c := range v.Changes {
		if c.Note != "" {
			notes = append(notes, c.Name+": "+c.Note)
		}
	}
	if len(v.NoEffect) > 0 {
		notes = append(notes, "no effect: "+strings.Join(v.NoEffect, ", "))
	}
	for _, note := range notes {
		s.paragraph(4, note)
	}
	if len(v.Changes)+len(notes) > 0 {
		s.line("")
	}
}

// enoughWords are the words for results.Enough.
var enoughWords = map[string]string{"yes": "enough", "no": "not enough", "perhaps": "perhaps"}

// share is what each of several GPUs gets, and how many this machine feeds.
func (s *screen) share() {
	x := s.verdict.Share
	if x == nil {
		return
	}
	lo, hi := around(x.Gets, x.Lo, x.Hi)
	each := fmt.Sprintf("each gets %.0f-%.0f images/s", lo, hi)
	if x.Needs > 0 {
		enough := enoughWords[results.Enough(x.Lo, x.Hi, x.Needs)]
		each = fmt.Sprintf("each gets %.0f-%.0f of %.0f images/s: %s", lo, hi, x.Needs, enough)
	}
	s.rate("GPUs", fmt.Sprint(x.GPUs), each+" ("+x.Evidence+")")
	if x.Needs == 0 {
		return
	}
	fed := fmt.Sprintf("this machine feeds %s", results.Plural(x.Fed, "GPU"))
	if x.Fed == 0 {
		fed = "this machine feeds no such GPU"
	}
	if x.Cores > 0 {
		cores := fmt.Sprintf("%.1f", x.Cores)
		if x.Cores >= 10 {
			cores = fmt.Sprintf("%.0f", x.Cores)
		}
		if x.AtLeast {
			cores = "at least " + cores
		}
		fed += "; each needs " + cores + " cores"
	}
	s.rate("", "", fed)
}
