// Command ratios says whether one program's benchmark results are like another's, run in
// turn. benchstat, which prints the figures next to it, says where two programs differ, but
// where it sees no difference they may be alike or too noisy to say, and of fewer than six
// rounds, such as a borrowed GPU has time for, it says nothing. It does not pair rounds,
// either, which takes out what a machine does from minute to minute.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"

	"dlbench/results"
)

func main() {
	var l limits
	flag.Float64Var(&l.least, "least", math.Inf(-1), "what the ratio should be at least")
	flag.Float64Var(&l.most, "most", math.Inf(1), "what the ratio should be at most")
	flag.Float64Var(&l.spread, "spread", math.Inf(1), "interquartile range over the median of the second one's "+
		"rounds, at most")
	flag.BoolVar(&l.minus, "minus", false, "judge the difference instead of the ratio")
	unit := flag.String("unit", "B/s", "what is judged")
	filter := flag.String("filter", "*", "which benchmarks, as benchstat's")
	row := flag.String("row", ".fullname", "what the two programs' benchmarks must share, as benchstat's")
	flag.Parse()
	rounds, err := read(flag.Args(), *filter, *row, *unit)
	if err == nil {
		err = table(os.Stdout, rounds, l)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "ratios:", err)
		os.Exit(1)
	}
}

// medians are those of one round's values, by row.
type medians map[benchproc.Key]float64

// read reads a round of each program in turn. A file that is not there is a round that failed.
func read(paths []string, query, row, unit string) (rounds []medians, err error) {
	filter, err := benchproc.NewFilter(query)
	if err != nil {
		return nil, err
	}
	var parser benchproc.ProjectionParser
	rows, err := parser.Parse(row, filter)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		values := map[benchproc.Key][]float64{}
		files := benchfmt.Files{Paths: []string{path}}
		for files.Scan() {
			result, ok := files.Result().(*benchfmt.Result)
			if !ok {
				continue
			}
			wanted, err := filter.Apply(result)
			if v, ok := result.Value(unit); err == nil && wanted && ok {
				key := rows.Project(result)
				values[key] = append(values[key], v)
			}
		}
		if err := files.Err(); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		round := medians{}
		for key, v := range values {
			round[key] = results.Median(v)
		}
		rounds = append(rounds, round)
	}
	return rounds, nil
}

// table judges each row of the first program, whose rounds alternate with the second's.
func table(w io.Writer, rounds []medians, l limits) error {
	var keys []benchproc.Key
	firsts, seconds := map[benchproc.Key][]float64{}, map[benchproc.Key][]float64{}
	for i := 0; i < len(rounds); i += 2 {
		for key, v := range rounds[i] {
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
			if i+1 < len(rounds) && rounds[i+1][key] > 0 {
				firsts[key] = append(firsts[key], v)
				seconds[key] = append(seconds[key], rounds[i+1][key])
			}
		}
	}
	if len(keys) == 0 {
		return errors.New("nothing was measured")
	}
	benchproc.SortKeys(keys)
	what := "ratio"
	if l.minus {
		what = "difference"
	}
	fmt.Fprintf(w, "| case | %s | rounds | second one's spread | verdict |\n", what)
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- |")
	for _, key := range keys {
		fmt.Fprintf(w, "| %s | %s |\n", key.StringValues(), l.judge(firsts[key], seconds[key]))
	}
	return nil
}

// limits of a verdict.
type limits struct {
	least, most float64
	spread      float64 // of the second program's own rounds
	minus       bool
}

// judge is the median of the rounds' ratios with an interval, and PASS, or what is wrong,
// only where the whole interval says so and the second program was steady.
func (l limits) judge(firsts, seconds []float64) string {
	if len(seconds) == 0 {
		return "- | 0 | - | no peer"
	}
	ratios := slices.Clone(firsts)
	for i := range ratios {
		if ratios[i] /= seconds[i]; l.minus {
			ratios[i] = firsts[i] - seconds[i]
		}
	}
	slices.Sort(ratios)
	lo, hi, ok := results.MedianInterval(ratios, float64(len(ratios)))
	if !ok { // too few for 95 % confidence, which this has whatever the distribution
		lo, hi = ratios[0], ratios[len(ratios)-1]
	}
	spread := (results.Percentile(seconds, 75) - results.Percentile(seconds, 25)) / results.Median(seconds)
	verdict := "inconclusive"
	switch {
	case spread > l.spread:
	case lo >= l.least && hi <= l.most:
		verdict = "PASS"
	case hi < l.least && math.IsInf(l.most, 1):
		verdict = "SLOWER"
	case hi < l.least || lo > l.most:
		verdict = "DIFFERS"
	}
	return fmt.Sprintf("%.3f [%.3f, %.3f] | %d | %.1f %% | %s",
		results.Median(ratios), lo, hi, len(ratios), 100*spread, verdict)
}
