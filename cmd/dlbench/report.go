package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"dlbench/results"
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
	for _, arg := range args {
		if sameFile(sourceOf(arg).file(), path) {
			return usagef("-o %s is a report that is read: name another file", path)
		}
	}
	reps, err := readReports(c.Context(), c.InOrStdin(), args, 1)
	if err != nil {
		return err
	}
	conclude(reps...)
	var left []string
	write := func(w io.Writer) (err error) {
		left, err = page.Write(c.Context(), w, reps)
		return err
	}
	if path == "-" {
		err = write(c.OutOrStdout())
	} else if err = results.SaveAs(path, write); err == nil {
		_, err = fmt.Fprintln(c.OutOrStdout(), path)
	}
	if err != nil {
		return cmp.Or(interrupted(c.Context()), err)
	}
	for _, s := range left {
		fmt.Fprintln(c.ErrOrStderr(), "left out: "+results.Plain(s))
	}
	return nil
}

// sameFile reports whether there is one file at both paths.
func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}
