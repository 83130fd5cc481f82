package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"dlbench/results"
	"dlbench/results/compare"
)

// namedReports reads at least one report as labelledReports does, and labels all where
// there are several, and one that was given a label.
func namedReports(ctx context.Context, in io.Reader, args []string) ([]*results.Report, error) {
	all, err := labelledReports(ctx, in, args, 1)
	if err != nil {
		return nil, err
	}
	_, _, given := splitLabel(args[0])
	var reps []*results.Report
	for _, l := range all {
		if given || len(all) > 1 {
			l.Report.Label = l.Label
		}
		reps = append(reps, l.Report)
	}
	return reps, nil
}

// labelledReports reads reports given as [label=]path. Those under one label are
// merged; one without a label is called what its run was, or like its file. Fewer
// than least of different labels are an error.
func labelledReports(ctx context.Context, in io.Reader, args []string, least int) ([]compare.Labelled, error) {
	if err := checkReports(args, least); err != nil {
		return nil, err
	}
	given := map[string]int{} // labels, and where their reports are
	var out []compare.Labelled
	var parts [][]*results.Report
	var unnamed []int // reports without a label
	var paths []string
	for _, arg := range args {
		_, path, _ := splitLabel(arg)
		paths = append(paths, path)
	}
	reps, err := readReports(ctx, in, paths)
	if err != nil {
		return nil, err
	}
	for i, arg := range args {
		label, path, labelled := splitLabel(arg)
		rep := reps[i]
		if k, ok := given[label]; labelled && ok {
			parts[k] = append(parts[k], rep)
			continue
		}
		if labelled {
			given[label] = len(out)
		} else {
			unnamed = append(unnamed, len(out))
			label = nameOf(rep, path)
		}
		out = append(out, compare.Labelled{Label: label})
		parts = append(parts, []*results.Report{rep})
	}
	taken := map[string]bool{}
	for label := range given {
		taken[label] = true
	}
	for _, k := range unnamed {
		label := out[k].Label
		for n := 2; taken[out[k].Label]; n++ {
			out[k].Label = fmt.Sprintf("%s (%d)", label, n)
		}
		taken[out[k].Label] = true
	}
	for k := range out {
		merged, err := results.Merge(parts[k]...)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", out[k].Label, err)
		}
		out[k].Report, parts[k] = merged, nil
	}
	return out, nil
}

// atLeastOneReport is the Args of commands that read reports.
func atLeastOneReport(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("no report given: want %s, such as dlbench-out/*/report.json", strings.TrimPrefix(c.Use, c.Name()+" "))
	}
	return nil
}

// checkReports looks at what can be wrong before any report is read.
func checkReports(args []string, least int) error {
	different := map[string]bool{}
	stdin := 0
	for i, arg := range args {
		label, path, labelled := splitLabel(arg)
		switch {
		case labelled && (label == "" || path == ""):
			return usage(fmt.Errorf("%q: want REPORT or LABEL=REPORT", arg))
		case labelled:
			different[label] = true
		default:
			different[fmt.Sprint("=", i)] = true
		}
		if path == "-" {
			stdin++
		}
	}
	switch {
	case stdin > 1:
		return usage(errors.New("- is given twice, but standard input can be read once"))
	case len(different) < least:
		return usage(errors.New("nothing to compare: want at least two reports, with different labels"))
	}
	return nil
}

// splitLabel splits label=path, unless there is a file of that whole name.
func splitLabel(arg string) (label, path string, given bool) {
	label, path, given = strings.Cut(arg, "=")
	if !given || strings.ContainsAny(label, `/\`) {
		return "", arg, false
	}
	if _, err := os.Stat(arg); err == nil {
		return "", arg, false
	}
	return label, path, true
}

// nameOf is what to call a report without a label: its own one, or its file, or the
// directory of a report.json.
func nameOf(rep *results.Report, path string) string {
	if rep.Label != "" {
		return rep.Label
	}
	if path == "-" {
		return "stdin"
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if filepath.Base(path) == "report.json" {
		path = filepath.Dir(path)
	}
	return strings.TrimSuffix(filepath.Base(path), ".json")
}
