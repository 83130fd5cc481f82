package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newPlot() *cobra.Command {
	var dir string
	var format *choiceFlag
	c := &cobra.Command{
		Use:   "plot REPORT...",
		Short: "Draw the charts of one or more reports",
		Long:  "Plot draws the charts that the reports have data for. A REPORT is a report.json, or - for standard input.",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			reps, err := namedReports(c.InOrStdin(), args)
			if err != nil {
				return err
			}
			files, err := writeCharts(reps, dir, format.value)
			for _, f := range files {
				fmt.Fprintln(c.OutOrStdout(), f)
			}
			if err == nil && len(files) == 0 {
				return fmt.Errorf("nothing to draw: no finished case in %v that a chart is made of", args)
			}
			return err
		},
	}
	c.Flags().StringVarP(&dir, "output", "o", ".", "directory for the charts")
	format = choice(c, "format", "file format", "png", "svg")
	return c
}
