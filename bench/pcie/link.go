package pcie

import (
	"fmt"
	"time"

	"dlbench/bench"
	"dlbench/bench/host"
	"dlbench/bench/theory"
	"dlbench/cuda"
	"dlbench/results"
)

// Reading the link: at most mostLinkReads times a case, under untimed copies of up
// to readBytes each that last about readUnder, which is longer than a read of the
// registers takes.
const (
	mostLinkReads = 6
	readBytes     = 16 << 20
	readUnder     = 1500 * time.Microsecond
	firstCopies   = 2
	mostCopies    = 64
)

// liveLink reads a device's link while copies run: from the registers of all ports on the
// path, and from NVIDIA's management library where that is there.
type liveLink struct {
	sysfs  *host.LinkReader // nil where the link is not read
	none   string           // why it is not
	nvml   *cuda.NVML       // nil without the library
	pci    string
	byNVML string         // the device's own link, "" where NVML does not know it
	before results.Link   // before anything was copied
	read   []results.Link // while copying
	pair   copyPair       // what is copied while the link is read
	copies int            // of that under one read
}

func (l *liveLink) open(root, pci string) {
	if pci == "" {
		l.none = "the driver gives no PCI address"
		return
	}
	l.sysfs, l.pci = host.NewLinkReader(root, pci), pci
	l.nvml = cuda.OpenNVML()
	l.before = l.now()
}

// allocate gets what is copied while the link is read, in a case that copies so many
// bytes. Where no memory can be page-locked, the link is not read: pageable copies do not
// need that memory.
func (l *liveLink) allocate(b *bufferPool, bytes int64) (err error) {
	if l.sysfs == nil {
		return nil
	}
	n := min(max(b.largest, bytes), readBytes)
	if l.pair.Dst, err = b.get(bufferKey{kind: cuda.OnDevice}, n); err != nil {
		return err
	}
	if l.pair.Src, err = b.get(bufferKey{kind: cuda.Pinned}, n); err != nil {
		l.sysfs, l.none = nil, "no page-locked memory for copies to read it under: "+results.OneLine(err)
	}
	return nil
}

// now is the link now. NVML, which sees the device's own link alone, stands in where
// no register says anything, as in containers without /sys.
func (l *liveLink) now() results.Link {
	link := l.sysfs.Read()
	own, most, ok := l.nvml.Link(l.pci)
	if !ok {
		return link
	}
	l.byNVML = own.String()
	if link.State != results.LinkUnknown || own.LineRate() <= 0 {
		return link
	}
	return results.Link{State: results.LinkKnown, GTs: own.TransferRate(), Width: own.Lanes,
		MaxGTs: most.TransferRate(), MaxWidth: most.Lanes,
		Narrow: l.pci, Note: "by NVML, which sees the device's own link alone"}
}

// observe reads the link while copies run, since an idle GPU slows its link down.
// What was read after the copies had ended is not kept. The copies are not timed.
func (l *liveLink) observe(q *queue) {
	if l.sysfs == nil || len(l.read) >= mostLinkReads {
		return
	}
	l.copies = max(l.copies, firstCopies)
	q.record(0)
	for range l.copies {
		q.copy(l.pair)
	}
	q.record(1)
	q.syncEvent(0)
	link := l.now() // the first copy runs
	over := q.reached(1)
	q.syncEvent(1)
	each := q.elapsed(0, 1) / time.Duration(l.copies)
	switch {
	case q.err != nil:
	case over:
		l.copies = min(2*l.copies, mostCopies)
	default:
		l.read = append(l.read, link)
		l.copies = bench.Repetitions(each, readUnder, mostCopies)
	}
}

// knownLink is the link that was read, where that is known.
func knownLink(read results.Link) (theory.Link, bool) {
	l, ok := theory.LinkOf(read.GTs, read.Width)
	return l, ok && read.State == results.LinkKnown
}

// linkText is a link in few words: gen3x16, or its state.
func linkText(read results.Link) string {
	if l, ok := knownLink(read); ok {
		return l.String()
	}
	return read.State
}

// report returns the link that most reads show, and adds it, with warnings, to a
// result.
func (l *liveLink) report(r *results.Result, p *results.PCIeProof) (link theory.Link, ok bool) {
	p.LinkSource, p.LinkReads = "link registers in sysfs, read while copying", new(len(l.read))
	if l.sysfs != nil {
		p.LinkBefore, p.LinkAfter = linkText(l.before), linkText(l.now())
		p.LinkNVML = l.byNVML
	}
	reads := map[theory.Link][]results.Link{}
	unknown := results.Link{State: results.LinkUnknown, Note: l.none}
	for _, read := range l.read {
		if k, ok := knownLink(read); ok {
			reads[k] = append(reads[k], read)
		} else {
			unknown = read
		}
	}
	if len(reads) == 0 {
		p.LinkState = unknown.State
		why := ""
		if unknown.Note != "" {
			why = " (" + unknown.Note + ")"
		}
		r.Warnf("link %s: no line rate to compare with%s", unknown.State, why)
		return theory.Link{}, false
	}
	for k, of := range reads {
		if more := len(of) - len(reads[link]); more > 0 || more == 0 && k.LineRate() > link.LineRate() {
			link = k
		}
	}
	same := reads[link]
	if len(reads) > 1 {
		r.Warnf("the link changed while copying: %d of %d reads show %s", len(same), len(l.read), link.Title())
	}
	read := same[len(same)-1]
	r.Warnf("%s", results.After("link "+link.Title()+": ", read.Note))
	r.Warnf("%s", below(link, read, len(reads) == 1))
	p.LinkNarrowest = read.Narrow
	return link, true
}

// below says what keeps l below what the device itself claims, or below what the
// devices and slots on the path can do; "" when nothing does. always says that no read
// under load showed another link.
func below(l theory.Link, read results.Link, always bool) string {
	faster := func(gts float64, width int) (theory.Link, bool) {
		other, ok := theory.LinkOf(gts, width)
		return other, ok && other.LineRate() > 1.01*l.LineRate()
	}
	most, more := faster(read.MaxGTs, read.MaxWidth)
	if more {
		what := fmt.Sprintf("the link ran at %s while copying", l.Title())
		if always && l.Gen < most.Gen {
			what = fmt.Sprintf("the link is stuck at %s under load", l.Title())
		}
		return what + fmt.Sprintf(", its devices and slot allow %s", most.Title())
	}
	if len(read.Hops) > 1 && read.Hops[0].Device != read.Narrow {
		if own, ok := faster(read.Hops[0].GTs, read.Hops[0].Width); ok {
			return fmt.Sprintf("the device itself claims %s, but the hop above %s on the way has %s, "+
				"which is what counts", own.Title(), read.Narrow, l.Title())
		}
	}
	return ""
}
