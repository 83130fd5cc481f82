package advise

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"dlbench/results"
)

// Limits of a verdict.
const (
	// leastLead is how much more the part that bounds must cost than the one after it, on a
	// machine that is quiet; what differs between runs, and what the parts miss when
	// they are put together, comes on top.
	leastLead = 1.2
	noGain    = 0.02 // below which a change brings nothing
)

// bound is the bottleneck of a loader, and what comes next.
type bound struct {
	part, next string
	nextRate   float64 // images/s once part takes no time
	unsure     string  // why it is not certain; "" where it is
}

// certain is the bottleneck in words, "" where that is not certain.
func (b bound) certain() string {
	if b.unsure != "" {
		return ""
	}
	return title(b.part)
}

// title is a part in words.
func title(part string) string { return results.PartTime{Name: part}.Title() }

// costliest is the part without which a batch takes least; lead is by how much more it
// saves than the next one.
func (l loader) costliest(parts []string) (part string, lead float64) {
	left := func(part string) float64 { return l.without(part).stepTime() } // s a batch
	alone := func(part string) float64 { return l.without(results.Without(parts, part)...).stepTime() }
	sorted := slices.SortedStableFunc(slices.Values(parts), func(a, b string) int {
		return cmp.Or(cmp.Compare(left(a), left(b)), cmp.Compare(alone(b), alone(a)))
	})
	first, next, whole := sorted[0], sorted[1], l.stepTime()
	if alone(next) > alone(first) && whole-left(first) < 0.1*whole { // they hide each other
		return next, alone(next) / alone(first)
	}
	if saved := whole - left(next); saved > 0 {
		return first, (whole - left(first)) / saved
	}
	return first, math.Inf(1)
}

// bound finds the bottleneck of the loader.
func (m *model) bound() (b bound) {
	parts := []string{results.PartRead, results.PartPreprocess, results.PartCopy}
	part, lead := m.loader.costliest(parts)
	if measured, x := m.parts.costliest(parts); measured == part {
		lead = min(lead, x)
	} else {
		lead = 1 // it depends on the moment
	}
	rest := m.loader.without(part)
	b.part, b.nextRate = part, float64(m.batch.Images)/max(rest.stepTime(), 1e-9)
	b.next, _ = rest.costliest(results.Without(parts, part))
	switch {
	case !m.split && b.part != results.PartCopy:
		b.unsure = "reading and decoding were not measured apart: run without --quick"
	case lead < leastLead*(1+2*m.spread)*math.Exp(math.Abs(math.Log(1+m.missed))):
		b.unsure = fmt.Sprintf("%s or %s; runs differ by %.0f %%, and the parts, measured one by one, "+
			"take %.0f %% of the time of all together", title(b.part), title(b.next), 200*m.spread, 100*(1+m.missed))
	}
	return b
}

// partTimes is how long each part of the loader takes for a batch while the others are
// free.
func (m *model) partTimes() (all []results.PartTime) {
	alone := func(others ...string) float64 { return m.loader.without(others...).stepTime() }
	const read, prep, copies = results.PartRead, results.PartPreprocess, results.PartCopy
	if m.split {
		all = append(all, results.PartTime{Name: prep, Time: alone(read, copies), Note: m.decodeNote()},
			results.PartTime{Name: read, Time: alone(prep, copies), Note: m.readNote()})
	} else {
		all = append(all, results.PartTime{Name: read + "+" + prep, Time: alone(copies), Note: m.readNote()})
	}
	return append(all, results.PartTime{Name: copies, Time: alone(read, prep), Note: m.copyNote()})
}

// decodeNote says why decoding is slow, "" where it is not.
func (m *model) decodeNote() string {
	if m.slowDecoder() {
		return "slow: no libjpeg-turbo"
	}
	return ""
}

// readNote says where the data comes from.
func (m *model) readNote() string {
	switch cold := median(m.pastCache(), "read"); {
	case m.parts.disk.Emulated():
		return "simulated disk " + m.params.Disk
	case m.params.Cache == results.Remote:
		return "over the network"
	case m.slowDisk():
		return "from the disk"
	case cold > 0:
		return fmt.Sprintf("from memory; from disk %.1f ms", 1e3*cold/float64(m.parts.workers))
	}
	return "from memory"
}

// copyNote says over which link the batch is copied.
func (m *model) copyNote() string {
	text := m.params.Device
	if own, ok := m.ownLink(); ok {
		text = fmt.Sprintf("%s; at best %.1f ms", own.Title(), 1e3*float64(m.batch.Bytes())/own.LineRate())
	}
	if slices.Contains(m.base.Assumed, "link") {
		text = "simulated " + text
	}
	return text
}
