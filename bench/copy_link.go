package bench

import "time"

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

// readLink reads the link while copies run, since an idle GPU slows its link down.
// What was read after the copies had ended is not kept. The copies are not timed.
func (c *copier) readLink() error {
	if c.link == nil || len(c.read) >= mostLinkReads {
		return nil
	}
	d, s := c.device, c.stream[0]
	c.wired = max(c.wired, firstWires)
	if err := d.Record(c.event[0], s); err != nil {
		return err
	}
	for range c.wired {
		if err := d.Copy(c.wires.dst, c.wires.src, s); err != nil {
			return err
		}
	}
	if err := d.Record(c.event[1], s); err != nil {
		return err
	}
	if err := d.SyncEvent(c.event[0]); err != nil { // the first copy is on its way
		return err
	}
	l := c.link.Read()
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
	c.wired = repetitions(all/time.Duration(c.wired), readUnder, mostWires)
	return nil
}
