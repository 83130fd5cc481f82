package bench

import (
	"fmt"
	"slices"
)

// save emits the cases of a round as far as they are.
func (m *measurer) save(rs []*running) error {
	for _, r := range rs {
		if r.tally.count == 0 && r.err == nil {
			continue
		}
		res := r.result
		res.Metrics = r.tally.Metrics()
		if !r.done {
			res.Warnings = append(slices.Clone(res.Warnings), unfinished(r))
		}
		if err := m.emit(res); err != nil {
			return err
		}
	}
	return nil
}

// finish emits the group's final results. interrupted is the reason when the
// group did not come to its end.
func (m *measurer) finish(rs []*running, interrupted error) error {
	for _, r := range rs {
		if interrupted != nil && !r.done {
			if len(r.tally.samples) == 0 {
				continue // never measured: not in the report
			}
			r.result.Warnings = append(r.result.Warnings, unfinished(r))
		}
		r.result.Metrics = r.tally.Metrics()
		r.result.Warnings = distinct(r.result.Warnings)
		if err := m.emit(r.result); err != nil {
			return err
		}
	}
	return nil
}

// distinct drops what was said before: restarts warn of the same things.
func distinct(warnings []string) []string {
	var out []string
	for _, w := range warnings {
		if !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

func unfinished(r *running) string {
	return fmt.Sprintf("unfinished: %d samples so far", r.tally.count)
}

// report tells the user how far the run is: finished cases, and within the group
// the share of the samples that its cases need at least.
func (m *measurer) report(r *running, rs []*running) {
	if m.cfg.Progress == nil {
		return
	}
	share := float64(m.done)
	for _, x := range rs {
		if !x.done && m.cfg.Rule.Samples > 0 {
			share += min(1, float64(x.tally.count)/float64(m.cfg.Rule.Samples))
		}
	}
	m.cfg.Progress(Progress{Suite: r.result.Suite, Case: r.result.Name, Done: m.done, All: m.all, Share: share / float64(max(1, m.all))})
}
