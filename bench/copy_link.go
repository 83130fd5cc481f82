package bench

import "time"

// Reading the link: at most mostLinkReads times a case, under untimed copies that
// last long enough for it on any link.
const (
	mostLinkReads = 20
	readUnder     = 3 * time.Millisecond
	fastestLine   = 128e9 // B/s, more than Gen6 x16 carries
)

// readLink reads the link while copies run, since an idle GPU slows its link down.
// What was read after the copies had ended is not kept. The copies are not timed.
func (c *copier) readLink() error {
	if c.link == nil || len(c.read) >= mostLinkReads {
		return nil
	}
	d, s := c.device, c.stream[0]
	if err := d.Record(c.event[0], s); err != nil {
		return err
	}
	for range min(mostGroup, 1+int(readUnder.Seconds()*fastestLine/float64(c.wires.src.Size))) {
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
	if !over {
		c.read = append(c.read, l)
	}
	return d.SyncEvent(c.event[1])
}
