// Command comparecheck checks dlbench compare and, with it, dlbench itself. It counts how
// often compare is wrong: between two sides of one machine that ran the same, nothing is
// better or worse, and a slow-down put into one of them is to be found. With -first it
// compares this version with the first one.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dlbench/results"
	"dlbench/results/compare"
)

func main() {
	first := flag.Bool("first", false, "compare the runs in current/1, ... of a directory with those in first/1, ...")
	margin := flag.Float64("margin", 2, "with -first, per cent by which a measured metric may be worse")
	metrics := flag.String("metrics", "time,throughput", "what is counted or, with -first, must not be worse")
	flag.Parse()
	err := errors.New("want directories, of one comparison each: runs in a/1, a/2, ... and b/1, b/2, ...")
	switch {
	case *first && flag.NArg() == 1:
		err = compareWithFirst(os.Stdout, flag.Arg(0), *margin/100, strings.Split(*metrics, ","))
	case !*first && flag.NArg() > 0:
		err = check(os.Stdout, flag.Args(), strings.Split(*metrics, ","))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "comparecheck:", err)
		os.Exit(1)
	}
}

// What compare has to reach with a slow-down of a share.
const (
	slowDown   = 0.05
	mostWrong  = 0.05
	leastFound = 0.90
)

// check compares the two sides in each directory, as they are and with the second one
// slower, then sides of different directories, which were not run in turn, and writes
// tables. The error says that compare is wrong more often than it may be.
func check(w io.Writer, dirs []string, metrics []string) error {
	var sides [][]*results.Report // a and b of each directory
	for _, dir := range dirs {
		pair, err := both(dir, "a", "b", side)
		if err != nil {
			return err
		}
		sides = append(sides, pair)
	}
	equal, slowed, apart := tally{}, tally{}, tally{}
	for i, pair := range sides {
		errs := []error{equal.add(pair[0], pair[1], metrics), slowed.add(pair[0], slow(pair[1], slowDown), metrics)}
		for _, other := range sides[i+1:] {
			errs = append(errs, apart.add(pair[0], other[1], metrics))
		}
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}
	if len(equal) == 0 {
		return errors.New("nothing measured is in the reports")
	}
	equal.table(w, "Both sides the same, in turn")
	slowed.table(w, fmt.Sprintf("The second one %g %% slower, in turn", 100*slowDown))
	if len(apart) > 0 {
		apart.table(w, "Both sides the same, one after the other")
	}
	wrong, found := equal.share(compare.Better, compare.Worse), slowed.share(compare.Worse)
	fmt.Fprintf(w, "\nFalse better or worse: %.1f %% of %d (at most %g %%). Slow-downs found: %.1f %% (at least %g "+
		"%%).\n",
		100*wrong, equal.of(columns...), 100*mostWrong, 100*found, 100*leastFound)
	if wrong > mostWrong || found < leastFound {
		return errors.New("compare is wrong too often")
	}
	return nil
}

// both reads two folders of dir.
func both[T any](dir, first, second string, read func(dir string) (T, error)) ([]T, error) {
	a, err := read(filepath.Join(dir, first))
	if err != nil {
		return nil, err
	}
	b, err := read(filepath.Join(dir, second))
	return []T{a, b}, err
}

// side is the runs in a directory, as one report that is called like it.
func side(dir string) (*results.Report, error) {
	paths, err := runsIn(dir)
	if err != nil {
		return nil, err
	}
	runs := make([]*results.Report, len(paths))
	for i, path := range paths {
		if runs[i], err = results.ReadFile(path); err != nil {
			return nil, err
		}
	}
	merged, err := results.Merge(runs...)
	if err == nil {
		merged.Label = filepath.Base(dir)
	}
	return merged, err
}

// runsIn is the reports of the runs in a directory.
func runsIn(dir string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*", "report.json"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("no runs in %s", dir)
	}
	slices.Sort(paths)
	return paths, nil
}

// tally counts verdicts by metric of a case.
type tally map[judged]int

type judged struct{ name, verdict string }

// add compares metrics of b with those of a.
func (t tally) add(a, b *results.Report, metrics []string) error {
	c, err := compare.Reports([]*results.Report{a, b}, compare.Options{})
	if err != nil {
		return err
	}
	for _, k := range c.Cases {
		if len(k.Sides[0].Assumed) > 0 {
			continue
		}
		for _, m := range k.Metrics {
			if v := m.Sides[1].Verdict; slices.Contains(metrics, m.Name) && v != compare.NotCompared {
				t[judged{k.Sides[0].Name + " " + m.Name, v}]++
			}
		}
	}
	return nil
}

// of is how many there are of some verdicts.
func (t tally) of(verdicts ...string) (n int) {
	for j, k := range t {
		if slices.Contains(verdicts, j.verdict) {
			n += k
		}
	}
	return n
}

// share is that of some verdicts among all.
func (t tally) share(verdicts ...string) float64 {
	return float64(t.of(verdicts...)) / float64(max(1, t.of(columns...)))
}

var columns = []string{compare.Better, compare.Worse, compare.Same, compare.Differs, results.Inconclusive}

func (t tally) table(w io.Writer, title string) {
	fmt.Fprintf(w, "\n%s:\n\n| case | %s |\n| --- |%s\n", title, strings.Join(columns, " | "),
		strings.Repeat(" --- |", len(columns)))
	names := map[string]bool{}
	for j := range t {
		names[j.name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		fmt.Fprintf(w, "| %s |", name)
		for _, v := range columns {
			fmt.Fprintf(w, " %d |", t[judged{name, v}])
		}
		fmt.Fprintln(w)
	}
}

// slow is a copy of r in which all that was measured took longer by a share.
func slow(r *results.Report, share float64) *results.Report {
	factors := map[string]float64{results.Lower: 1 + share, results.Higher: 1 / (1 + share)}
	s := *r
	s.Results = slices.Clone(r.Results)
	for i := range s.Results {
		res := &s.Results[i]
		res.Metrics = slices.Clone(res.Metrics)
		for j := range res.Metrics {
			m := &res.Metrics[j]
			factor := cmp.Or(factors[m.Better], 1)
			m.Samples = slices.Clone(m.Samples)
			for k := range m.Samples {
				m.Samples[k].Value *= factor
			}
			results.Summarize(m, results.SummaryOptions{})
		}
	}
	return &s
}
