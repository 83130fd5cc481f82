package main

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"dlbench/bench/advise"
	"dlbench/results"
	"dlbench/results/encode"
)

// showFlags are what `dlbench show` takes.
type showFlags struct {
	full, claims bool
	suites       []string
}

// newShow prints a saved report.
func newShow() *cobra.Command {
	f := &showFlags{}
	c := &cobra.Command{Use: "show [REPORT]", Args: cobra.MaximumNArgs(1), RunE: f.run}
	fl := c.Flags()
	fl.SortFlags = false
	fl.BoolVar(&f.full, "full", false, "print all tables, findings and predictions below the answer")
	fl.StringSliceVar(&f.suites, "suite", nil, "print the tables of these suites alone; `NAMES` as the report has them")
	fl.BoolVar(&f.claims, "claims", false, "print what the report says of each claim, or why it cannot")
	addReportFormat(c)
	return c
}

func (f *showFlags) run(c *cobra.Command, args []string) error {
	if f.claims && (f.full || len(f.suites) > 0 || formatOf(c) != "text") {
		return usagef("--claims: it prints a list of its own: want it without --full, --suite and --format")
	}
	rep, err := savedReport(c, pathOf(args))
	if err != nil {
		return err
	}
	conclude(rep)
	if f.claims {
		return forms{"text": func(w io.Writer) error { return encode.Claims(w, rep, textWidth(c)) }}.print(c)
	}
	tables, err := f.tables(rep)
	if err != nil {
		return err
	}
	return printReport(c, rep, tables)
}

// pathOf is the report that args name, by default that of the last run.
func pathOf(args []string) string { return cmp.Or(append(args, "")[0], latest) }

// savedReport is the report at path.
func savedReport(c *cobra.Command, path string) (*results.Report, error) {
	reps, err := readSources(c.Context(), c.InOrStdin(), []source{sourceOf(path)})
	if err != nil {
		return nil, err
	}
	return reps[0], nil
}

// conclude adds an answer to reports without one and to those of older versions.
func conclude(reps ...*results.Report) {
	for _, rep := range reps {
		if rep.Verdict == nil || rep.SchemaVersion < results.SchemaVersion {
			advise.Conclude(rep, advise.Question{})
		}
	}
}

// tables is what of a report stands in tables: all, some suites, or nothing, which is nil.
func (f *showFlags) tables(rep *results.Report) (*results.Report, error) {
	if len(f.suites) == 0 {
		if f.full {
			return rep, nil
		}
		return nil, nil
	}
	var have []string
	for _, r := range rep.Results {
		have = results.AppendNew(have, r.Suite)
	}
	for _, s := range f.suites {
		if !slices.Contains(have, s) {
			return nil, usagef("--suite %s: the report has %s", s, strings.Join(have, ", "))
		}
	}
	some := *rep
	some.Findings, some.Predictions, some.Verdict = nil, nil, nil
	some.Results = slices.DeleteFunc(slices.Clone(rep.Results), func(r results.Result) bool {
		return !slices.Contains(f.suites, r.Suite)
	})
	return &some, nil
}
