package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dlbench/bench/theory"
	"dlbench/results"
)

// memOrder is the order in which kinds of host memory are shown.
var memOrder = []string{"pinned", "registered", "staged", "pageable", "bounce"}

// compareMem orders kinds of memory; unknown ones come last, by name.
func compareMem(a, b string) int {
	rank := func(m string) int {
		if i := slices.Index(memOrder, m); i >= 0 {
			return i
		}
		return len(memOrder)
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
}

// span is a range of a metric in its base unit; the zero span is none.
type span struct{ Lo, Hi float64 }

// point is the median of a metric and its spread.
type point struct {
	Median float64
	Spread span // none for assumed values
	Range  bool // Spread is minimum and maximum, for want of samples for an interval
}

// pointOf reads the metric of that name; ok is false without a positive median.
func pointOf(r *results.Result, name string) (p point, ok bool) {
	m := r.Metric(name)
	if m == nil || !positive(m.Median) {
		return p, false
	}
	p.Median = m.Median
	if len(r.Assumed) > 0 {
		return p, true
	}
	if m.Lo != nil && m.Hi != nil {
		p.Spread = span{*m.Lo, *m.Hi}
	} else if m.Min < m.Max {
		p.Spread, p.Range = span{m.Min, m.Max}, true
	}
	if !positive(p.Spread.Lo) || !positive(p.Spread.Hi) || p.Spread.Lo > p.Median || p.Spread.Hi < p.Median {
		p.Spread, p.Range = span{}, false
	}
	return p, true
}

// valueOf reads a reference to a metric, 0 for none.
func valueOf(r *results.Result, name, metric string) float64 {
	if ref := r.Reference(name, metric); ref != nil && ref.Value != nil && positive(*ref.Value) {
		return *ref.Value
	}
	return 0
}

// spanOf reads a reference to a metric that is a band.
func spanOf(r *results.Result, name, metric string) span {
	ref := r.Reference(name, metric)
	if ref == nil || ref.Lo == nil || ref.Hi == nil || !positive(*ref.Lo) || !positive(*ref.Hi) || *ref.Lo > *ref.Hi {
		return span{}
	}
	return span{*ref.Lo, *ref.Hi}
}

// positive tells whether v can be drawn. No time or rate comes near the upper
// bound, with which coordinates stay finite.
func positive(v float64) bool { return v > 0 && v < 1e18 }

// copies are the results of suite pcie that a chart shows of one device.
type copies struct {
	report  int
	Spec    string // sim:gen3x16, cuda:0, host
	Link    string // Gen3 x16; "" unknown
	Results []*results.Result
}

// pcieCopies gathers the results of copies from a warm source, beside no others and from
// the device's own NUMA node, that keep accepts,
// failed ones among them, by report and device in the order of the reports; main memory comes after the
// devices of its report.
func pcieCopies(reports []*results.Report, keep func(*results.Report, *results.Result) bool) []copies {
	var all []copies
	for i, rep := range reports {
		var here []copies
		for j := range rep.Results {
			r := &rep.Results[j]
			if r.Suite != "pcie" || r.Status == results.Skipped ||
				cmp.Or(r.Params.Text("source"), "warm") != "warm" || cmp.Or(r.Params.Text("concurrent"), "none") != "none" ||
				r.Params.Text("numa") == "remote" || !keep(rep, r) {
				continue
			}
			spec := r.Params.Text("device")
			k := slices.IndexFunc(here, func(c copies) bool { return c.Spec == spec })
			if k < 0 {
				k = len(here)
				here = append(here, copies{report: i, Spec: spec})
			}
			here[k].Results = append(here[k].Results, r)
			here[k].Link = cmp.Or(here[k].Link, linkTitle(r))
		}
		slices.SortStableFunc(here, func(a, b copies) int { return cmp.Compare(host(a.Spec), host(b.Spec)) })
		all = append(all, here...)
	}
	return all
}

func host(spec string) int {
	if spec == "host" {
		return 1
	}
	return 0
}

// linkTitle names the link that a copy ran over, "" when it is not known.
func linkTitle(r *results.Result) string {
	s := results.As[results.PCIeProof](r.Proof).Link
	if s == "" { // an assumed one has it in its name
		switch spec := strings.Split(r.Params.Text("device"), ":"); {
		case spec[0] == "sim" && len(spec) > 1:
			s = spec[1]
		case spec[0] == "cuda" && len(spec) > 2:
			s = strings.TrimPrefix(spec[2], "link=")
		}
	}
	if l, err := theory.ParseLink(s); err == nil {
		return l.Title()
	}
	return ""
}

// title says in two parts what c is: the device and what is special about its
// link. "Gen3 x16", "assumed link"; "cuda:0 NVIDIA H100", "Gen5 x16".
func (c copies) title(rep *results.Report) (device, link string) {
	spec := strings.Split(clean(c.Spec), ":")
	switch {
	case spec[0] == "host":
		return "host memory copy", ""
	case spec[0] == "sim":
		link = "assumed link"
		if len(spec) > 2 {
			link += ", " + strings.Join(spec[2:], ", ")
		}
		return cmp.Or(c.Link, clean(c.Spec)), link
	}
	link = cmp.Or(c.Link, "link unknown")
	if len(spec) < 2 || spec[0] != "cuda" {
		return clean(c.Spec), link
	}
	for _, s := range spec[2:] {
		if strings.HasPrefix(s, "link=") {
			s = "link time loaded"
		}
		link += ", " + s
	}
	device = spec[0] + ":" + spec[1]
	if n, err := strconv.Atoi(spec[1]); err == nil {
		for _, g := range rep.Host.GPUs {
			if g.Index != nil && *g.Index == n {
				device = strings.TrimSpace(fmt.Sprintf("%s %s", device, clean(g.Name)))
			}
		}
	}
	return device, link
}
