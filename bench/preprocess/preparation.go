package preprocess

import (
	"strconv"
	"sync"

	"dlbench/bench"
	"dlbench/bench/theory"
	"dlbench/loader"
	"dlbench/results"
)

// preparation is what the cases of the preprocess suite share: memory for batches,
// since only one case works at a time.
type preparation struct {
	mu    sync.Mutex
	depth int   // batches of the case that needs most
	bytes int64 // of the largest batch
	extra int64 // B that the controls of all cases take beside
	users int
	all   []byte
	free  func() error
}

// need notes what a case will ask for: depth batches of so many bytes, and what each
// thread of its control keeps for itself.
func (s *preparation) need(depth int, bytes int64, threads int, each int64) {
	s.depth, s.bytes = max(s.depth, depth), max(s.bytes, bytes)
	s.extra += int64(threads) * each
}

// fits refuses batches for which there is no memory.
func (s *preparation) fits(env bench.Env) error {
	need, have := int64(s.depth)*s.bytes+s.extra, env.Host.Memory.Available
	if have == 0 || need <= have/2 {
		return nil
	}
	fit := max(0, int64(float64(have/2)/float64(need)*float64(env.Batch.Images)))
	return &bench.UsageError{Flag: "--batch", Value: strconv.Itoa(env.Batch.Images), Want: "batches in the making, and those of the control, take " + results.FormatBytes(need) + ", half of the " +
		results.FormatBytes(have) + " that are available has room for batches of " + strconv.FormatInt(fit, 10)}
}

// get returns depth batches of so many bytes, of the memory that all cases work in.
func (s *preparation) get(depth, bytes int) (slots [][]byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		if s.all, _, s.free, err = loader.AlignedBuffer(s.depth*int(s.bytes), true); err != nil {
			return nil, err
		}
	}
	s.users++
	for i := range depth {
		slots = append(slots, s.all[i*bytes:(i+1)*bytes:(i+1)*bytes])
	}
	return slots, nil
}

// put gives back what get returned.
func (s *preparation) put() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users--; s.users > 0 {
		return nil
	}
	s.all = nil
	return s.free()
}

// warm is how many batches of records stay in the page cache while they are read again
// and again.
func (s *preparation) warm(env bench.Env, batch theory.Batch) int {
	room := int64(bench.MostWarm)
	if have := env.Host.Memory.Available; have > 0 {
		room = min(room, have/bench.WarmShare)
	}
	return max(1, min(bench.MostVisited, int(room/max(1, batch.Bytes()))))
}
