package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"dlbench/results"
	"dlbench/results/compare"
)

// compareFlags are what `dlbench compare` takes.
type compareFlags struct {
	compare.Options
	failOn float64 // per cent
}

func newCompare() *cobra.Command {
	f := &compareFlags{}
	c := &cobra.Command{Use: "compare [LABEL=]REPORT [LABEL=]REPORT...", Args: atLeastOneReport, RunE: f.run}
	fl := c.Flags()
	fl.SortFlags = false
	fl.StringSliceVar(&f.By, "by", nil, "`AXES` that cases must share to be compared (all but device and disk)")
	fl.StringVar(&f.Base, "base", "", "`LABEL` of the report that the others are held against (the first)")
	percent := func(text string) (float64, error) {
		return strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(text, "%")), 64)
	}
	fl.Var(within(&f.failOn, "PERCENT", "a percentage, such as 5%,", 0, 1000, percent),
		"fail-on", "exit 3 when something is worse by more than this share, such as 5%")
	addFormat(c, "text", "json", "csv", "markdown")
	return c
}

func (f *compareFlags) run(c *cobra.Command, args []string) error {
	reps, err := readReports(c.Context(), c.InOrStdin(), args, 2)
	if err != nil {
		return err
	}
	failOn := c.Flags().Changed("fail-on")
	cmp, err := compare.Reports(reps, f.Options)
	switch {
	case errors.Is(err, compare.ErrBy):
		return usagef("--by %s: %w", strings.Join(f.By, ","), err)
	case errors.Is(err, compare.ErrBase):
		return usagef("--base %s: %w", f.Base, err)
	case errors.Is(err, compare.ErrNothingCommon) && failOn && f.measured(reps): // and now lost
		return &exitError{err, exitRegression}
	case errors.Is(err, compare.ErrNothingCommon):
		return fmt.Errorf("%w (name reports with a suite in common; --by names the parameters that must agree)", err)
	case err != nil:
		return err
	}
	text := func(w io.Writer) error { return cmp.Text(w, textWidth(c)) }
	err = forms{"text": text, "json": cmp.JSON, "csv": cmp.CSV, "markdown": cmp.Markdown}.print(c)
	if err != nil || !failOn {
		return err
	}
	return f.regressions(cmp)
}

// measured tells whether the base measured anything.
func (f *compareFlags) measured(reps []*results.Report) bool {
	base := max(0, slices.IndexFunc(reps, func(r *results.Report) bool { return r.Label == f.Base }))
	return slices.ContainsFunc(reps[base].Results, func(res results.Result) bool {
		return res.Status == results.OK && len(res.Assumed) == 0
	})
}

// regressions is the error that says what got worse, nil for nothing.
func (f *compareFlags) regressions(cmp *compare.Comparison) error {
	rs := cmp.Regressions(f.failOn / 100)
	if len(rs) == 0 {
		return nil
	}
	number := ""
	if len(rs) > 1 {
		number = fmt.Sprintf("%d regressions, first ", len(rs))
	}
	err := fmt.Errorf("--fail-on %.6g%%: %s%s: %s", f.failOn, number, rs[0].Label, rs[0].Text)
	return &exitError{err, exitRegression}
}
