package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"dlbench/results"
	"dlbench/results/chart"
	"dlbench/results/compare"
)

func newPlot() *cobra.Command {
	var dir, format string
	c := &cobra.Command{Use: "plot [LABEL=]REPORT...", Args: atLeastOneReport}
	c.RunE = func(c *cobra.Command, args []string) error { return plot(c, args, dir, format) }
	c.Flags().StringVarP(&dir, "output", "o", ".", "`DIR` for the charts")
	choice(c, &format, "format", "file format", "png", "svg")
	return c
}

// plot draws the charts of the reports into dir.
func plot(c *cobra.Command, args []string, dir, format string) error {
	reps, err := readReports(c.Context(), c.InOrStdin(), args, 1)
	if err != nil {
		return err
	}
	conclude(reps...)
	if n := len(reps); n > chart.MaxReports {
		return usagef("%d reports: charts compare up to %d", n, chart.MaxReports)
	}
	files, err := saveCharts(c.Context(), chart.Charts(compare.Joined(reps)), dir, format)
	for _, f := range files {
		fmt.Fprintln(c.OutOrStdout(), f)
	}
	if err == nil && len(files) == 0 {
		return fmt.Errorf("nothing to draw: no finished case in %s that a chart is made of", strings.Join(args, ", "))
	}
	return err
}

// saveCharts draws charts into dir and returns the files, in the order of the charts. A file
// appears whole or not at all. When ctx ends the rest is left.
func saveCharts(ctx context.Context, charts []chart.Chart, dir, format string) ([]string, error) {
	if len(charts) == 0 {
		return nil, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	files := make([]string, len(charts))
	errs := results.InParallel(len(files), runtime.GOMAXPROCS(0), func(i int) error { // one picture in memory for each
		if ctx.Err() != nil {
			return nil
		}
		path := filepath.Join(dir, charts[i].Name+"."+format)
		draw := func(w io.Writer) error { return charts[i].Write(w, format) }
		if err := results.SaveAs(path, draw); err != nil {
			return err
		}
		files[i] = path
		return nil
	})
	drawn := results.Without(files, "")
	if len(drawn) < len(charts) { // what stops one, such as a full disk, stops all: it is said once
		return drawn, cmp.Or(interrupted(ctx), cmp.Or(errs...))
	}
	return drawn, nil
}
