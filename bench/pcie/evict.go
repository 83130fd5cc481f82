package pcie

import "dlbench/bench"

// evictor empties the caches that one core reaches by reading through a buffer
// twice their size.
type evictor struct {
	size  int
	cache int64 // B, 0 for unknown
	buf   []uint64
}

// Sizes of the evicting buffer: where the cache's size is unknown, and at most.
const (
	evictUnknown = 64 << 20
	evictMost    = 512 << 20
)

func newEvictor(lastCache int64) *evictor {
	size := 2 * int(lastCache)
	if lastCache <= 0 {
		size = evictUnknown
	}
	return &evictor{size: min(size, evictMost), cache: lastCache}
}

// short says why sources may not be as cold as they are called, "" when they are.
func (e *evictor) short() string {
	switch {
	case e.cache <= 0:
		return "the last-level cache is unknown: cold sources were evicted by reading 64 MiB"
	case int64(e.size) < 2*e.cache:
		return "the last-level cache is larger than half the buffer that evicts it: cold sources may be partly warm"
	}
	return ""
}

// evict reads the buffer, one word a cache line.
func (e *evictor) evict() {
	if e.buf == nil {
		e.buf = make([]uint64, e.size/8)
		for i := range e.buf { // untouched pages all map to one page of zeros
			e.buf[i] = uint64(i)
		}
	}
	var x uint64
	for i := 0; i < len(e.buf); i += 8 {
		x += e.buf[i]
	}
	bench.Sink += x
}
