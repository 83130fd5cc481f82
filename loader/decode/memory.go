package decode

import (
	"errors"
	"fmt"
	"image"
	"runtime/debug"
	"sync"
	"time"
)

// ErrMemory says that a picture is not decoded because there is not enough memory for it.
var ErrMemory = errors.New("not enough memory")

// Memory bounds what all decoders that share it take for pictures. A picture that does not
// fit beside those being decoded waits for them, in the order in which they came; one that
// does not fit alone is refused with ErrMemory. A nil Memory bounds nothing.
type Memory struct {
	most  int64  // B, of the pictures being decoded, beyond what decoders keep
	spare int64  // B, that decoders may keep from one picture to the next
	where string // whose memory it is, for messages

	mutex       sync.Mutex
	changed     *sync.Cond
	taken, kept int64
	came, next  int // who waits, counted; who is next
}

// keptShare of the memory stays with decoders, so that pictures of usual size wait for none.
const keptShare = 8

// NewMemory is a bound of so many bytes over all pictures, of a machine or a cgroup that
// where names; nil for 0, which is not known.
func NewMemory(bytes int64, where string) *Memory {
	if bytes <= 0 {
		return nil
	}
	m := &Memory{most: bytes - bytes/keptShare, spare: bytes / keptShare, where: where}
	m.changed = sync.NewCond(&m.mutex)
	return m
}

// Another is the same bound with nothing taken of it, for what is done after m was used: a
// decoder that never ends keeps what it has.
func (m *Memory) Another() *Memory {
	if m == nil {
		return nil
	}
	return NewMemory(m.Bytes(), m.where)
}

func (m *Memory) Bytes() int64 {
	if m == nil {
		return 0
	}
	return m.most + m.spare
}

// room is what one decoder has of a Memory, and its pixels. Its zero value is unbounded.
type room struct {
	memory *Memory
	pixels []byte // of the last image; they grow to the largest
	kept   int64  // B, from one picture to the next
	taken  int64  // B, for the picture at hand alone

	since  time.Time // it has waited, zero if it does not wait
	waited time.Duration
}

// sized is n bytes with Padding behind. What is in them is of the image before.
func (r *room) sized(n int) []byte {
	if cap(r.pixels) < n+Padding {
		r.pixels = nil // so that both are not there at once
		r.pixels = make([]byte, n+Padding)
	}
	return r.pixels[:n]
}

// take has bytes of room for a picture, and waits for it. Where it returns nil, Release
// gives the bytes back.
func (r *room) take(bytes int64, info *Info) error {
	m := r.memory
	if m == nil || bytes <= r.kept { // most times, without a lock
		return nil
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if more := bytes - r.kept; m.kept+more <= m.spare {
		m.kept, r.kept = m.kept+more, bytes
		return nil
	}
	if bytes > m.most {
		return fmt.Errorf("%w: %d x %d take about %d MB to decode, %s has room for %d MB",
			ErrMemory, info.Width, info.Height, bytes/1e6, m.where, m.most/1e6)
	}
	place := m.came
	m.came++
	r.since = time.Now()
	for place != m.next || m.taken+bytes > m.most {
		m.changed.Wait()
	}
	r.waited, r.since = r.waited+time.Since(r.since), time.Time{}
	m.next++
	m.taken, r.taken = m.taken+bytes, bytes
	m.changed.Broadcast() // there may be room for the next one, too
	return nil
}

// collected is from how many bytes on what a picture leaves behind is collected at once:
// waiting for it, the next one would not fit.
const collected = 16 << 20

func (r *room) Release() {
	if r.taken == 0 {
		return
	}
	r.pixels = nil
	if r.taken >= collected {
		debug.FreeOSMemory()
	}
	m := r.memory
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.taken, r.taken = m.taken-r.taken, 0
	m.changed.Broadcast()
}

func (r *room) Close() error {
	r.Release()
	r.pixels = nil
	if r.kept > 0 {
		r.memory.mutex.Lock()
		defer r.memory.mutex.Unlock()
		r.memory.kept, r.kept = r.memory.kept-r.kept, 0
	}
	return nil
}

func (r *room) Waited() (t time.Duration) {
	if r.memory == nil {
		return 0
	}
	r.memory.mutex.Lock()
	defer r.memory.mutex.Unlock()
	t, r.waited = r.waited, 0
	if !r.since.IsZero() {
		now := time.Now()
		t, r.since = t+now.Sub(r.since), now
	}
	return t
}

// memory is about what decoding takes at most, in bytes, by Go's decoders or by
// libjpeg-turbo: pixels of the decoder, pixels of four bytes, and what lies between.
func (i *Info) memory(turbo bool, data []byte, region image.Rectangle) int64 {
	const (
		pixel  = 4 // R, G, B and one more, or C, M, Y, K
		coeffs = 4 // of a picture in several scans: one of each channel, for Go of four bytes, else of two
	)
	n, out := i.Pixels(), pixel*int64(region.Dx())*int64(region.Dy())
	passes := int64(0)
	if i.Format == JPEG && (i.scans || i.Progressive) {
		passes = coeffs * pixel * n
	}
	if turbo { // whole rows, from the top
		return pixel*int64(i.Width)*int64(region.Max.Y) + passes/2 + int64(len(data))
	}
	decoded := pixel * n
	if i.Format != JPEG {
		if i.Bits > 8 {
			decoded *= 2
		}
		if i.Format != PNG || len(data) > pngInterlace && data[pngInterlace] != 0 {
			passes = decoded // of strips, frames or passes
		} else if (i.Space == spaceGray || i.Space == spacePalette) && !i.Alpha {
			decoded /= pixel
		}
	}
	return decoded + passes + out
}

// A PNG's way of interlacing is at this byte.
const pngInterlace = 28
