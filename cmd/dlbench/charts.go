package main

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"dlbench/results"
	"dlbench/results/chart"
)

// writeCharts draws what the reports have data for into dir and returns the files.
// A file appears whole or not at all. When ctx ends the rest is left.
func writeCharts(ctx context.Context, reps []*results.Report, dir, format string) ([]string, error) {
	charts, err := chart.Charts(reps)
	if err != nil || len(charts) == 0 {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var files []string
	for _, c := range charts {
		if err := interrupted(ctx); err != nil {
			return files, err
		}
		path := filepath.Join(dir, c.Name+"."+format)
		if err := results.SaveAs(path, func(w io.Writer) error { return c.Write(w, chart.Options{Format: format}) }); err != nil {
			return files, err
		}
		files = append(files, path)
	}
	return files, nil
}
