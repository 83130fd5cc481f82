package results

import (
	"fmt"
	"strings"
)

// Fact is something about a run that bears on its figures.
type Fact struct{ What, Text string }

// Unknown stands in reports and texts for what could not be found out.
const Unknown = "unknown"

// Facts are those of a report, always the same ones in the same order; "" is unknown.
func (r *Report) Facts() []Fact {
	h, c := r.Host, r.Config
	var gpus, links, disks []string
	for _, g := range h.GPUs {
		gpus = append(gpus, g.Name)
		links = append(links, g.Link.text())
	}
	for _, d := range h.Disks {
		disks = append(disks, strings.Join(strings.Fields(d.Model+" "+d.Kind+" "+d.FileSystem+" "+d.Link), " "))
	}
	size := func(n int64, unit string) string {
		if n == 0 {
			return ""
		}
		return FormatValue(float64(n), unit)
	}
	data := ""
	if d := r.Dataset; d != nil {
		data = fmt.Sprintf("%s %d images %s %s", d.Store, d.Images, size(d.Bytes, Bytes), d.Fingerprint)
		data = strings.Join(strings.Fields(data), " ")
	}
	shape := strings.Trim(strings.ReplaceAll(fmt.Sprint(c.Shape), " ", "x"), "[]")
	build := r.Tool.Version
	if r.Tool.Commit != "" {
		build += " (" + r.Tool.Commit + ")"
	}
	if r.Tool.Dirty {
		build += " with changes"
	}
	cpus := ""
	if h.CPU.Usable > 0 {
		cpus = fmt.Sprintf("%.4g", h.CPU.Usable)
	}
	batch := ""
	if c.Batch > 0 {
		batch = fmt.Sprint(c.Batch)
	}
	quick := "no"
	if c.Quick {
		quick = "yes"
	}
	all := []Fact{
		{"quick", quick}, {"batch", batch}, {"shape", shape}, {"dtype", c.DType}, {"data", data},
		{"CPU", h.CPU.Model}, {"usable CPUs", cpus}, {"governor", h.CPU.Governor},
		{"memory", size((h.Memory.Total+1<<25)>>26<<26, Bytes)}, // kernels keep a few MiB more or less for themselves
		{"GPUs", strings.Join(gpus, ", ")}, {"link", strings.Join(links, ", ")},
		{"disk", strings.Join(disks, ", ")},
		{"driver", r.Software.Driver}, {"CUDA back end", r.Software.Backend}, {"decoder", r.Software.Decoder},
		{"system", strings.Trim(h.OS+"/"+h.Arch, "/")}, {"kernel", h.Kernel}, {"distribution", h.Distribution},
		{"virtualization", h.Virtualization}, {"container", h.Container}, {"huge pages", h.Memory.THP},
		{"dlbench", build}, {"Go", r.Tool.Go},
	}
	for i := range all {
		if all[i].Text == Unknown { // a report may leave out what another one calls so
			all[i].Text = ""
		}
	}
	return all
}

// text is "8 GT/s x16", by what the link can do: idle ones are slower.
func (l Link) text() string {
	if l.State != LinkKnown {
		return l.State
	}
	gts, width := l.MaxGTs, l.MaxWidth
	if gts == 0 || width == 0 {
		gts, width = l.GTs, l.Width
	}
	return fmt.Sprintf("%g GT/s x%d", gts, width)
}
