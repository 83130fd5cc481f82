package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

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
			reps, err := readReports(c.InOrStdin(), args)
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

// readReports reads the reports at paths, two at a time: large ones take a while, and
// each is held twice while it is read. The error is the first one in their order.
func readReports(in io.Reader, paths []string) ([]*results.Report, error) {
	reps, errs := make([]*results.Report, len(paths)), make([]error, len(paths))
	var wg sync.WaitGroup
	slots := make(chan struct{}, 2)
	for i, path := range paths {
		if path == "-" { // in its turn: what is read once is gone
			reps[i], errs[i] = readReport(in, path)
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			reps[i], errs[i] = readReport(in, path)
			<-slots
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return reps, nil
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
