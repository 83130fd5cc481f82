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
var memOrder = []string{"pinned", "registered", results.Staged, "pageable", results.Bounce}

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
	measured
}

// pcieCopies gathers the results of copies from a warm source, with no others at the
// same time and from the device's own NUMA node, that keep accepts, failed ones among
// them, by report and device in the order of the reports; main memory comes after the
// devices of its report.
func pcieCopies(reports []*results.Report, keep func(copyCase) bool) (all []copies) {
	cases := casesOf(reports, "pcie", func(m measured) (c copyCase, ok bool) {
		c = copyCase{results.As[results.PCIeParams](m.Result.Params), m}
		c.Mem, c.DType = clean(c.Mem), cmp.Or(c.DType, "float32")
		return c, !c.Cold() && c.Undisturbed() && keep(c)
	})
	type device struct {
		report int
		spec   string
	}
	for _, same := range groups(cases, func(c copyCase) device { return device{c.report, c.Device} }) {
		one := copies{report: same[0].report, Spec: same[0].Device, Results: same}
		for _, c := range same {
			one.Link = cmp.Or(one.Link, linkTitle(c.Result, c.Device))
		}
		all = append(all, one)
	}
	slices.SortStableFunc(all, func(a, b copies) int {
		return cmp.Or(cmp.Compare(a.report, b.report),
			compareBool(a.Spec == results.HostDevice, b.Spec == results.HostDevice))
	})
	return all
}

func memOf(c copyCase) string { return c.Mem }

// byMem has the first result of each kind of memory.
func (c copies) byMem() []copyCase {
	all := firsts(c.Results, memOf)
	slices.SortStableFunc(all, func(a, b copyCase) int { return compareIn(memOrder, a.Mem, b.Mem) })
	return all
}

// linkTitle names the link that r ran over to the device of that specification, "" when
// it is not known; a simulated one has it in its name.
func linkTitle(r *results.Result, device string) string {
	title := results.As[results.PCIeProof](r.Proof).LinkTitle()
	if d, _ := theory.ParseDevice(device); title == "" && d.Link != (theory.Link{}) {
		return d.Link.Title()
	}
	return title
}

// title says in two parts what c is: the device and what is special about its
// link. "Gen3 x16", "simulated link"; "cuda:0 NVIDIA H100", "Gen5 x16".
func (c copies) title(rep *results.Report) (device, link string) {
	if c.Spec == results.HostDevice {
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
		return d.Link.Title(), "simulated link" + rates
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

// named is the title in one, without that the link is simulated.
func (c copies) named(rep *results.Report) string {
	device, link := c.title(rep)
	if link = strings.TrimPrefix(strings.TrimPrefix(link, "simulated link"), ", "); link == "" {
		return device
	}
	return device + ", " + link
}

// detail distinguishes c from the other devices of its machine: by its link and its number.
func (c copies) detail(rep *results.Report) string {
	d, _ := theory.ParseDevice(c.Spec)
	switch _, link := c.title(rep); {
	case c.Spec == results.HostDevice:
		return ""
	case d.Sim():
		return c.named(rep) // its group says that it is simulated
	case d.CUDA:
		return fmt.Sprintf("cuda:%d %s", d.Index, link)
	default:
		return link
	}
}
