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

// compareFlags are what `dlbench compare` takes.
type compareFlags struct {
	by     []string
	base   string
	failOn *float64 // a share; nil where it is not given
}

func newCompare() *cobra.Command {
	f := &compareFlags{}
	c := &cobra.Command{Use: "compare [LABEL=]REPORT [LABEL=]REPORT...", Args: atLeastOneReport, RunE: f.run}
	fl := c.Flags()
	fl.SortFlags = false
	fl.StringSliceVar(&f.by, "by", nil, "`AXES` that cases must share to be compared (all but device and disk)")
	fl.StringVar(&f.base, "base", "", "`LABEL` of the report that the others are held against (the first)")
	fl.Var(share(&f.failOn), "fail-on", "exit 3 when something is worse by more than this share, such as 5%")
	addFormat(c, "text", "json", "csv", "markdown")
	return c
}

func (f *compareFlags) run(c *cobra.Command, args []string) error {
	reps, err := readReports(c.Context(), c.InOrStdin(), args, 2)
	if err != nil {
		return err
	}
	cmp, err := compare.Reports(reps, compare.Options{By: f.by, Base: f.base})
	switch {
	case errors.Is(err, compare.ErrBy):
		return usagef("--by %s: %w", strings.Join(f.by, ","), err)
	case errors.Is(err, compare.ErrBase):
		return usagef("--base %s: %w", f.base, err)
	case errors.Is(err, compare.ErrNothingCommon):
		return f.nothingCommon(err, reps)
	case err != nil:
		return err
	}
	text := func(w io.Writer) error { return cmp.Text(w, textWidth(c)) }
	err = forms{"text": text, "json": cmp.JSON, "csv": cmp.CSV, "markdown": cmp.Markdown}.print(c)
	if err != nil || f.failOn == nil {
		return err
	}
	return regressions(cmp, *f.failOn)
}

// nothingCommon adds to err what can be done. Under --fail-on it is a regression when
// the base measured something, which is then lost.
func (f *compareFlags) nothingCommon(err error, reps []*results.Report) error {
	base := max(0, slices.IndexFunc(reps, func(r *results.Report) bool { return r.Label == f.base }))
	measured, suites := false, map[string]bool{}
	for _, res := range reps[base].Results {
		measured = measured || res.Status == results.OK && len(res.Assumed) == 0
		suites[res.Suite] = true
	}
	if f.failOn != nil && measured {
		return &exitError{err, exitRegression}
	}
	for i, r := range reps {
		if i != base && slices.ContainsFunc(r.Results, func(res results.Result) bool { return suites[res.Suite] }) {
			return fmt.Errorf("%w (--by names the parameters that must agree)", err)
		}
	}
	return fmt.Errorf("%w: name reports with a suite in common", err)
}

// regressions is the error that says what got worse, nil for nothing.
func regressions(cmp *compare.Comparison, failOn float64) error {
	rs := cmp.Regressions(failOn)
	if len(rs) == 0 {
		return nil
	}
	first := fmt.Sprintf("%s: %s", rs[0].Label, rs[0].Text)
	if len(rs) > 1 {
		first = fmt.Sprintf("%d regressions, first %s", len(rs), first)
	}
	return &exitError{fmt.Errorf("--fail-on %s: %s", formatShare(&failOn), first), exitRegression}
}

// share is a share in percent, with or without the sign: 0.05 for 5%.
func share(at **float64) pflag.Value {
	parse := func(text string) (*float64, error) {
		v, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(text, "%")), 64)
		if err != nil || !(v >= 0 && v <= 1000) { // NaN is neither
			return nil, errors.New("want a percentage from 0 to 1000, such as 5%")
		}
		v /= 100
		return &v, nil
	}
	return &value[*float64]{at, "PERCENT", parse, formatShare}
}

func formatShare(share *float64) string {
	if share == nil {
		return ""
	}
	return strconv.FormatFloat(100**share, 'g', 6, 64) + "%"
}
