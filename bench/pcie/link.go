package pcie

import (
	"cmp"
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
// path.
type liveLink struct {
	sysfs  *host.LinkReader // nil where the link is not read
	none   string           // why it is not
	gauge  cuda.Gauge       // stands in where no register says anything; may be nil
	pci    string
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
	l.sysfs, l.pci, l.copies = host.NewLinkReader(root, pci), pci, firstCopies
	l.gauge, _ = cuda.OpenGauge(pci)
	l.before = l.now()
}

// now is the link now: by NVML, which sees the GPU's own link alone, where no register says anything,
// as in WSL2 and in containers without /sys.
func (l *liveLink) now() results.Link {
	link := l.sysfs.Read()
	if link.State != results.LinkUnknown || l.gauge == nil {
		return link
	}
	r := l.gauge()
	if gen, lanes := r.Values[cuda.LinkGen], r.Values[cuda.LinkWidth]; gen > 0 && lanes > 0 {
		own := theory.Link{Gen: int(gen), Lanes: int(lanes)}
		return results.Link{State: results.LinkKnown, GTs: own.TransferRate(), Width: own.Lanes, Narrow: l.pci,
			Note: "by NVML, which sees the GPU's own link alone"}
	}
	return link
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

// observe reads the link while copies run, since an idle GPU slows its link down.
// What was read after the copies had ended is not kept. The copies are not timed.
func (l *liveLink) observe(q *queue) {
	if l.sysfs == nil || len(l.read) >= mostLinkReads {
		return
	}
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

// knownLink is the link that was read, none where that is not known.
func knownLink(read results.Link) (l theory.Link) {
	if read.State == results.LinkKnown {
		l, _ = theory.LinkOf(read.GTs, read.Width)
	}
	return l
}

// linkText is a link in few words: gen3x16, or its state.
func linkText(read results.Link) string {
	if l := knownLink(read); l.Lanes > 0 {
		return l.String()
	}
	return read.State
}

// report returns the link that most reads show, and adds it, with warnings, to a
// result; none where it is not known.
func (l *liveLink) report(r *results.Result, p *results.PCIeProof) (link theory.Link) {
	p.LinkSource, p.LinkReads = "link registers in sysfs, read while copying", new(len(l.read))
	if l.sysfs != nil {
		p.LinkBefore, p.LinkAfter = linkText(l.before), linkText(l.now())
	}
	same := []results.Link{{State: results.LinkUnknown, Note: l.none}}
	for _, reads := range results.Grouped(l.read, knownLink) {
		k := knownLink(reads[0])
		more := cmp.Or(cmp.Compare(len(reads), len(same)), cmp.Compare(k.LineRate(), link.LineRate()))
		if link.Lanes == 0 || k.Lanes > 0 && more > 0 {
			link, same = k, reads
		}
	}
	read := same[len(same)-1]
	if link.Lanes == 0 {
		p.LinkState = read.State
		r.Warnf("link %s: no line rate to compare with%s", read.State, results.After(": ", read.Note))
		return link
	}
	if len(same) < len(l.read) {
		r.Warnf("the link changed while copying: %d of %d reads show %s", len(same), len(l.read), link.Title())
	}
	r.Warnf("%s", results.After("link "+link.Title()+": ", read.Note))
	r.Warnf("%s", below(link, read))
	p.LinkNarrowest = read.Narrow
	return link
}

// below says what keeps l below what the devices and slots on the path can do, or below
// what the device itself claims; "" when nothing does.
func below(l theory.Link, read results.Link) string {
	faster := func(gts float64, width int) (theory.Link, bool) {
		other, ok := theory.LinkOf(gts, width)
		return other, ok && other.LineRate() > 1.01*l.LineRate()
	}
	text := "the link ran at " + l.Title() + " while copying, "
	if most, more := faster(read.MaxGTs, read.MaxWidth); more {
		return text + "its devices and slot allow " + most.Title()
	}
	if len(read.Hops) > 1 {
		if own, more := faster(read.Hops[0].GTs, read.Hops[0].Width); more {
			return text + "above " + read.Narrow + ", although the device itself claims " + own.Title()
		}
	}
	return ""
}
