package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"dlbench/results"
	"dlbench/results/chart"
)

// writeCharts draws what the reports have data for into dir and returns the files, in
// the order of the charts. A file appears whole or not at all. When ctx ends
// the rest is left.
func writeCharts(ctx context.Context, reps []*results.Report, dir, format string) ([]string, error) {
	charts, err := chart.Charts(reps)
	if err != nil || len(charts) == 0 {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	files, errs := make([]string, len(charts)), make([]error, len(charts))
	var drawing sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0)) // one picture in memory for each
	for i, c := range charts {
		slots <- struct{}{}
		if errs[i] = interrupted(ctx); errs[i] != nil {
			break
		}
		drawing.Go(func() {
			defer func() { <-slots }()
			path := filepath.Join(dir, c.Name+"."+format)
			errs[i] = results.SaveAs(path, func(w io.Writer) error { return c.Write(w, chart.Options{Format: format}) })
			if errs[i] == nil {
				files[i] = path
			}
		})
	}
	drawing.Wait()
	return slices.DeleteFunc(files, func(f string) bool { return f == "" }), errors.Join(errs...)
}
