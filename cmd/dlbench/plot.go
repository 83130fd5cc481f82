package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"dlbench/results"
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
			var reps []*results.Report
			for _, a := range args {
				rep, err := readReport(c.InOrStdin(), a)
				if err != nil {
					return err
				}
				reps = append(reps, rep)
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

// readReport reads the report at path, "-" for in, or the report.json in a directory.
func readReport(in io.Reader, path string) (*results.Report, error) {
	if path == "-" {
		rep, err := results.Read(in)
		if err != nil {
			return nil, fmt.Errorf("standard input: %w", err)
		}
		return rep, nil
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "report.json")
	}
	return results.ReadFile(path)
}
