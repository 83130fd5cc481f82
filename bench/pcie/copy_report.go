package pcie

import (
	"errors"
	"fmt"

	"dlbench/bench"
	"dlbench/bench/theory"
	"dlbench/results"
)

// Check fails when an assumed link did not hold its deadlines: p95 of the lateness
// above 1 % of the copy's time. Samples taken while the machine was busy stay in
// the result, but a case that is then measured on is judged by its last samples.
func (c *copier) Check() error {
	if c.loaded.Loader != nil {
		return c.loaded.Check()
	}
	if len(c.late) == 0 || c.overrun > len(c.late)/2 {
		return nil // a host slower than the link is reported, not retried
	}
	info := c.device.Info()
	rate := info.Rates.Pinned
	if c.mem == "pageable" {
		rate = info.Rates.Pageable
	}
	limit := bench.LateShare * theory.Time(c.bytes, rate)
	last := c.late[c.lateAt[max(0, len(c.lateAt)-bench.LateSamples)]:]
	if late := bench.TooLate(last, limit); late > 1 && float64(late) > bench.LatePart*float64(len(last)) {
		return errTooBusy
	}
	return nil
}

var errTooBusy = errors.New("p95 of the lateness is above 1 % of a copy: this machine is too busy to stand in for a link")

// Report adds the link that the copies ran over, the references that follow from
// it, and what was odd.
func (c *copier) Report(r *results.Result) {
	info := c.device.Info()
	p := &results.PCIeProof{BytesVerified: true, DeviceName: info.Name}
	r.Proof = results.RecordOf(p)
	if c.cold {
		p.EvictedWith = &c.ev.size
		if w := c.ev.short(); w != "" {
			r.Warnings = append(r.Warnings, w)
		}
	}
	l, known := info.Link, info.AssumedLink()
	if known {
		p.LinkSource = info.Source
		if c.mem == results.Staged {
			p.Parts = "the copy into the pinned buffer is measured, the one over the link assumed"
		}
	} else {
		l, known = c.liveLink(r, p)
	}
	if !info.Assumed {
		c.place.report(r, p)
		c.pages.report(r, p, c.place.stands())
		c.reportMachine(r, p)
	}
	if p.LoadedLink = c.loaded.Report(r); c.loaded.Loader != nil && len(c.read) > 0 {
		p.LinkReal = linkText(c.read[len(c.read)-1])
	}
	if c.groups > 0 {
		p.Groups, p.GroupsWithGap = &c.groups, &c.gaps
		if c.gaps*10 > c.groups {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%d of %d groups of copies were not queued in time behind their blocker: host delays are in the times", c.gaps, c.groups))
		}
	}
	c.reportNormalised(r, p)
	if c.overrun > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d of %d copies took this host longer than the assumed link: their times are the host's", c.overrun, len(c.late)))
	}
	if !known {
		return
	}
	p.Link = l.String()
	r.References = append(r.References, c.references(l)...)
	c.plausible(r, l)
}

// references of a copy over l.
func (c *copier) references(l theory.Link) []results.Reference {
	dir := theory.HostToDevice
	if c.dir == results.D2H {
		dir = theory.DeviceToHost
	}
	size := float64(c.bytes)
	var refs []results.Reference
	add := func(name, source string, lo, hi float64) { // a band of rates, as times too
		b := results.Reference{Name: name, Metric: "bandwidth", Source: source}
		t := results.Reference{Name: name, Metric: "time", Source: source}
		if lo == hi {
			b.Value, t.Value = results.Finite(lo), results.Finite(size/lo)
		} else {
			b.Lo, b.Hi = results.Finite(lo), results.Finite(hi)
			t.Lo, t.Hi = results.Finite(size/hi), results.Finite(size/lo)
		}
		refs = append(refs, b, t)
	}
	line := l.LineRate()
	add("line-rate", fmt.Sprintf("%s: GT/s x line coding x lanes / 8, before packet overhead", l.Title()), line, line)
	if lo, hi, ok := l.Band(dir); ok {
		small := theory.MinCompletion
		if dir == theory.DeviceToHost {
			small = theory.MinWrite
		}
		add("protocol-band", fmt.Sprintf("payloads of %d to %d B a packet (assumed maximum payload %d B)", small, theory.MaxPayload, theory.MaxPayload), lo, hi)
	}
	mem := c.mem
	if mem == "registered" {
		mem = "pinned"
	}
	if p, ok := theory.PublishedBand(l, mem); ok && c.dir == results.H2D {
		add("published", theory.PublishedSource, p.Lo, p.Hi)
	}
	if a, ok := theory.Article(c.article, l); ok && c.dir == results.H2D && c.bytes == theory.ArticleBatch.Bytes() {
		refs = append(refs,
			results.Reference{Name: "article-theory", Metric: "time", Value: &a.Theory, Source: "claim A1, theory; " + theory.UnitSlip},
			results.Reference{Name: "article-practice", Metric: "time", Value: &a.Practice, Source: "claim A1, in practice: a rule of thumb, not a measurement"})
	}
	return refs
}

// plausible fails a result that is faster than its own line.
func (c *copier) plausible(r *results.Result, l theory.Link) {
	m, ref := r.Metric("bandwidth"), r.Reference("line-rate", "bandwidth")
	if m == nil || ref == nil || ref.Value == nil || r.Status != results.OK {
		return
	}
	if line := *ref.Value; m.Median > results.LineSlack*line {
		r.Status = results.Failed
		r.Reason = fmt.Sprintf("measured %s, faster than the line rate of %s (%s): the link was read wrong or the copies did not happen; no result",
			results.FormatValue(m.Median, m.Unit), l.Title(), results.FormatValue(line, m.Unit))
		r.References = nil
	}
}
