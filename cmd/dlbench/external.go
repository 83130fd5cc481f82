package main

import (
	"os"

	"github.com/spf13/cobra"

	"dlbench/bench/external"
)

// newPython prints dlbench.py.
func newPython() *cobra.Command {
	return &cobra.Command{Use: "python", RunE: func(c *cobra.Command, _ []string) error {
		_, err := c.OutOrStdout().Write(external.Module())
		return err
	}}
}

// newFeed is dlbench's own loader as a process that writes records, for the suite external.
func newFeed() *cobra.Command {
	return &cobra.Command{Use: "feed", Hidden: true, RunE: func(c *cobra.Command, _ []string) error {
		records, err := external.Records(os.Getenv)
		if err != nil {
			return usage(err)
		}
		defer records.Close()
		return external.Feed(c.Context(), os.Getenv, c.InOrStdin(), records)
	}}
}

// newSupervise runs a loader's command and ends with it all that it started.
func newSupervise() *cobra.Command {
	c := &cobra.Command{Use: "supervise COMMAND [ARGUMENT]...", Hidden: true, DisableFlagParsing: true}
	c.Args = cobra.MinimumNArgs(1)
	c.RunE = func(_ *cobra.Command, argv []string) error {
		code, err := external.Supervise(argv)
		if err == nil {
			os.Exit(code)
		}
		return usage(err)
	}
	return c
}
