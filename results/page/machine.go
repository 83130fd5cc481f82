package page

import (
	"cmp"
	"fmt"
	"strings"

	"dlbench/bench/theory"
	"dlbench/results"
)

// machineTable has a row for each property and a column for each report. A row in
// which no report has anything is left out.
func machineTable(reports []*results.Report, names []string) Table {
	t := Table{Caption: "What was measured on", Head: append([]string{""}, names...)}
	for _, p := range properties {
		row := []string{p.name}
		some := false
		for _, r := range reports {
			s := p.text(r)
			some = some || s != ""
			row = append(row, cmp.Or(s, results.NoValue))
		}
		if some {
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// properties are the rows of the machine table. A text may have several lines.
var properties = []struct {
	name string
	text func(*results.Report) string
}{
	{"CPU", func(r *results.Report) string {
		c := r.Host.CPU
		return list(cmp.Or(c.Model, "unknown model"), count(c.Sockets, "socket"), count(c.Cores, "core"), count(c.Threads, "thread"), count(c.NUMANodes, "NUMA node"))
	}},
	{"usable CPUs", func(r *results.Report) string {
		c := r.Host.CPU
		if c.Usable == 0 {
			return ""
		}
		quota := "no quota"
		if c.Quota != nil {
			quota = fmt.Sprintf("quota %.4g", *c.Quota)
		}
		if c.NrThrottled > 0 {
			quota += fmt.Sprintf(", stopped by it %d times before the run", c.NrThrottled)
		}
		return fmt.Sprintf("%.4g (affinity %d, %s)", c.Usable, c.Affinity, quota)
	}},
	{"clock", func(r *results.Report) string {
		c := r.Host.CPU
		var parts []string
		if c.Hz > 0 {
			parts = append(parts, fmt.Sprintf("%.2f GHz at the start", c.Hz/1e9))
		}
		if c.MaxHz > 0 {
			parts = append(parts, fmt.Sprintf("%.2f GHz at most", c.MaxHz/1e9))
		}
		if c.Governor != "" {
			parts = append(parts, "governor "+c.Governor)
		}
		return list(parts...)
	}},
	{"last-level cache", func(r *results.Report) string { return size(r.Host.CPU.LastCache, "%s") }},
	{"memory", func(r *results.Report) string {
		m := r.Host.Memory
		s := list(size(m.Total, "%s"), size(m.Available, "%s available"), size(m.Limit, "cgroup limit %s"))
		if m.THP != "" {
			s += "\ntransparent huge pages: " + m.THP
		}
		return s + line(size(m.MemLock, "page-locked memory: at most %s"))
	}},
	{"GPUs", func(r *results.Report) string {
		if len(r.Host.GPUs) == 0 {
			return "none"
		}
		var all []string
		for _, g := range r.Host.GPUs {
			all = append(all, gpuText(g))
		}
		return strings.Join(all, "\n")
	}},
	{"disks", func(r *results.Report) string {
		var all []string
		for _, d := range r.Host.Disks {
			all = append(all, diskText(d))
		}
		return strings.Join(all, "\n")
	}},
	{"system", func(r *results.Report) string {
		return list(strings.TrimSpace(r.Host.OS+" "+r.Host.Arch), r.Host.Distribution)
	}},
	{"kernel", func(r *results.Report) string { return r.Host.Kernel }},
	{"virtualisation", func(r *results.Report) string {
		s := cmp.Or(r.Host.Virtualization, "unknown")
		if r.Host.Container != "" {
			s += ", in a container: " + r.Host.Container
		}
		return s
	}},
	{"CUDA driver", func(r *results.Report) string { return r.Software.Driver }},
	{"back end", func(r *results.Report) string {
		if r.Software.Backend == "sim" {
			return "sim: assumed links, no GPU"
		}
		return r.Software.Backend
	}},
	{"JPEG decoder", func(r *results.Report) string { return r.Software.Decoder }},
	{"dlbench", func(r *results.Report) string { return toolText(r.Tool) }},
	{"notes", func(r *results.Report) string { return strings.Join(r.Host.Notes, "\n") }},
}

func gpuText(g results.GPU) string {
	name := "not seen by CUDA"
	if g.Index != nil {
		name = fmt.Sprintf("cuda:%d", *g.Index)
	}
	s := name + ": " + list(cmp.Or(g.Name, "unknown model"), size(g.Memory, "%s"))
	if g.PCI != "" {
		s += ", at " + g.PCI
	}
	now, ok := theory.LinkOf(g.Link.GTs, g.Link.Width)
	switch {
	case ok:
		s += ", link " + now.Title()
	case g.Link.State != "":
		s += ", link " + g.Link.State
	}
	if most, ok := theory.LinkOf(g.Link.MaxGTs, g.Link.MaxWidth); ok {
		s += ", at most " + most.Title()
	}
	if g.NUMANode != nil {
		s += fmt.Sprintf(", NUMA node %d", *g.NUMANode)
	}
	if len(g.Shares) > 0 {
		s += ", shares its uplink with " + strings.Join(g.Shares, " and ")
	}
	if g.Link.Note != "" {
		s += "; " + g.Link.Note
	}
	return s
}

func diskText(d results.Disk) string {
	link := ""
	if d.Link != "" && d.Link != "unknown" {
		link = "link " + d.Link
	}
	s := list(d.Name, d.Model, d.Kind, size(d.Size, "%s"), link, d.FileSystem, strings.Join(d.MountOptions, " "))
	s += line(list(size(d.Free, "%s free"), size(d.ReadAhead, "read-ahead %s"), word("scheduler ", d.Scheduler)))
	if d.Cache != "" && d.Cache != results.CacheControllable {
		s += "\npage cache " + d.Cache + word(": ", d.CacheReason)
	}
	if d.Compressed {
		s += "\nthe file system compresses, or may"
	}
	for _, n := range d.Notes {
		s += line(n)
	}
	return s
}

// list joins what is not empty.
func list(parts ...string) string {
	var all []string
	for _, p := range parts {
		if p != "" {
			all = append(all, p)
		}
	}
	return strings.Join(all, ", ")
}

// word is s after what announces it, "" without s.
func word(before, s string) string {
	if s == "" {
		return ""
	}
	return before + s
}

// line is s on a line of its own.
func line(s string) string { return word("\n", s) }

// count is "2 cores", "" for an unknown number.
func count(n int, what string) string {
	if n == 0 {
		return ""
	}
	return results.Plural(n, what)
}

// size is a number of bytes in a sentence, "" for an unknown one.
func size(n int64, format string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(format, results.FormatBytes(n))
}
