// Command fiocmp is the arithmetic of compare-fio.sh: from reports of dlbench and
// fio, run in turn, to a table in Markdown.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"dlbench/results"
)

func main() {
	ramp := flag.Float64("ramp", 0, "milliseconds that fio reads before it measures")
	flag.Parse()
	err := fmt.Errorf("want PAIRS SMALL")
	if flag.NArg() == 2 {
		err = table(os.Stdout, flag.Arg(0), flag.Arg(1), *ramp)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "fiocmp:", err)
		os.Exit(1)
	}
}

// comparison is the runs of one case.
type comparison struct {
	name, pages   string
	dlbench, fio  []float64 // B/s of samples, without padding
	depths, depth []float64 // of the device's queue, under dlbench and fio
	unproven      string
}

func table(w io.Writer, pairs, small string, ramp float64) error {
	cases, err := readPairs(pairs, ramp)
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "| store / page cache / readers | buffer pages | dlbench, MB/s | fio, MB/s | dlbench / fio | fio's spread | queue depth: dlbench, fio | verdict |")
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- | --- | --- | --- |")
	for _, c := range cases {
		r := compare(c.dlbench, c.fio)
		verdict := r.verdict()
		if strings.Contains(c.pages, ",") {
			verdict = "inconclusive (buffers differ)"
		} else if c.unproven != "" {
			verdict += " (unproven: " + c.unproven + ")"
		}
		fmt.Fprintf(w, "| %s | %s | %.0f | %.0f | %.3f [%.3f, %.3f] | %.1f %% | %s, %s | %s |\n", strings.ReplaceAll(c.name, "/", " / "), c.pages,
			results.Median(c.dlbench)/1e6, results.Median(c.fio)/1e6, r.ratio, r.lo, r.hi, 100*r.spread, depth(c.depths), depth(c.depth), verdict)
	}
	return smallReads(w, small)
}

func depth(samples []float64) string {
	if m := results.Median(samples); m >= 0.05 {
		return fmt.Sprintf("%.1f", m)
	}
	return "-"
}

// readPairs reads a line a pair: case, kind of pages, bytes of a record without
// padding, the reports of dlbench and fio, and the milliseconds that requests
// were in the disk's queue while fio ran.
func readPairs(path string, ramp float64) ([]*comparison, error) {
	lines, err := fields(path, 6)
	if err != nil {
		return nil, err
	}
	var cases []*comparison
	for _, f := range lines {
		i := slices.IndexFunc(cases, func(c *comparison) bool { return c.name == f[0] })
		if i < 0 {
			i = len(cases)
			cases = append(cases, &comparison{name: f[0], pages: f[1]})
		}
		c := cases[i]
		payload, err1 := strconv.ParseFloat(f[2], 64)
		queued, err2 := strconv.ParseFloat(f[5], 64)
		if err := cmp.Or(err1, err2); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		d, err := readDlbench(f[3])
		if err != nil {
			return nil, err
		}
		o, err := readFio(f[4])
		if err != nil {
			return nil, err
		}
		c.dlbench = append(c.dlbench, d.rate)
		c.fio = append(c.fio, o.IOPS*payload)
		c.depths = append(c.depths, d.depth)
		c.depth = append(c.depth, queued/(o.Runtime+ramp))
		c.unproven = cmp.Or(c.unproven, d.unproven)
	}
	return cases, nil
}

// smallReads reads a line a pair: nanoseconds of a bare system call and of dlbench's
// reader, and the report of fio.
func smallReads(w io.Writer, path string) error {
	lines, err := fields(path, 3)
	if err != nil || len(lines) == 0 {
		return err
	}
	var bare, reader, fio, over []float64 // us
	for _, f := range lines {
		p, err1 := strconv.ParseFloat(f[0], 64)
		r, err2 := strconv.ParseFloat(f[1], 64)
		o, err3 := readFio(f[2])
		if err := cmp.Or(err1, err2, err3); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		bare, reader, fio = append(bare, p/1e3), append(reader, r/1e3), append(fio, 1e6/o.IOPS)
		over = append(over, r/1e3-1e6/o.IOPS)
	}
	lo, hi := interval(over)
	verdict := "PASS"
	switch {
	case hi <= smallMost:
	case spread(fio) > spreadMost:
		verdict = "inconclusive"
	default:
		verdict = "DIFFERS"
	}
	fmt.Fprintf(w, "\nA read of 4096 bytes from memory (tmpfs), at most %g µs more than fio wanted:\n\n", smallMost)
	fmt.Fprintln(w, "| bare pread, µs | dlbench's reader, µs | fio psync, µs | dlbench - fio, µs | fio's spread | verdict |")
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- | --- |")
	fmt.Fprintf(w, "| %.2f | %.2f | %.2f | %.2f [%.2f, %.2f] | %.1f %% | %s |\n",
		results.Median(bare), results.Median(reader), results.Median(fio), results.Median(over), lo, hi, 100*spread(fio), verdict)
	return nil
}

// smallMost is how many microseconds more than fio a small read may take.
const smallMost = 2.0

func fields(path string, n int) ([][]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var lines [][]string
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if len(f) != n {
			return nil, fmt.Errorf("%s: %q: want %d fields", path, line, n)
		}
		lines = append(lines, f)
	}
	return lines, nil
}
