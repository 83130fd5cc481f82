package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"dlbench/results"
	"dlbench/results/compare"
)

// simulatedMargin is the share by which a simulated metric may differ, in either direction.
const simulatedMargin = 0.01

// compareWithFirst compares the runs in dir/current with those in dir/first, made in turn,
// and writes each metric's ratio and what only one side has. The error says that a case or
// a metric of the first version is missing, or that a metric of those gated is worse by more than
// margin with its whole interval.
func compareWithFirst(w io.Writer, dir string, margin float64, gated []string) error {
	inventories, err := both(dir, "first", "current", inventory)
	if err != nil {
		return err
	}
	missing := onOneSide(w, inventories[0], inventories[1])
	reports, err := both(dir, "first", "current", side)
	if err != nil {
		return err
	}
	simulated := measuredAlike(reports[0])
	measuredAlike(reports[1])
	c, err := compare.Reports(reports, compare.Options{})
	if err != nil {
		return err
	}
	summary, failed := tally{}, 0
	fmt.Fprintln(w, "\n| case | metric | first | current | current / first | verdict |")
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- | --- |")
	for _, cc := range c.Cases {
		for _, m := range cc.Metrics {
			s := m.Sides[1]
			if s.Estimate == nil {
				continue // onOneSide tells
			}
			fails := s.Verdict == compare.Worse && beyond(s, margin)
			if simulated[cc.Sides[0].Name] {
				fails = s.Verdict != compare.Same && beyond(s, simulatedMargin)
			}
			summary[judged{cc.Suite, s.Verdict}]++
			fmt.Fprintf(w, "| %s | %s, %s | %.5g | %.5g | %s | %s",
				cc.Sides[0].Name, m.Name, m.Unit, m.Sides[0].Median, s.Median, ratio(s), s.Verdict)
			if fails && slices.Contains(gated, m.Name) {
				failed++
				fmt.Fprint(w, ", FAILS")
			}
			fmt.Fprintln(w, " |")
		}
	}
	summary.table(w, "Metrics by suite (inconclusive: too noisy to say)")
	fmt.Fprintf(w, "\nMissing in the current version: %d. Worse by more than %g %%, or simulated and off by more than "+
		"%g %%: %d.\n",
		missing, 100*margin, 100*simulatedMargin, failed)
	if missing+failed > 0 {
		return errors.New("this version does not measure what the first one did")
	}
	return nil
}

// beyond tells whether the whole interval of the ratio differs from 1 by more than margin.
func beyond(s compare.MetricSide, margin float64) bool {
	return s.RatioLo != nil && s.RatioHi != nil && (*s.RatioLo > 1+margin || *s.RatioHi < 1-margin)
}

func ratio(s compare.MetricSide) string {
	if s.Ratio == nil || s.RatioLo == nil || s.RatioHi == nil {
		return "-"
	}
	return fmt.Sprintf("%.3f [%.3f, %.3f]", *s.Ratio, *s.RatioLo, *s.RatioHi)
}

// measuredAlike makes compare treat simulated cases as measured ones, so that their ratios
// have intervals, too, and returns which they are.
func measuredAlike(r *results.Report) map[string]bool {
	assumed := map[string]bool{}
	for i := range r.Results {
		if res := &r.Results[i]; len(res.Assumed) > 0 {
			assumed[res.Name], res.Assumed = true, nil
		}
	}
	return assumed
}

// onOneSide lists what one inventory has in most runs, and the other in none, and returns
// how much the current version lacks.
func onOneSide(w io.Writer, first, current map[string]float64) int {
	list := func(label string, has, not map[string]float64) (n int) {
		for _, name := range slices.Sorted(maps.Keys(has)) {
			if has[name] > 0.5 && not[name] == 0 {
				fmt.Fprintf(w, "only in %s: %s\n", label, name)
				n++
			}
		}
		return n
	}
	list("current", current, first)
	return list("first", first, current)
}

// inventory is the cases and their metrics, with unit and direction, and the share of the
// runs in dir that have them. A case that failed, as a busy machine may make any, counts
// as not there. It reads the files itself, so that what this version's reader drops counts.
func inventory(dir string) (map[string]float64, error) {
	paths, err := runsIn(dir)
	if err != nil {
		return nil, err
	}
	has := map[string]float64{}
	for _, path := range paths {
		var report struct {
			Results []struct {
				Name, Status string
				Metrics      []struct{ Name, Unit, Better string }
			}
		}
		text, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(text, &report)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		for _, res := range report.Results {
			if res.Status == results.Failed {
				continue
			}
			has[res.Name+", "+res.Status] += 1 / float64(len(paths))
			for _, m := range res.Metrics {
				has[fmt.Sprintf("%s: %s in %s, better %s", res.Name, m.Name, m.Unit,
					m.Better)] += 1 / float64(len(paths))
			}
		}
	}
	return has, nil
}
