package encode

import (
	"fmt"
	"io"
	"strings"

	"dlbench/results"
)

// WhatIf writes what changes would bring, in the first screen's words: a table of those that
// change something, and a sentence for each other one.
func WhatIf(w io.Writer, r *results.Report, v *results.Verdict) error {
	s := &screen{report: r, verdict: v}
	s.line("%s", s.machine())
	s.line("")
	if v.Answer == results.AnswerBusy { // it holds for all that follows
		s.answer(false)
	}
	s.feedsAndNeeds()
	s.line("")
	s.changes("would feed", v.Changes)
	var notes []string
	for _, c := range v.Changes {
		if c.Note != "" {
			notes = append(notes, c.Name+": "+c.Note)
		}
	}
	if notes = append(notes, v.Notes...); len(v.Assumed) > 0 {
		notes = append(notes, "simulated, not measured: "+strings.Join(v.Assumed, ", "))
	}
	if len(v.Changes)+len(v.NoEffect) > 0 && len(notes) > 0 {
		s.line("")
	}
	for _, note := range notes {
		s.paragraph(2, note)
	}
	return s.write(w, len(s.lines))
}

// share is what each of several GPUs gets, and how many this machine feeds.
func (s *screen) share() {
	x := s.verdict.Share
	if x == nil {
		return
	}
	lo, hi := around(x.Gets, x.Lo, x.Hi)
	each := fmt.Sprintf("each gets %.0f-%.0f images/s", lo, hi)
	if x.Needs > 0 {
		words := map[string]string{"yes": "enough", "no": "not enough", "perhaps": "perhaps"}
		each = fmt.Sprintf("each gets %.0f-%.0f of %.0f images/s: %s", lo, hi, x.Needs,
			words[results.Enough(x.Lo, x.Hi, x.Needs)])
	}
	s.rate("GPUs", fmt.Sprint(x.GPUs), each+" ("+x.Evidence+")")
	if x.Needs == 0 {
		return
	}
	fed := "this machine feeds " + results.Plural(x.Fed, "such GPU")
	if x.Cores > 0 {
		atLeast := ""
		if x.AtLeast {
			atLeast = "at least "
		}
		fed += fmt.Sprintf("; each needs %s%.3g cores", atLeast, x.Cores)
	}
	s.rate("", "", fed)
}
