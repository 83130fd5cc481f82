package pcie

import (
	"time"

	"dlbench/bench"
	"dlbench/bench/host"
	"dlbench/bench/theory"
	"dlbench/cuda"
	"dlbench/results"
)

// Reading the link: at most mostLinkReads times a case, under untimed copies of up
// to wireBytes each that last about readUnder, which is longer than a read of the
// registers takes.
const (
	mostLinkReads = 6
	wireBytes     = 16 << 20
	readUnder     = 1500 * time.Microsecond
	firstWires    = 2
	mostWires     = 64
)

// linkSource reads a device's link: from the registers of all ports on the way, and
// from NVIDIA's management library where that is there.
type linkSource struct {
	sysfs *host.LinkReader
	pci   string
	nvml  *cuda.NVML // nil without the library
	said  string     // what NVML last told of the device's own link, "" for nothing
}

func newLinkSource(root, pci string) *linkSource {
	s := &linkSource{sysfs: host.NewLinkReader(root, pci), pci: pci}
	s.nvml, _ = cuda.OpenNVML() // optional
	return s
}

// read is the link now. NVML, which sees the device's own link alone, stands in where
// no register tells anything, as in containers without /sys.
func (s *linkSource) read() results.Link {
	l := s.sysfs.Read()
	if s.nvml == nil {
		return l
	}
	n, err := s.nvml.Link(s.pci)
	if err != nil {
		return l
	}
	now, most := theory.Link{Gen: n.Gen, Lanes: n.Width}, theory.Link{Gen: n.MaxGen, Lanes: n.MaxWidth}
	s.said = now.String()
	if l.State == results.LinkUnknown && now.TransferRate() > 0 && now.Lanes > 0 {
		return results.Link{State: results.LinkKnown, GTs: now.TransferRate(), Width: now.Lanes, MaxGTs: most.TransferRate(), MaxWidth: most.Lanes,
			Narrow: s.pci, Note: "by NVML, which sees the device's own link alone"}
	}
	return l
}

// linkText is a link in few words: gen3x16, or its state.
func linkText(l results.Link) string {
	if k, ok := theory.LinkOf(l.GTs, l.Width); ok && l.State == results.LinkKnown {
		return k.String()
	}
	return l.State
}

// readLink reads the link while copies run, since an idle GPU slows its link down.
// What was read after the copies had ended is not kept. The copies are not timed.
func (c *copier) readLink() error {
	if c.link == nil || len(c.read) >= mostLinkReads {
		return nil
	}
	d, s := c.device, c.stream
	c.wired = max(c.wired, firstWires)
	if err := d.Record(c.event[0], s); err != nil {
		return err
	}
	for range c.wired {
		if err := d.Copy(c.wires.Dst, c.wires.Src, s); err != nil {
			return err
		}
	}
	if err := d.Record(c.event[1], s); err != nil {
		return err
	}
	if err := d.SyncEvent(c.event[0]); err != nil { // the first copy is on its way
		return err
	}
	l := c.link.read()
	over, err := d.Reached(c.event[1])
	if err != nil {
		return err
	}
	if err := d.SyncEvent(c.event[1]); err != nil {
		return err
	}
	if over {
		c.wired = min(2*c.wired, mostWires)
		return nil
	}
	c.read = append(c.read, l)
	all, err := d.Elapsed(c.event[0], c.event[1])
	if err != nil {
		return err
	}
	c.wired = bench.Repetitions(all/time.Duration(c.wired), readUnder, mostWires)
	return nil
}
