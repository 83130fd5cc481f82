package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"dlbench/results"
	"dlbench/results/chart"
)

func newPlot() *cobra.Command {
	var dir string
	var format *choiceFlag
	c := &cobra.Command{
		Use:   "plot [LABEL=]REPORT...",
		Short: "Draw the charts of one report, or compare up to eight machines",
		Long: `Plot draws the charts that the reports have data for. Charts of several reports
hold their machines against each other, each in one colour. A REPORT is a
report.json, a directory with one, or - for standard input; a LABEL before it
names the machine instead of the report's own, and reports with the same LABEL
are runs of one machine.`,
		Example: `  dlbench plot dlbench-out/20261130T0739Z -o charts
  dlbench plot old=before/report.json new=after/report.json -o charts`,
		Args: atLeastOneReport,
		RunE: func(c *cobra.Command, args []string) error {
			if dir == "" {
				return usage(errors.New("-o is empty: want a directory for the charts"))
			}
			reps, err := namedReports(c.Context(), c.InOrStdin(), args)
			if err != nil {
				return err
			}
			if n := len(reps); n > chart.MaxReports {
				return usage(fmt.Errorf("%d reports: charts compare up to %d", n, chart.MaxReports))
			}
			for _, rep := range reps {
				dropSamples(rep)
			}
			files, err := writeCharts(c.Context(), reps, dir, format.value)
			for _, f := range files {
				if _, perr := fmt.Fprintln(c.OutOrStdout(), f); perr != nil {
					return errors.Join(err, perr)
				}
			}
			if err == nil && len(files) == 0 {
				return fmt.Errorf("nothing to draw: no finished case in %s that a chart is made of", strings.Join(args, ", "))
			}
			return err
		},
	}
	c.Flags().StringVarP(&dir, "output", "o", ".", "`DIR` for the charts")
	format = choice(c, "format", "file format", "png", "svg")
	return c
}

// dropSamples lets go of what charts do not show, most of a report.
func dropSamples(rep *results.Report) {
	for i := range rep.Results {
		for k := range rep.Results[i].Metrics {
			rep.Results[i].Metrics[k].Samples = nil
		}
	}
}
