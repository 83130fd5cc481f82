package chart

import (
	"cmp"
	"fmt"
	"image/color"
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
// it is not known; an assumed one has it in its name.
func linkTitle(r *results.Result, device string) string {
	title := results.As[results.PCIeProof](r.Proof).LinkTitle()
	if d, _ := theory.ParseDevice(device); title == "" && d.Link != (theory.Link{}) {
		return d.Link.Title()
	}
	return title
}

// title says in two parts what c is: the device and what is special about its
// link. "Gen3 x16", "assumed link"; "cuda:0 NVIDIA H100", "Gen5 x16".
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
	if c.Spec == results.HostDevice {
		return ""
	}
	d, _ := theory.ParseDevice(c.Spec)
	if d.Sim() {
		return c.named(reports[c.report]) // its group says that it is assumed
	}
	_, link := c.title(reports[c.report])
	for _, o := range all {
		other, _ := theory.ParseDevice(o.Spec)
		if o.report == c.report && o.Spec != c.Spec && o.Spec != results.HostDevice && !other.Sim() {
			device := short(c.Spec)
			if d.CUDA {
				device = fmt.Sprintf("cuda:%d", d.Index)
			}
			return device + " " + link
		}
	}
	return link
}

// allBatchTimes are the copies of each batch.
func allBatchTimes(reports []*results.Report) (all []bars) {
	for _, b := range batches(reports) {
		all = append(all, batchTimes(reports, b))
	}
	return all
}

// batches lists the different batches of reports.
func batches(reports []*results.Report) (all []theory.Batch) {
	for _, r := range reports {
		if b, ok := batchOf(r, "float32"); ok {
			all = results.AppendNew(all, b)
		}
	}
	return all
}

// batchCopies gathers the copies of a batch from host to device and within main
// memory, of the reports that have that batch.
func batchCopies(reports []*results.Report, batch theory.Batch) []copies {
	return pcieCopies(reports, func(c copyCase) bool {
		want := results.H2D
		if c.Device == results.HostDevice {
			want = results.H2H
		}
		have, _ := batchOf(reports[c.report], "float32")
		return have == batch && c.Dir == want && c.Bytes == batch.Bytes() && c.DType == "float32" &&
			(has(c.Result, "time") || c.Failed())
	})
}

// copyKey is what copies have in common that are compared: on one
// machine the device, of several the kind of memory.
type copyKey struct {
	spec, mem     string
	host, assumed bool
}

// batchTimes has a group for each device of one machine or each kind of memory of
// several, measured and assumed apart, and copies within main memory last; none where
// nothing is copied to a device.
func batchTimes(reports []*results.Report, batch theory.Batch) bars {
	v := bars{
		title: "Time to copy one batch to the GPU",
		subtitle: fmt.Sprintf("Host to device, %s (%s), warm source; median, shorter is better",
			batch, results.FormatBytes(batch.Bytes())),
		quantity: timePerBatch,
		captions: captions(reports, gpuText),
	}
	all := batchCopies(reports, batch)
	worked := func(c copyCase) bool { return c.Device != results.HostDevice && !c.Failed() }
	if !slices.ContainsFunc(all, func(c copies) bool { return slices.ContainsFunc(c.Results, worked) }) {
		return v
	}
	v.compare(reports)
	for _, c := range all {
		for _, r := range c.byMem() {
			k := copyKey{host: c.Spec == results.HostDevice, assumed: len(r.Result.Assumed) > 0}
			g, row := barGroup{}, copyRow(r)
			if k.assumed {
				g.Assumed = []string{"link"}
			}
			if v.machines == nil {
				k.spec = c.Spec
				g.Title, g.Marks = c.named(reports[c.report]), linkMarks(r.Result)
				row.Detail, row.fill = r.Mem, cmp.Or[color.Color](memColor[r.Mem], muted)
			} else {
				k.mem = r.Mem
				g.Title = k.mem + " memory"
				if k.host {
					g.Title = "copy within main memory, " + k.mem
				}
				row.Detail, row.Marks = c.detail(reports, all), linkMarks(r.Result)
			}
			g.key = k
			v.add(g, row)
		}
	}
	slices.SortStableFunc(v.Groups, func(a, b barGroup) int {
		k, o := a.key.(copyKey), b.key.(copyKey)
		byKind := cmp.Or(compareBool(k.host, o.host), compareIn(memOrder, k.mem, o.mem))
		if v.machines == nil {
			return byKind
		}
		return cmp.Or(byKind, compareBool(k.assumed, o.assumed))
	})
	return v
}

// copyRow is the row of one copy.
func copyRow(c copyCase) barRow {
	row := rowOf(c.measured, "time", timePerBatch)
	row.Band = spanOf(c.Result, "protocol-band", "time")
	if !row.Failed {
		row.Others = spanOf(c.Result, "published", "time")
	}
	return row
}

// Meanings of what the article says of a link.
const (
	theoryMeaning   = "article's theory (1 GiB/s a lane: 9 % faster than the line)"
	practiceMeaning = "article's practice (its rule of thumb: twice the theory)"
)

// linkMarks are what the link of a copy allows.
func linkMarks(r *results.Result) []mark {
	rate := markOf(valueOf(r, "line-rate", "time"), "line rate of the link", drawRate)
	for i := range rate {
		rate[i].solid = true
	}
	return slices.Concat(rate,
		markOf(valueOf(r, "article-theory", "time"), theoryMeaning, drawTheory),
		markOf(valueOf(r, "article-practice", "time"), practiceMeaning, drawPractice))
}
