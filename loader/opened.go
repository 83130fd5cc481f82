package loader

// opened keeps files open between reads: of shards and record files as many as the
// process's limit allows, the least recently used closed first; of a folder of
// images one, since a loader opens each image when it reads it, and that is part of
// what the batch takes.
type opened struct {
	root           *root
	files          []File
	direct, random bool
	slots          []slot
	limit          int
	where          []int32 // slot of a file, plus one; nil where one slot is enough
	tick           uint64
}

type slot struct {
	file int32
	used uint64
	h    handle
}

// spareFiles are left to the rest of the process, and mostOpen bounds the scan for
// the least recently used one.
const (
	spareFiles = 64
	mostOpen   = 1024
)

// newOpened shares out the process's limit among readers.
func newOpened(r *root, s *Set, o ReadOptions) *opened {
	limit := 1
	if s.Store != Files {
		limit = max(1, (openLimit()-spareFiles)/2/max(1, o.Readers))
		limit = min(limit, mostOpen, len(s.Files))
	}
	c := &opened{root: r, files: s.Files, direct: o.Direct, random: o.Random, limit: limit, slots: make([]slot, 0, limit)}
	if limit > 1 {
		c.where = make([]int32, len(s.Files))
	}
	return c
}

// get returns a file's handle, and whether it had to be opened.
func (c *opened) get(file int32) (h handle, fresh bool, err error) {
	c.tick++
	if i := c.find(file); i >= 0 {
		c.slots[i].used = c.tick
		return c.slots[i].h, false, nil
	}
	if len(c.slots) == c.limit {
		c.evict()
	}
	h, err = c.root.open(c.files[file].Path, c.direct, c.random)
	for err == ErrTooManyOpen && len(c.slots) > 0 {
		c.evict()
		h, err = c.root.open(c.files[file].Path, c.direct, c.random)
	}
	if err != nil {
		return h, true, err
	}
	c.slots = append(c.slots, slot{file, c.tick, h})
	if c.where != nil {
		c.where[file] = int32(len(c.slots))
	}
	return h, true, nil
}

func (c *opened) find(file int32) int {
	if c.where != nil {
		return int(c.where[file]) - 1
	}
	for i := range c.slots {
		if c.slots[i].file == file {
			return i
		}
	}
	return -1
}

// evict closes the file that was not used for the longest time.
func (c *opened) evict() {
	oldest, last := 0, len(c.slots)-1
	for i := range c.slots {
		if c.slots[i].used < c.slots[oldest].used {
			oldest = i
		}
	}
	c.slots[oldest].h.close() // read only: nothing can be lost
	if c.where != nil {
		c.where[c.slots[last].file] = int32(oldest) + 1
		c.where[c.slots[oldest].file] = 0
	}
	c.slots[oldest] = c.slots[last]
	c.slots = c.slots[:last]
}

func (c *opened) close() {
	for len(c.slots) > 0 {
		c.evict()
	}
}
