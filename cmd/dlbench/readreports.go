package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"dlbench/results"
)

// readReports reads the reports at paths. It returns when ctx ends, too: a pipe
// from which nothing comes would hold the program for ever.
func readReports(ctx context.Context, in io.Reader, paths []string) ([]*results.Report, error) {
	var reps []*results.Report
	read := make(chan error, 1)
	go func() {
		all, err := readAll(in, paths)
		reps = all
		read <- err
	}()
	select {
	case err := <-read:
		if ctx.Err() == nil { // else the writer of a pipe was interrupted, too
			return reps, err
		}
	case <-ctx.Done():
	}
	return nil, interrupted(ctx)
}

// interrupted is the error of a command that ctx has ended, nil before that.
func interrupted(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return fmt.Errorf("interrupted%w", quiet{ctx.Err()})
}

// readAll reads the reports at paths, two at a time: large ones take a while, and
// each is held twice while it is read. The error is the first one in their order.
func readAll(in io.Reader, paths []string) ([]*results.Report, error) {
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
