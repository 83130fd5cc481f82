package main

import (
	"cmp"

	"github.com/spf13/cobra"
)

// newShow prints a saved report.
func newShow() *cobra.Command {
	c := &cobra.Command{Use: "show [REPORT]", Args: cobra.MaximumNArgs(1)}
	c.RunE = func(c *cobra.Command, args []string) error {
		rep, err := sourceOf(cmp.Or(append(args, "")[0], latest)).read(c.InOrStdin())
		if err != nil {
			return err
		}
		return printReport(c, rep)
	}
	addFormat(c, "text", "json", "gobench", "csv", "markdown")
	return c
}
