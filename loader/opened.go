package loader

// opened keeps files open between reads: of shards and record files as many as the
// process's limit allows, the one that was opened first closed first; of a folder of
// images one, since a loader opens each image when it reads it, and that is part of
// what the batch takes.
type opened struct {
	root   *root
	files  []File
	direct bool
	slots  []slot
	next   int     // slot that the next file to be opened takes
	where  []int32 // slot of a file, plus one; nil where there is one slot
}

type slot struct {
	file int32 // -1 for none
	h    handle
}

// spareFiles are left to the rest of the process; more than mostOpen bring nothing.
const (
	spareFiles = 64
	mostOpen   = 1024
)

// newOpened shares out the process's limit among readers.
func newOpened(r *root, s *Set, o ReadOptions) *opened {
	c := &opened{root: r, files: s.Files, direct: o.Direct}
	limit := 1
	if s.Store != Files {
		limit = max(1, (openLimit()-spareFiles)/2/max(1, o.Readers))
		limit = min(limit, mostOpen, len(s.Files))
	}
	if limit > 1 {
		c.where = make([]int32, len(s.Files))
	}
	c.slots = make([]slot, limit)
	for i := range c.slots {
		c.slots[i].file = -1
	}
	return c
}

// get returns a file's handle, and whether it had to be opened. Where the process may
// open no more files, it closes those that were opened first.
func (c *opened) get(file int32) (h handle, fresh bool, err error) {
	i := 0
	if c.where != nil {
		i = int(c.where[file]) - 1
	}
	if i >= 0 && c.slots[i].file == file {
		return c.slots[i].h, false, nil
	}
	for n := range c.slots {
		c.drop((c.next + n) % len(c.slots))
		if h, err = c.root.open(c.files[file].Path, c.direct); err != ErrTooManyOpen {
			break
		}
	}
	if err != nil {
		return h, true, err
	}
	c.slots[c.next] = slot{file, h}
	if c.where != nil {
		c.where[file] = int32(c.next) + 1
	}
	c.next = (c.next + 1) % len(c.slots)
	return h, true, nil
}

// drop closes the file of a slot, if it has one.
func (c *opened) drop(i int) {
	s := &c.slots[i]
	if s.file < 0 {
		return
	}
	s.h.close() // read only: nothing can be lost
	if c.where != nil {
		c.where[s.file] = 0
	}
	s.file = -1
}

func (c *opened) close() {
	for i := range c.slots {
		c.drop(i)
	}
}
