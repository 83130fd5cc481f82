package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dlbench/bench/theory"
	"dlbench/results"
)

// machineTable has a row for each property and a column for each report. A row in
// which no report has anything is left out.
func machineTable(reports []*results.Report, names []string) table {
	t := table{Caption: "What was measured on", Head: append([]string{""}, names...)}
	for _, p := range properties {
		row := []string{p.name}
		for _, r := range reports {
			row = append(row, cmp.Or(p.text(r), results.NoValue))
		}
		if slices.ContainsFunc(row[1:], func(s string) bool { return s != results.NoValue }) {
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
		return list(cmp.Or(c.Model, "unknown model"), count(c.Sockets, "socket"), count(c.Cores, "core"),
			count(c.Threads, "thread"), count(c.NUMANodes, "NUMA node"))
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
		return list(clock(c.Hz, "at the start"), clock(c.MaxHz, "at most"), word("governor ", c.Governor))
	}},
	{"last-level cache", func(r *results.Report) string { return size(r.Host.CPU.LastCache, "%s") }},
	{"memory", func(r *results.Report) string {
		m := r.Host.Memory
		s := list(size(m.Total, "%s"), size(m.Available, "%s available"), size(m.Limit, "cgroup limit %s"))
		s += word("\ntransparent huge pages: ", m.THP)
		return s + word("\n", size(m.MemLock, "page-locked memory: at most %s"))
	}},
	{"GPUs", func(r *results.Report) string { return cmp.Or(each(r.Host.GPUs, gpuText), "none") }},
	{"disks", func(r *results.Report) string { return each(r.Host.Disks, diskText) }},
	{"system", func(r *results.Report) string {
		return list(strings.TrimSpace(r.Host.OS+" "+r.Host.Arch), r.Host.Distribution)
	}},
	{"kernel", func(r *results.Report) string { return r.Host.Kernel }},
	{"virtualisation", func(r *results.Report) string {
		return cmp.Or(r.Host.Virtualization, "unknown") + word(", in a container: ", r.Host.Container)
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
	s := name + ": " + list(cmp.Or(g.Name, "unknown model"), size(g.Memory, "%s")) + word(", at ", g.PCI)
	if now, ok := theory.LinkOf(g.Link.GTs, g.Link.Width); ok {
		s += ", link " + now.Title()
	} else {
		s += word(", link ", g.Link.State)
	}
	if most, ok := theory.LinkOf(g.Link.MaxGTs, g.Link.MaxWidth); ok {
		s += ", at most " + most.Title()
	}
	if g.NUMANode != nil {
		s += fmt.Sprintf(", NUMA node %d", *g.NUMANode)
	}
	return s + word(", shares its uplink with ", strings.Join(g.Shares, " and ")) + word("; ", g.Link.Note)
}

func diskText(d results.Disk) string {
	link := d.Link
	if link == results.Unknown {
		link = ""
	}
	s := list(d.Name, d.Model, d.Kind, size(d.Size, "%s"), word("link ", link), d.FileSystem,
		strings.Join(d.MountOptions, " "))
	s += word("\n", list(size(d.Free, "%s free"), size(d.ReadAhead, "read-ahead %s"), word("scheduler ", d.Scheduler)))
	if d.Cache != "" && d.Cache != results.CacheControllable {
		s += "\npage cache " + d.Cache + word(": ", d.CacheReason)
	}
	if d.Compressed {
		s += "\nthe file system compresses, or may"
	}
	for _, n := range d.Notes {
		s += word("\n", n)
	}
	return s
}

// each has a line for each of all.
func each[T any](all []T, text func(T) string) string {
	var lines []string
	for _, x := range all {
		lines = append(lines, text(x))
	}
	return strings.Join(lines, "\n")
}

// list joins what is not empty.
func list(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ", ")
}

// clock is a rate in Hz in a list, "" for an unknown one.
func clock(hz float64, when string) string {
	if hz == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f GHz %s", hz/1e9, when)
}

// word is s after what announces it, "" without s.
func word(before, s string) string {
	if s == "" {
		return ""
	}
	return before + s
}

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
