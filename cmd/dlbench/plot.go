package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func newPlot() *cobra.Command {
	var dir string
	var format *choiceFlag
	c := &cobra.Command{
		Use:   "plot [LABEL=]REPORT...",
		Short: "Draw the charts of one or more reports",
		Long: `Plot draws the charts that the reports have data for. A REPORT is a report.json, a
directory with one, or - for standard input; reports with the same LABEL are runs of
one machine.`,
		Args: atLeastOneReport,
		RunE: func(c *cobra.Command, args []string) error {
			if dir == "" {
				return usage(errors.New("-o is empty: want a directory for the charts"))
			}
			reps, err := namedReports(c.Context(), c.InOrStdin(), args)
			if err != nil {
				return err
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
