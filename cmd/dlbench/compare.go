package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dlbench/results"
	"dlbench/results/compare"
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
will differ. Nine or more a side that were made in turn are compared in pairs, the
first with the first and so on as they are given, which takes out what a machine does
from minute to minute.

With --fail-on it exits 3 when something is worse by more than that beyond doubt, or
when what the base measured is assumed, failed, skipped or missing elsewhere.`,
		Example: `  dlbench compare before/report.json after/report.json --fail-on 5%
  dlbench compare old=old-1 old=old-2 old=old-3 new=new-1 new=new-2 new=new-3
  dlbench compare gen3=a.json gen4=b.json --by dir,mem --format markdown`,
		Args: atLeastOneReport,
		RunE: func(c *cobra.Command, args []string) error {
			reports, err := labelledReports(c.Context(), c.InOrStdin(), args, 2)
			if err != nil {
				return err
			}
			cmp, err := compare.Reports(reports, compare.Options{By: by, Base: base})
			switch {
			case errors.Is(err, compare.ErrBy):
				return usage(fmt.Errorf("--by %s: %w", strings.Join(by, ","), err))
			case errors.Is(err, compare.ErrBase):
				return usage(fmt.Errorf("--base %s: %w", base, err))
			case errors.Is(err, compare.ErrNothingCommon):
				return nothingCommon(err, reports, base, failOn.set)
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
	fl.StringSliceVar(&by, "by", nil, "`AXES` that cases must share to be compared (all but device and disk)")
	fl.StringVar(&base, "base", "", "`LABEL` of the report that the others are held against (the first)")
	fl.Var(&failOn, "fail-on", "exit 3 when something is worse by more than this share, such as 5%")
	format = choice(c, "format", "what to print", "text", "json", "csv", "markdown")
	return c
}

// printComparison writes cmp to w; terminal is where that ends up.
func printComparison(w, terminal io.Writer, cmp *compare.Comparison, format string) error {
	switch format {
	case "json":
		return cmp.JSON(w)
	case "csv":
		return cmp.CSV(w)
	case "markdown":
		return cmp.Markdown(w)
	}
	width := terminalWidth(terminal)
	if width == 0 {
		width = pageWidth
	}
	return cmp.Text(w, width)
}

// nothingCommon adds to err what can be done. Under --fail-on it is a regression when
// the base measured something, which is then lost.
func nothingCommon(err error, reports []compare.Labelled, base string, failOn bool) error {
	at := max(0, slices.IndexFunc(reports, func(r compare.Labelled) bool { return r.Label == base }))
	measured, suites := false, map[string]bool{}
	for _, res := range reports[at].Report.Results {
		measured = measured || res.Status == results.OK && len(res.Assumed) == 0
		suites[res.Suite] = true
	}
	if failOn && measured {
		return fmt.Errorf("%w%w", err, quiet{errRegression})
	}
	for i, r := range reports {
		if i != at && slices.ContainsFunc(r.Report.Results, func(res results.Result) bool { return suites[res.Suite] }) {
			return fmt.Errorf("%w (--by names the parameters that must agree)", err)
		}
	}
	return fmt.Errorf("%w: name reports with a suite in common", err)
}

// regressions is the error that says what got worse, nil for nothing.
func regressions(cmp *compare.Comparison, failOn shareFlag) error {
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
	if err != nil || !(v >= 0 && v <= 1000) { // NaN is neither
		return errors.New("want a percentage from 0 to 1000, such as 5%")
	}
	s.share, s.set = v/100, true
	return nil
}

var _ pflag.Value = (*shareFlag)(nil)
