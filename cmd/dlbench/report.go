package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"dlbench/results"
	"dlbench/results/chart"
	"dlbench/results/compare"
	"dlbench/results/page"
)

func newReport() *cobra.Command {
	var path string
	c := &cobra.Command{
		Use:   "report [LABEL=]REPORT...",
		Short: "Write one or more reports as one HTML page",
		Long: `Report writes a page with the findings, the machine, tables, charts, warnings and
the method of one or more reports, side by side. It is one file that needs no network
and no script. Several reports are compared with the first one. A REPORT is a
report.json, its directory, or - for standard input; reports with the same LABEL are
runs of one machine.`,
		Example: `  dlbench report dlbench-out/20261130T074044Z
  dlbench report desk=desk/report.json server=server/report.json -o both.html`,
		Args: atLeastOneReport,
		RunE: func(c *cobra.Command, args []string) error {
			// Ten large reports are 70 MB until the page is written, with as much garbage again.
			defer debug.SetGCPercent(debug.SetGCPercent(50))
			if path == "" {
				return usage(errors.New("-o is empty: want a file for the page, or - for standard output"))
			}
			for _, a := range args {
				if _, file, _ := splitLabel(a); sameFile(file, path) {
					return usage(fmt.Errorf("-o %s is a report that is read: name another file", path))
				}
			}
			reps, err := namedReports(c.Context(), c.InOrStdin(), args)
			if err != nil {
				return err
			}
			var left []string
			write := func(w io.Writer) (err error) {
				left, err = writePage(c.Context(), w, reps)
				return err
			}
			if path == "-" {
				if err := write(c.OutOrStdout()); err != nil {
					return err
				}
			} else {
				if err := results.SaveAs(path, write); err != nil {
					return err
				}
				if _, err := fmt.Fprintln(c.OutOrStdout(), path); err != nil {
					return err
				}
			}
			for _, s := range left {
				fmt.Fprintln(c.ErrOrStderr(), "left out: "+results.Plain(s))
			}
			return nil
		},
	}
	c.Flags().StringVarP(&path, "output", "o", "report.html", "`FILE` for the page, - for standard output")
	return c
}

// sameFile tells whether the report at path, or the one in that directory, is file.
func sameFile(path, file string) bool {
	a, err := os.Stat(path)
	if err == nil && a.IsDir() {
		a, err = os.Stat(filepath.Join(path, "report.json"))
	}
	if err != nil {
		return false
	}
	b, err := os.Stat(file)
	return err == nil && os.SameFile(a, b)
}

// writePage writes the page of the reports with their charts, and returns what it
// left out, one sentence each.
func writePage(ctx context.Context, w io.Writer, reps []*results.Report) (left []string, err error) {
	var o page.Options
	drawn := reps
	if len(reps) > chart.MaxReports {
		drawn = reps[:chart.MaxReports]
		o.Notes = append(o.Notes, fmt.Sprintf("Charts show the first %d of the %d reports: one picture compares no more.", len(drawn), len(reps)))
	}
	charts, err := chart.Charts(drawn)
	if err != nil {
		return nil, err
	}
	var work sync.WaitGroup
	work.Go(func() { o.Tables = comparison(reps) })
	drawings, errs := make([]bytes.Buffer, len(charts)), make([]error, len(charts))
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, c := range charts {
		slots <- struct{}{}
		work.Go(func() {
			defer func() { <-slots }()
			if ctx.Err() == nil {
				errs[i] = c.Write(&drawings[i], chart.Options{Format: chart.SVG})
			}
		})
	}
	work.Wait()
	if err := interrupted(ctx); err != nil {
		return nil, err
	}
	for i, c := range charts {
		if err := errs[i]; err != nil {
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
	var named []compare.Labelled
	for _, r := range reps {
		named = append(named, compare.Labelled{Label: r.Label, Report: r})
	}
	c, err := compare.Reports(named, compare.Options{})
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
