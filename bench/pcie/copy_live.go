package pcie

import (
	"fmt"
	"strings"

	"dlbench/bench/theory"
	"dlbench/results"
)

// liveLink is the link read while copying, by majority.
func (c *copier) liveLink(r *results.Result, p *results.PCIeProof) (l theory.Link, known bool) {
	count := map[theory.Link]int{}
	last := results.Link{State: results.LinkUnknown}
	switch {
	case c.unread != nil:
		last.Note = "no page-locked memory for copies to read it under: " + results.OneLine(c.unread)
	case c.link == nil && len(c.read) == 0:
		last.Note = "the driver gives no PCI address"
	}
	for _, x := range c.read {
		last = x
		if l, ok := theory.LinkOf(x.GTs, x.Width); ok && x.State == results.LinkKnown {
			count[l]++
		}
	}
	for k, n := range count {
		if n > count[l] || (n == count[l] && k.LineRate() > l.LineRate()) {
			l = k
		}
	}
	p.LinkSource = "link registers in sysfs, read while copying"
	p.LinkReads = new(len(c.read))
	if c.link != nil {
		p.LinkBefore, p.LinkAfter = linkText(c.before), linkText(c.link.read())
		p.LinkNVML = c.link.said
	}
	if len(count) == 0 {
		p.LinkState = last.State
		w := "link " + last.State + ": no line rate to compare with"
		if last.Note != "" {
			w += " (" + last.Note + ")"
		}
		r.Warnings = append(r.Warnings, w)
		return theory.Link{}, false
	}
	if len(count) > 1 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the link changed while copying: %d of %d reads show %s", count[l], len(c.read), l.Title()))
	}
	for _, x := range c.read { // one of those that count
		if k, ok := theory.LinkOf(x.GTs, x.Width); ok && k == l {
			last = x
		}
	}
	if last.Note != "" {
		r.Warnings = append(r.Warnings, "link "+l.Title()+": "+last.Note)
	}
	if w := below(l, last, len(count) == 1); w != "" {
		r.Warnings = append(r.Warnings, w)
	}
	p.LinkNarrowest = last.Narrow
	return l, true
}

// below says what holds l below what the device itself claims, or below what the
// devices and slots on the way can do; "" when nothing does. always says that no read
// under load showed another link.
func below(l theory.Link, read results.Link, always bool) string {
	most, known := theory.LinkOf(read.MaxGTs, read.MaxWidth)
	if len(read.Hops) > 1 && read.Hops[0].Device != read.Narrow {
		if own, ok := theory.LinkOf(read.Hops[0].GTs, read.Hops[0].Width); ok && own.LineRate() > 1.01*l.LineRate() && (!known || most.LineRate() <= 1.01*l.LineRate()) {
			return fmt.Sprintf("the device itself claims %s, but the hop above %s on the way has %s, which is what counts", own.Title(), read.Narrow, l.Title())
		}
	}
	if !known || most.LineRate() <= 1.01*l.LineRate() {
		return ""
	}
	what := fmt.Sprintf("the link ran at %s while copying", l.Title())
	if always && l.Gen < most.Gen {
		what = fmt.Sprintf("the link is stuck at %s under load", l.Title())
	}
	return what + fmt.Sprintf(", its devices and slot allow %s", most.Title())
}

// reportMachine names what a device is, where that bears on its link.
func (c *copier) reportMachine(r *results.Result, p *results.PCIeProof) {
	name := c.device.Info().Name
	if _, slice, ok := strings.Cut(name, " MIG "); ok {
		p.MIG = slice
		r.Warnings = append(r.Warnings, "a MIG instance ("+slice+"): it shares the GPU's link and copy engines with the other instances, whose work is in these times")
	}
	if c.link != nil && c.link.nvml != nil && c.link.nvml.Confidential() {
		p.Confidential = true
		r.Warnings = append(r.Warnings, "confidential computing: copies pass an encrypted bounce buffer, from pinned memory too, and say little of the link")
	}
}
