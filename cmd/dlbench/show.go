package main

import (
	"cmp"

	"github.com/spf13/cobra"

	"dlbench/bench/advise"
	"dlbench/results"
)

// newShow prints a saved report.
func newShow() *cobra.Command {
	c := &cobra.Command{Use: "show [REPORT]", Args: cobra.MaximumNArgs(1)}
	full := false
	c.Flags().BoolVar(&full, "full", false, "print all tables, findings and predictions below the answer")
	c.RunE = func(c *cobra.Command, args []string) error {
		rep, err := sourceOf(cmp.Or(append(args, "")[0], latest)).read(c.InOrStdin())
		if err != nil {
			return err
		}
		if rep.Verdict == nil || rep.SchemaVersion < results.SchemaVersion {
			advise.Conclude(rep, advise.Question{})
		}
		return printReport(c, rep, full)
	}
	addFormat(c, "text", "json", "gobench", "csv", "markdown")
	return c
}
