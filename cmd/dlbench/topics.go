package main

import (
	"embed"
	"strings"

	"github.com/spf13/cobra"

	"dlbench/bench"
)

// topics are the pages of the manual, in Markdown.
//
//go:embed help/*.md
var topics embed.FS

// topicNames are the pages of the manual.
func topicNames() (names []string) {
	files, _ := topics.ReadDir("help")
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".md"))
	}
	return names
}

// newHelp prints a page of the manual, or what a command's --help prints.
func newHelp() *cobra.Command {
	return &cobra.Command{Use: "help [TOPIC|COMMAND]", Args: cobra.ArbitraryArgs, ValidArgs: topicNames(),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.Root().Help()
			}
			if text, err := topics.ReadFile("help/" + args[0] + ".md"); err == nil && len(args) == 1 {
				_, err := c.OutOrStdout().Write(text)
				return err
			}
			command, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				known := append(topicNames(), commandNames(c.Root().Commands())...)
				return usagef("help %s: no such topic or command: topics are %s%s", strings.Join(args, " "),
					strings.Join(topicNames(), ", "), bench.DidYouMean(args[0], known))
			}
			return command.Help()
		}}
}
