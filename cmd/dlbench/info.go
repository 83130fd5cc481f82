package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"dlbench/bench"
	"dlbench/bench/theory"
	"dlbench/results"
)

func newInfo() *cobra.Command {
	var format *choiceFlag
	c := &cobra.Command{
		Use:   "info",
		Short: "This machine: CPU and quota, memory, GPUs and links, disk",
		RunE: func(c *cobra.Command, _ []string) error {
			h, missing, err := bench.Machine("/")
			if err != nil {
				return err
			}
			if format.value == "json" {
				return writeJSON(c.OutOrStdout(), h)
			}
			return buffered(c.OutOrStdout(), func(w io.Writer) error { return writeInfo(w, h, missing) })
		},
	}
	format = choice(c, "format", "what to print", "text", "json")
	return c
}

func writeInfo(w io.Writer, h results.Host, missing error) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) { fmt.Fprintf(tw, name+"\t"+format+"\n", args...) }
	size := func(n int64) string { return results.FormatBytes(n) }
	row("system", "%s %s, %s, kernel %s", h.OS, h.Arch, cmp.Or(h.Distribution, "unknown distribution"), cmp.Or(h.Kernel, "unknown"))
	row("virtualisation", "%s", strings.Join(nonEmpty(cmp.Or(h.Virtualization, "unknown"), h.Container), ", container "))
	c := h.CPU
	row("CPU", "%s: %s, %s, %s", cmp.Or(c.Model, "unknown model"), plural(c.Sockets, "socket"), plural(c.Cores, "core"), plural(c.Threads, "thread"))
	quota := "no quota"
	if c.Quota != nil {
		quota = fmt.Sprintf("quota %.4g CPUs", *c.Quota)
	}
	row("usable", "%.4g CPUs (affinity %d, %s)", c.Usable, c.Affinity, quota)
	clock := "unknown"
	if c.Hz > 0 {
		clock = fmt.Sprintf("%.2f GHz now", c.Hz/1e9)
	}
	if c.MaxHz > 0 {
		clock += fmt.Sprintf(", %.2f GHz at most", c.MaxHz/1e9)
	}
	row("clock", "%s, governor %s", clock, cmp.Or(c.Governor, "unknown"))
	row("last-level cache", "%s", orUnknown(c.LastCache, size))
	row("NUMA nodes", "%s", orUnknown(int64(c.NUMANodes), func(n int64) string { return fmt.Sprint(n) }))
	m := h.Memory
	row("memory", "%s, %s available, cgroup limit %s", orUnknown(m.Total, size), orUnknown(m.Available, size), orNone(m.Limit, size))
	row("page-locked memory", "limit %s; transparent huge pages %s", orNone(m.MemLock, size), cmp.Or(m.THP, "unknown"))
	unseen := 0
	for _, g := range h.GPUs {
		name := "not seen by CUDA"
		if g.Index == nil {
			unseen++
		} else {
			name = fmt.Sprintf("cuda:%d", *g.Index)
		}
		row("GPU", "%s: %s at %s, %s", name, cmp.Or(g.Name, "unknown model"), cmp.Or(g.PCI, "an unknown address"), orUnknown(g.Memory, size))
		row("", "%s", describeLink(g))
	}
	if v, ok := os.LookupEnv("CUDA_VISIBLE_DEVICES"); ok && missing == nil {
		more := ""
		if unseen > 0 {
			more = fmt.Sprintf(", %d hidden", unseen)
		}
		row("", "chosen and numbered by CUDA_VISIBLE_DEVICES=%q%s", v, more)
	}
	if missing != nil {
		row("GPU", "none to copy to: %s", missing)
	}
	for _, d := range h.Disks {
		row("disk here", "%s", describeDisk(d))
	}
	for _, n := range h.Notes {
		row("note", "%s", n)
	}
	return tw.Flush()
}

// describeDisk says what the working directory is stored on.
func describeDisk(d results.Disk) string {
	s := strings.Join(nonEmpty(d.Name, d.Model, cmp.Or(d.Kind, "unknown kind"), d.FileSystem), ", ")
	s += fmt.Sprintf(", link %s, %s free of %s", cmp.Or(d.Link, "unknown"), orUnknown(d.Free, results.FormatBytes), orUnknown(d.Total, results.FormatBytes))
	if d.Cache != "" && d.Cache != results.CacheControllable {
		s += ", page cache " + d.Cache + " (" + d.CacheReason + ")"
	}
	for _, n := range d.Notes {
		s += "; " + n
	}
	return s
}

// describeLink says what the registers of a GPU's link told.
func describeLink(g results.GPU) string {
	l := g.Link
	s := "link " + l.State
	if now, ok := theory.LinkOf(l.GTs, l.Width); ok {
		s = "link now " + now.Title()
		if most, ok := theory.LinkOf(l.MaxGTs, l.MaxWidth); ok {
			s += ", at most " + most.Title()
		}
		if l.Narrow != "" && l.Narrow != g.PCI {
			s += ", narrowest at " + l.Narrow
		}
		s += " (an idle GPU slows its link down; run reads it while copying)"
	}
	if l.Note != "" {
		s += ": " + l.Note
	}
	if g.NUMANode != nil {
		s += fmt.Sprintf("; NUMA node %d", *g.NUMANode)
	} else {
		s += "; NUMA node unknown"
	}
	if len(g.Shares) > 0 {
		s += fmt.Sprintf("; shares the uplink %s with %s", g.Uplink, strings.Join(g.Shares, ", "))
	}
	return s
}

func orUnknown(n int64, format func(int64) string) string {
	if n == 0 {
		return "unknown"
	}
	return format(n)
}

func orNone(n int64, format func(int64) string) string {
	if n == 0 {
		return "none"
	}
	return format(n)
}

func plural(n int, what string) string {
	if n == 0 {
		return "unknown " + what + "s"
	}
	return results.Plural(n, what)
}

func nonEmpty(s ...string) []string {
	var out []string
	for _, x := range s {
		if x != "" {
			out = append(out, x)
		}
	}
	return out
}
