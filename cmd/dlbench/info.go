package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"dlbench/bench"
	"dlbench/bench/theory"
	"dlbench/results"
)

func newInfo() *cobra.Command {
	c := &cobra.Command{Use: "info"}
	c.RunE = func(c *cobra.Command, _ []string) error {
		h, missing, err := bench.Machine("/")
		if err != nil {
			return err
		}
		text := func(w io.Writer) error { return writeInfo(w, h, missing) }
		return forms{"text": text, "json": jsonOf(h)}.print(c)
	}
	addFormat(c, "text", "json")
	return c
}

func writeInfo(w io.Writer, h results.Host, missing error) error {
	lines := newColumns(w, 0)
	lines.row("system\t%s %s, %s, kernel %s", h.OS, h.Arch,
		cmp.Or(h.Distribution, "unknown distribution"), known(h.Kernel))
	lines.row("virtualisation\t%s", join(", container ", known(h.Virtualization), h.Container))
	lines.cpu(h.CPU)
	m := h.Memory
	lines.row("memory\t%s, %s available, cgroup limit %s",
		known(size(m.Total)), known(size(m.Available)), cmp.Or(size(m.Limit), "none"))
	lines.row("page-locked memory\tlimit %s; transparent huge pages %s",
		cmp.Or(size(m.MemLock), "none"), known(m.THP))
	lines.gpus(h.GPUs, missing)
	for _, d := range h.Disks {
		lines.row("disk here\t%s", describeDisk(d))
	}
	for _, n := range h.Notes {
		lines.row("note\t%s", n)
	}
	return lines.Flush()
}

// cpu adds the lines about the CPUs.
func (c columns) cpu(cpu results.CPU) {
	counted := func(n int, what string) string {
		if n == 0 {
			return "unknown " + what + "s"
		}
		return results.Plural(n, what)
	}
	c.row("CPU\t%s: %s, %s, %s", cmp.Or(cpu.Model, "unknown model"),
		counted(cpu.Sockets, "socket"), counted(cpu.Cores, "core"), counted(cpu.Threads, "thread"))
	quota := "no quota"
	if cpu.Quota != nil {
		quota = fmt.Sprintf("quota %.4g CPUs", *cpu.Quota)
	}
	c.row("usable\t%.4g CPUs (affinity %d, %s)", cpu.Usable, cpu.Affinity, quota)
	clock := "unknown"
	if cpu.Hz > 0 {
		clock = fmt.Sprintf("%.2f GHz now", cpu.Hz/1e9)
	}
	if cpu.MaxHz > 0 {
		clock += fmt.Sprintf(", %.2f GHz at most", cpu.MaxHz/1e9)
	}
	c.row("clock\t%s, governor %s", clock, known(cpu.Governor))
	c.row("last-level cache\t%s", known(size(cpu.LastCache)))
	nodes := "unknown"
	if cpu.NUMANodes != 0 {
		nodes = fmt.Sprint(cpu.NUMANodes)
	}
	c.row("NUMA nodes\t%s", nodes)
}

// gpus adds the lines about the GPUs; missing is why none can be used, or nil.
func (c columns) gpus(gpus []results.GPU, missing error) {
	unseen := 0
	for _, g := range gpus {
		name := "not seen by CUDA"
		if g.Index == nil {
			unseen++
		} else {
			name = fmt.Sprintf("cuda:%d", *g.Index)
		}
		c.row("GPU\t%s: %s at %s, %s", name, cmp.Or(g.Name, "unknown model"),
			cmp.Or(g.PCI, "an unknown address"), known(size(g.Memory)))
		c.row("\t%s", describeLink(g))
	}
	if missing != nil {
		c.row("GPU\tnone to copy to: %s", missing)
	} else if v, ok := os.LookupEnv("CUDA_VISIBLE_DEVICES"); ok {
		more := ""
		if unseen > 0 {
			more = fmt.Sprintf(", %d hidden", unseen)
		}
		c.row("\tchosen and numbered by CUDA_VISIBLE_DEVICES=%q%s", v, more)
	}
}

// describeDisk says what the working directory is stored on.
func describeDisk(d results.Disk) string {
	s := join(", ", d.Name, d.Model, cmp.Or(d.Kind, "unknown kind"), d.FileSystem)
	s += fmt.Sprintf(", link %s, %s free of %s",
		known(d.Link), known(size(d.Free)), known(size(d.Total)))
	if d.Cache != "" && d.Cache != results.CacheControllable {
		s += ", page cache " + d.Cache + " (" + d.CacheReason + ")"
	}
	for _, n := range d.Notes {
		s += "; " + n
	}
	return s
}

// describeLink says what the registers of a GPU's link say.
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

// size is n bytes, "" for none.
func size(n int64) string {
	if n == 0 {
		return ""
	}
	return results.FormatBytes(n)
}

// known is s, unless there is none.
func known(s string) string { return cmp.Or(s, "unknown") }

// join joins those that are not empty.
func join(separator string, words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), separator)
}
