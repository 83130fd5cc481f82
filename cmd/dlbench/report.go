package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"dlbench/results"
	"dlbench/results/chart"
	"dlbench/results/compare"
	"dlbench/results/page"
)

func newReport() *cobra.Command {
	var path string
	c := &cobra.Command{Use: "report [LABEL=]REPORT...", Args: atLeastOneReport}
	c.RunE = func(c *cobra.Command, args []string) error { return report(c, args, path) }
	c.Flags().StringVarP(&path, "output", "o", "report.html", "`FILE` for the page, - for standard output")
	return c
}

// report writes the page of the reports to the file at path.
func report(c *cobra.Command, args []string, path string) error {
	// Ten large reports are 70 MB until the page is written, with as much garbage again.
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	if path == "" {
		return usagef("-o is empty: want a file for the page, or - for standard output")
	}
	for _, arg := range args {
		if sameFile(sourceOf(arg).file(), path) {
			return usagef("-o %s is a report that is read: name another file", path)
		}
	}
	reps, err := readReports(c.Context(), c.InOrStdin(), args, 1)
	if err != nil {
		return err
	}
	var left []string
	write := func(w io.Writer) (err error) {
		left, err = writePage(c.Context(), w, reps)
		return err
	}
	if path == "-" {
		err = write(c.OutOrStdout())
	} else if err = results.SaveAs(path, write); err == nil {
		_, err = fmt.Fprintln(c.OutOrStdout(), path)
	}
	if err != nil {
		return err
	}
	for _, s := range left {
		fmt.Fprintln(c.ErrOrStderr(), "left out: "+results.Plain(s))
	}
	return nil
}

// sameFile tells whether there is one file at both paths.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// writePage writes the page of the reports with their charts, and returns what it
// left out, one sentence each.
func writePage(ctx context.Context, w io.Writer, reps []*results.Report) (left []string, err error) {
	var o page.Options
	drawn := reps
	if len(reps) > chart.MaxReports {
		drawn = reps[:chart.MaxReports]
		const note = "Charts show the first %d of the %d reports: one picture compares no more."
		o.Notes = append(o.Notes, fmt.Sprintf(note, len(drawn), len(reps)))
	}
	charts, err := chart.Charts(drawn)
	if err != nil {
		return nil, err
	}
	drawings := make([]bytes.Buffer, len(charts))
	errs := inParallel(len(charts)+1, runtime.GOMAXPROCS(0), func(i int) error {
		switch {
		case i == 0:
			o.Tables = comparison(reps)
		case ctx.Err() == nil:
			return charts[i-1].Write(&drawings[i-1], chart.Options{Format: chart.SVG})
		}
		return nil
	})
	if err := interrupted(ctx); err != nil {
		return nil, err
	}
	for i, c := range charts {
		if err := errs[i+1]; err != nil {
			o.Notes = append(o.Notes, strings.ToUpper(err.Error()[:1])+err.Error()[1:]+".")
			continue
		}
		o.Charts = append(o.Charts, page.Chart{Name: c.Name, Title: c.Title, SVG: drawings[i].Bytes()})
	}
	left, err = page.Write(w, reps, o)
	return append(o.Notes, left...), err
}

// comparison holds the reports against the first one, a table for each suite.
func comparison(reps []*results.Report) []page.Table {
	if len(reps) < 2 {
		return nil
	}
	c, err := compare.Reports(labelled(reps), compare.Options{})
	if err != nil { // nothing in common, say: they stand side by side all the same
		return []page.Table{{Caption: "not compared", Notes: []string{err.Error()}}}
	}
	var all []page.Table
	for _, t := range c.Tables() {
		all = append(all, page.TableOf(t))
	}
	if n := len(all); n > 0 {
		all[n-1].Notes = append(all[n-1].Notes, c.Lines()...)
	}
	return all
}
