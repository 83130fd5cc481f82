package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dlbench/results"
)

// errRegression marks the end of a compare --fail-on that found something worse.
var errRegression = errors.New("regression")

func newCompare() *cobra.Command {
	var by []string
	var base string
	var failOn shareFlag
	var format *choiceFlag
	c := &cobra.Command{
		Use:   "compare [LABEL=]REPORT [LABEL=]REPORT...",
		Short: "Say what is better, worse or the same in other reports",
		Long: `Compare holds reports against the first one, or the one of --base, case by case: it
prints medians with intervals, the ratio with its interval, and whether that is
better, worse, the same or inconclusive. A REPORT is a report.json, a directory with
one, or - for standard input. Reports with the same LABEL are runs of one machine
and count as restarts of one run: single runs cannot tell how much the next one
will differ.

With --fail-on it exits 3 when something is worse by more than that beyond doubt, or
when what the base measured is assumed, failed, skipped or missing elsewhere.`,
		Example: `  dlbench compare before/report.json after/report.json --fail-on 5%
  dlbench compare old=old-1 old=old-2 old=old-3 new=new-1 new=new-2 new=new-3
  dlbench compare gen3=a.json gen4=b.json --by dir,mem --format markdown`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			reports, err := labelledReports(c.InOrStdin(), args)
			if err != nil {
				return err
			}
			cmp, err := results.Compare(reports, results.CompareOptions{By: by, Base: base})
			switch {
			case errors.Is(err, results.ErrBy):
				return usage(fmt.Errorf("--by %s: %w", strings.Join(by, ","), err))
			case errors.Is(err, results.ErrBase):
				return usage(fmt.Errorf("--base %s: %w", base, err))
			case errors.Is(err, results.ErrNothingCommon) && failOn.set:
				return fmt.Errorf("%w%w", err, quiet{errRegression})
			case errors.Is(err, results.ErrNothingCommon):
				return fmt.Errorf("%w (--by names the parameters that must agree)", err)
			case err != nil:
				return err
			}
			if err := buffered(c.OutOrStdout(), func(w io.Writer) error { return printComparison(w, c.OutOrStdout(), cmp, format.value) }); err != nil {
				return err
			}
			if failOn.set {
				return regressions(cmp, failOn)
			}
			return nil
		},
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.StringSliceVar(&by, "by", nil, "`AXES` that cases must share to be compared (all but the device)")
	fl.StringVar(&base, "base", "", "`LABEL` of the report that the others are held against (the first)")
	fl.Var(&failOn, "fail-on", "exit 3 when something is worse by more than this share, such as 5%")
	format = choice(c, "format", "what to print", "text", "json", "csv", "markdown")
	return c
}

// printComparison writes cmp to w; terminal is where that ends up.
func printComparison(w, terminal io.Writer, cmp *results.Comparison, format string) error {
	switch format {
	case "json":
		return cmp.WriteJSON(w)
	case "csv":
		return cmp.WriteCSV(w)
	case "markdown":
		return cmp.WriteMarkdown(w)
	}
	width := terminalWidth(terminal)
	if width == 0 {
		width = pageWidth
	}
	return cmp.WriteText(w, width)
}

// regressions is the error that says what got worse, nil for nothing.
func regressions(cmp *results.Comparison, failOn shareFlag) error {
	rs := cmp.Regressions(failOn.share)
	if len(rs) == 0 {
		return nil
	}
	first := fmt.Sprintf("%s: %s", rs[0].Label, rs[0].Text)
	if len(rs) > 1 {
		first = fmt.Sprintf("%d regressions, first %s", len(rs), first)
	}
	return fmt.Errorf("--fail-on %s: %s%w", failOn.String(), first, quiet{errRegression})
}

// labelledReports reads reports given as [label=]path. Those under one label are
// merged; one without a label is called what its run was, or like its file.
func labelledReports(in io.Reader, args []string) ([]results.Labelled, error) {
	given := map[string]int{} // labels, and where their reports are
	var out []results.Labelled
	var parts [][]*results.Report
	var unnamed []int // reports without a label
	if err := checkReports(args); err != nil {
		return nil, err
	}
	for _, arg := range args {
		label, path, labelled := splitLabel(arg)
		rep, err := readReport(in, path)
		if err != nil {
			return nil, err
		}
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
		out = append(out, results.Labelled{Label: label})
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

// checkReports looks at what can be wrong before any report is read.
func checkReports(args []string) error {
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
	case len(different) < 2:
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

// shareFlag is a share in percent, with or without the sign.
type shareFlag struct {
	share float64 // 0.05 for 5%
	set   bool
}

func (s *shareFlag) Type() string { return "PERCENT" }

func (s *shareFlag) String() string {
	if !s.set {
		return ""
	}
	return strconv.FormatFloat(100*s.share, 'g', 6, 64) + "%"
}

func (s *shareFlag) Set(text string) error {
	v, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(text, "%")), 64)
	if err != nil || !(v >= 0 && v <= 1000) || math.IsInf(v, 0) {
		return errors.New("want a percentage from 0 to 1000, such as 5%")
	}
	s.share, s.set = v/100, true
	return nil
}

var _ pflag.Value = (*shareFlag)(nil)
