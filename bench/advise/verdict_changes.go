package advise

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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
	if goDecoder(v.m) {
		lines = append(lines, "free: install libjpeg-turbo, which decodes at three times the speed or more: then measure again")
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
	slices.SortStableFunc(help, func(a, b results.Prediction) int {
		return cmp.Or(cmp.Compare(order(a.Cost), order(b.Cost)), -cmp.Compare(*a.Value, *b.Value))
	})
	for _, p := range help {
		lines = append(lines, v.advice(p))
	}
	if len(unsure) > 0 {
		lines = append(lines, "not certain to bring anything, by what was measured here: "+strings.Join(unsure, ", "))
	} else if len(help) == 0 {
		lines = append(lines, "none of the changes that were tried brings more than 2 %")
	}
	return lines
}

func order(cost string) int {
	if cost == results.Free {
		return 0
	}
	return 1
}

// advice is a change in words, with what it brings and what that rests on.
func (v *verdict) advice(p results.Prediction) string {
	s := fmt.Sprintf("%s: %s: %.0f instead of %.0f images/s (%+.0f %%; %.0f to %.0f)", p.Cost, p.Change, *p.Value, *p.Base, 100*(*p.Value / *p.Base - 1), *p.Lo, *p.Hi)
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
	if p.Error != nil {
		e := fmt.Sprintf("its model was off by up to %.1f %%", 100**p.Error)
		if p.Checks > 0 {
			e += fmt.Sprintf(" in %s of this kind", results.Plural(p.Checks, "check"))
		} else {
			e += " in four of five checks, none of them of this kind"
		}
		s = append(s, e)
	} else if !strings.Contains(p.Note, measuredHere) {
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
