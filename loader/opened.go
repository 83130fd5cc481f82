package loader

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// opened keeps files open between reads: of shards and record files as many as the
// process's limit allows, the one that was opened first closed first; of a folder of
// images one, since a loader opens each image when it reads it, and that is part of
// what the batch takes.
type opened struct {
	root   *root
	files  []File
	direct bool
	last   int     // slot of the file that was asked for last
	next   int     // slot that the next file to be opened takes
	held   []int32 // file of each slot, -1 for none
	slots  []handle
}

// spareFiles are left to the rest of the process; more than mostOpen bring nothing.
const (
	spareFiles = 64
	mostOpen   = 1024
)

func newOpened(s *Set, o ReadOptions) (*opened, error) {
	r, err := openRoot(s.Root)
	if err != nil {
		return nil, err
	}
	limit := 1
	if s.Store != Files {
		limit = max(1, (openLimit()-spareFiles)/2/max(1, o.Readers))
		limit = min(limit, mostOpen, len(s.Files))
	}
	return &opened{root: r, files: s.Files, direct: o.Direct, slots: make([]handle, limit),
		held: slices.Repeat([]int32{-1}, limit)}, nil
}

// align is what direct reads must be aligned to: that of the first file that is still there.
func (c *opened) align() (align int64, err error) {
	for i, f := range c.files {
		h, _, err := c.get(int32(i))
		if err == nil {
			align, err = directAlign(h)
		}
		if err == nil {
			return align, nil
		}
		if last := i == len(c.files)-1; last || !errors.Is(err, fs.ErrNotExist) {
			return 0, fmt.Errorf("%s: %w", Escape(f.Path), err)
		}
	}
	return 1, nil
}

// get returns a file's handle, and whether it had to be opened. Where the process may
// open no more files, it closes those that were opened first.
func (c *opened) get(file int32) (h handle, fresh bool, err error) {
	if c.held[c.last] != file {
		c.last = slices.Index(c.held, file)
	}
	if c.last >= 0 {
		return c.slots[c.last], false, nil
	}
	c.last = c.next
	for n := range c.slots {
		c.drop((c.next + n) % len(c.slots))
		if h, err = c.root.open(c.files[file].Path, c.direct); err != ErrTooManyOpen {
			break
		}
	}
	if err != nil {
		return h, true, err
	}
	c.slots[c.next], c.held[c.next] = h, file
	c.next = (c.next + 1) % len(c.slots)
	return h, true, nil
}

func (c *opened) drop(i int) {
	if c.held[i] >= 0 {
		c.slots[i].close() // read only: nothing can be lost
		c.held[i] = -1
	}
}

func (c *opened) close() {
	for i := range c.slots {
		c.drop(i)
	}
	c.root.close()
}
