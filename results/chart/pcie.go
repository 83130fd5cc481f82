package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dlbench/bench/theory"
	"dlbench/results"
)

// memOrder is the order in which kinds of host memory are shown.
var memOrder = []string{"pinned", "registered", "staged", "pageable", "bounce"}

// copies are the results of suite pcie that a chart shows of one device.
type copies struct {
	report  int
	Spec    string // sim:gen3x16, cuda:0, host
	Link    string // Gen3 x16; "" unknown
	Results []copyCase
}

// copyCase is one result of suite pcie.
type copyCase struct {
	results.PCIeParams
	Result *results.Result
}

// pcieCopies gathers the results of copies from a warm source, with no others at the
// same time and from the device's own NUMA node, that keep accepts, failed ones among
// them, by report and device in the order of the reports; main memory comes after the
// devices of its report.
func pcieCopies(reports []*results.Report, keep func(*results.Report, copyCase) bool) []copies {
	var all []copies
	for i, rep := range reports {
		var here []copies
		for j := range rep.Results {
			r := &rep.Results[j]
			if r.Suite != "pcie" || r.Status == results.Skipped {
				continue
			}
			c := copyCase{results.As[results.PCIeParams](r.Params), r}
			c.Mem, c.DType = clean(c.Mem), cmp.Or(c.DType, "float32")
			warm, alone := cmp.Or(c.Source, "warm") == "warm", cmp.Or(c.Concurrent, "none") == "none"
			if !warm || !alone || c.NUMA == "remote" || !keep(rep, c) {
				continue
			}
			device := findOrAdd(&here, copies{report: i, Spec: c.Device},
				func(o copies) bool { return o.Spec == c.Device })
			device.Results = append(device.Results, c)
			device.Link = cmp.Or(device.Link, linkTitle(r, c.Device))
		}
		slices.SortStableFunc(here, func(a, b copies) int { return compareBool(a.Spec == "host", b.Spec == "host") })
		all = append(all, here...)
	}
	return all
}

// byMem has the first result of each kind of memory: of copies that differ in other
// parameters that is the plain one.
func (c copies) byMem() []copyCase {
	var all []copyCase
	for _, r := range c.Results {
		if !slices.ContainsFunc(all, func(o copyCase) bool { return o.Mem == r.Mem }) {
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(a, b copyCase) int { return compareIn(memOrder, a.Mem, b.Mem) })
	return all
}

// linkTitle names the link that r ran over to the device of that specification, "" when
// it is not known.
func linkTitle(r *results.Result, device string) string {
	l, err := theory.ParseLink(results.As[results.PCIeProof](r.Proof).Link)
	if err != nil { // an assumed one has it in its name
		d, _ := theory.ParseDevice(device)
		l = d.Link
	}
	if l == (theory.Link{}) {
		return ""
	}
	return l.Title()
}

// title says in two parts what c is: the device and what is special about its
// link. "Gen3 x16", "assumed link"; "cuda:0 NVIDIA H100", "Gen5 x16".
func (c copies) title(rep *results.Report) (device, link string) {
	if c.Spec == "host" {
		return "host memory copy", ""
	}
	d, err := theory.ParseDevice(c.Spec)
	var rates string // as given
	if _, options, ok := strings.Cut(c.Spec, d.Link.String()+":"); ok {
		rates = ", " + strings.ReplaceAll(options, ":", ", ")
	}
	link = cmp.Or(c.Link, "link unknown")
	switch {
	case d.Sim():
		return d.Link.Title(), "assumed link" + rates
	case err != nil || !d.CUDA:
		return clean(c.Spec), link
	case d.Loaded():
		link += ", link time loaded" + rates
	}
	device = fmt.Sprintf("cuda:%d", d.Index)
	for _, g := range rep.Host.GPUs {
		if g.Index != nil && *g.Index == d.Index {
			device = strings.TrimSpace(device + " " + clean(g.Name))
		}
	}
	return device, link
}

// named is the title in one, without that the link is assumed.
func (c copies) named(rep *results.Report) string {
	device, link := c.title(rep)
	if link = strings.TrimPrefix(strings.TrimPrefix(link, "assumed link"), ", "); link == "" {
		return device
	}
	return device + ", " + link
}

// detail distinguishes c from the other devices of its machine: by its link, and by its name
// where the machine has several.
func (c copies) detail(reports []*results.Report, all []copies) string {
	if c.Spec == "host" {
		return ""
	}
	d, _ := theory.ParseDevice(c.Spec)
	if d.Sim() {
		return c.named(reports[c.report]) // its group says that it is assumed
	}
	_, link := c.title(reports[c.report])
	for _, o := range all {
		other, _ := theory.ParseDevice(o.Spec)
		if o.report == c.report && o.Spec != c.Spec && o.Spec != "host" && !other.Sim() {
			device := short(c.Spec)
			if d.CUDA {
				device = fmt.Sprintf("cuda:%d", d.Index)
			}
			return device + " " + link
		}
	}
	return link
}
