package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"dlbench/bench/cluster"
	"dlbench/results"
)

// joinCount is how many samples a case has where several nodes measure it and no --count says so: all
// take the same number, so that none is left to load the store alone.
const joinCount = 10

// together measures as one of several nodes. The first of them joins the reports and prints.
func (f *runFlags) together(c *cobra.Command) error {
	if f.out.dir != "" {
		return usagef("-o %s: --join names the folder of the reports", f.out.dir)
	}
	place, err := cluster.FromEnv(os.Getenv)
	if err != nil {
		return usagef("--join %s: %w", f.join, err)
	}
	notice := func(s string) { fmt.Fprintf(c.ErrOrStderr(), "dlbench: rank %d: %s\n", place.Rank, s) }
	node, err := cluster.Join(f.join, place, notice)
	if err != nil {
		return fmt.Errorf("--join %s: %w", f.join, err)
	}
	f.out.dir, f.Wait = node.NodeDir(place.Rank), node.Wait
	f.Count = cmp.Or(f.Count, joinCount)
	f.Seed += uint64(place.Rank) // each reads in an order of its own
	out := c.OutOrStdout()
	c.SetOut(io.Discard)
	err = f.measure(c)
	c.SetOut(out)
	first, left := node.Leave(c.Context(), f.leftEarly(err))
	if !first || left != nil {
		return errors.Join(err, left)
	}
	rep, joined := joinReports(node)
	if joined != nil {
		return errors.Join(err, fmt.Errorf("--join %s: %w", f.join, joined))
	}
	path := filepath.Join(node.Dir, "report.json")
	return errors.Join(err, results.Save(path, rep), printReport(c, rep, nil))
}

// leftEarly is why this node did not measure all that it was to, "" where it did.
func (f *runFlags) leftEarly(err error) string {
	rep, unread := results.ReadFile(f.out.path)
	switch {
	case unread == nil && rep.Status == results.Complete:
		return ""
	case errors.Is(err, context.Canceled):
		return "was interrupted"
	}
	return "gave up: " + results.OneLine(cmp.Or(err, unread))
}

// joinReports is the first node's report with what all nodes measured.
func joinReports(n *cluster.Node) (*results.Report, error) {
	reports := make([]*results.Report, n.Size)
	nodes := &results.Nodes{Size: n.Size}
	var err error
	for rank := range reports {
		reports[rank], err = results.ReadFile(filepath.Join(n.NodeDir(rank), "report.json"))
		if why := n.Lost[rank]; why != "" {
			nodes.Lost = append(nodes.Lost, results.LostNode{Rank: rank, Reason: why})
		} else if err != nil {
			return nil, err
		}
	}
	nodes.Cases = results.JoinNodes(reports)
	if skews := slices.Sorted(slices.Values(n.Skews)); len(skews) > 0 {
		nodes.Skew = &results.Skew{Median: skews[len(skews)/2].Seconds(), Max: skews[len(skews)-1].Seconds()}
	}
	rep := *reports[n.Rank]
	rep.Nodes = nodes
	return &rep, nil
}
