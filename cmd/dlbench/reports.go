package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"dlbench/results"
)

// atLeastOneReport is the Args of commands that read reports.
func atLeastOneReport(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		want := strings.TrimPrefix(c.Use, c.Name()+" ")
		return fmt.Errorf("no report given: want %s, such as dlbench-out/*/report.json", want)
	}
	return nil
}

// source is a report as a command line names it.
type source struct {
	label    string
	path     string // of a file or of a directory with a report.json; - for standard input
	labelled bool
}

// sourceOf splits label=path, unless there is a file of that whole name.
func sourceOf(arg string) source {
	label, path, labelled := strings.Cut(arg, "=")
	if !labelled || strings.ContainsAny(label, `/\`) {
		return source{path: arg}
	}
	if _, err := os.Stat(arg); err == nil {
		return source{path: arg}
	}
	return source{label, path, true}
}

// file is the file that holds the report.
func (s source) file() string {
	if info, err := os.Stat(s.path); err == nil && info.IsDir() {
		return filepath.Join(s.path, "report.json")
	}
	return s.path
}

// read reads the report; in is standard input.
func (s source) read(in io.Reader) (*results.Report, error) {
	if s.path == "-" {
		rep, err := results.Read(in)
		if err != nil {
			err = fmt.Errorf("standard input: %w", err)
		}
		return rep, err
	}
	rep, err := results.ReadFile(s.file())
	switch {
	case errors.Is(err, fs.ErrNotExist) && s.path == latest:
		return nil, usagef("no run here yet: start with dlbench run, or name a REPORT")
	case errors.Is(err, fs.ErrNotExist):
		return nil, usagef("%s: no such file or folder", s.file())
	}
	return rep, err
}

// name is what to call a report without a label: its own one, or its file, or the
// directory of a report.json.
func (s source) name(rep *results.Report) string {
	if rep.Label != "" {
		return rep.Label
	}
	if s.path == "-" {
		return "stdin"
	}
	path, _ := filepath.Abs(s.path)
	if filepath.Base(path) == "report.json" {
		path = filepath.Dir(path)
	}
	return strings.TrimSuffix(filepath.Base(path), ".json")
}

// sourcesOf reads the arguments of a command that wants reports of at least so many
// labels. It refuses what is wrong before any report is read.
func sourcesOf(args []string, least int) (all []source, err error) {
	labels := map[string]bool{}
	stdin, unlabelled := 0, 0
	for _, arg := range args {
		s := sourceOf(arg)
		switch {
		case s.labelled && (s.label == "" || s.path == ""):
			return nil, usagef("%q: want REPORT or LABEL=REPORT", arg)
		case s.labelled:
			labels[s.label] = true
		default:
			unlabelled++
		}
		if s.path == "-" {
			stdin++
		}
		all = append(all, s)
	}
	switch {
	case stdin > 1:
		return nil, usagef("- is given twice, but standard input can be read once")
	case len(args) < least:
		return nil, usagef("nothing to compare with: want at least two reports, such as dlbench compare before after")
	case len(labels)+unlabelled < least:
		return nil, usagef("nothing to compare with: reports of one label are runs of one machine: want two different labels")
	}
	return all, nil
}

// readReports reads reports given as [label=]path. Those under one label are merged;
// one without a label is called what its run was, or like its file, where there are
// several. Fewer than least of different labels are an error.
func readReports(ctx context.Context, in io.Reader, args []string, least int) ([]*results.Report, error) {
	sources, err := sourcesOf(args, least)
	if err != nil {
		return nil, err
	}
	reps, err := readSources(ctx, in, sources)
	if err != nil {
		return nil, err
	}
	labels := make([]string, len(sources)) // those given, and others for those without one
	for i, s := range sources {
		labels[i] = s.label
	}
	for i, s := range sources {
		if !s.labelled {
			labels[i] = results.UniqueName(labels, s.name(reps[i]))
		}
	}
	label := func(r *results.Report) string { return labels[slices.Index(reps, r)] }
	groups := results.Grouped(reps, label)
	var merged []*results.Report
	for _, group := range groups {
		rep, err := results.Merge(group...)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", label(group[0]), err)
		}
		if len(groups) > 1 || sources[0].labelled {
			rep.Label = label(group[0])
		}
		merged = append(merged, rep)
	}
	return merged, nil
}

// readSources reads reports, two at a time: large ones take a while, and each is held
// twice while it is read. The error is the first one in their order. It returns when
// ctx ends, too: a pipe from which nothing comes would block the program for ever.
func readSources(ctx context.Context, in io.Reader, sources []source) ([]*results.Report, error) {
	reps := make([]*results.Report, len(sources))
	read := make(chan error, 1)
	go func() {
		errs := results.InParallel(len(sources), 2, func(i int) (err error) {
			reps[i], err = sources[i].read(in)
			return err
		})
		read <- cmp.Or(errs...)
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
