package results

import (
	"cmp"
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
	known := func(is bool, text string) string {
		if is {
			return text
		}
		return ""
	}
	size := func(n int64) string { return known(n != 0, FormatValue(float64(n), Bytes)) }
	data := ""
	if d := r.Dataset; d != nil {
		data = fmt.Sprintf("%s %d images %s %s", d.Store, d.Images, size(d.Bytes), d.Fingerprint)
		data = strings.Join(strings.Fields(data), " ")
	}
	shape := strings.Trim(strings.ReplaceAll(fmt.Sprint(c.Shape), " ", "x"), "[]")
	build := r.Tool.Version + known(r.Tool.Commit != "", " ("+r.Tool.Commit+")") + known(r.Tool.Dirty, " with changes")
	quick := cmp.Or(known(c.Quick, "yes"), "no")
	all := []Fact{
		{"quick", quick}, {"batch", known(c.Batch > 0, fmt.Sprint(c.Batch))}, {"shape", shape},
		{"dtype", c.DType}, {"data", data},
		{"CPU", h.CPU.Model},
		{"usable CPUs", known(h.CPU.Usable > 0, fmt.Sprintf("%.4g", h.CPU.Usable))}, {"governor", h.CPU.Governor},
		{"memory", size((h.Memory.Total + 1<<25) >> 26 << 26)}, // kernels keep a few MiB more or less for themselves
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
