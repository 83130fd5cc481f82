// Command comparecheck counts how often dlbench compare is wrong: between reports of
// one machine that ran the same, nothing is better or worse, and a slow-down put into
// one of them is to be found.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"dlbench/results"
)

func main() {
	slower := flag.Float64("slower", 5, "per cent that the slow-down takes")
	metrics := flag.String("metrics", "time,throughput", "what is counted")
	flag.Parse()
	err := errors.New("want at least two reports")
	if flag.NArg() > 1 {
		err = check(os.Stdout, flag.Args(), *slower/100, *metrics)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "comparecheck:", err)
		os.Exit(1)
	}
}

// check compares each pair of reports, as it is and with the second one slower, and
// writes a table. The error says that compare is wrong more often than it may be.
func check(w io.Writer, paths []string, slower float64, metrics string) error {
	var all []*results.Report
	for _, p := range paths {
		r, err := results.ReadFile(p)
		if err != nil {
			return err
		}
		all = append(all, r)
	}
	want := wanted(metrics)
	var equal, slowed tally
	for i, a := range all {
		for _, b := range all[i+1:] {
			if err := equal.add(a, b, want); err != nil {
				return err
			}
			if err := slowed.add(a, slow(b, slower), want); err != nil {
				return err
			}
		}
	}
	if equal.pairs() == 0 {
		return errors.New("nothing measured is in the reports")
	}
	equal.table(w, fmt.Sprintf("%d reports of the same, each pair of them", len(all)))
	slowed.table(w, fmt.Sprintf("the second one %g %% slower", 100*slower))
	wrong := equal.share(results.Better) + equal.share(results.Worse)
	found := slowed.share(results.Worse)
	fmt.Fprintf(w, "\nFalse better or worse: %.1f %% of %d (at most %g %%). Slow-downs found: %.1f %% (at least %g %%).\n",
		100*wrong, equal.pairs(), 100*mostWrong, 100*found, 100*leastFound)
	if wrong > mostWrong || found < leastFound {
		return errors.New("compare is wrong too often")
	}
	return nil
}

// What compare has to reach.
const (
	mostWrong  = 0.05
	leastFound = 0.90
)
