package bench

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"dlbench/results"
)

// Randomize fills b with bytes that follow from seed.
func Randomize(b []byte, seed uint64) {
	r := rand.NewPCG(seed, 0x9e3779b97f4a7c15)
	for ; len(b) >= 8; b = b[8:] {
		binary.LittleEndian.PutUint64(b, r.Uint64())
	}
	for i := range b {
		b[i] = byte(r.Uint64())
	}
}

// Fits tells whether so many bytes are at most half of the memory that is available.
func (e Env) Fits(bytes int64) bool {
	have := e.Host.Memory.Available
	return have == 0 || bytes <= have/2
}

// TooLarge refuses the value of a flag for which what takes bytes that do not fit; room is
// a value that does.
func (e Env) TooLarge(flag, value, what string, bytes int64, room string) error {
	return &UsageError{flag, value, fmt.Sprintf("%s take %s, half of the %s that are available has room for %s",
		what, results.FormatBytes(bytes), results.FormatBytes(e.Host.Memory.Available), room)}
}

// WarmBatches is how many batches of so many bytes stay in the page cache while they are
// read again and again.
func (e Env) WarmBatches(bytes int64) int {
	room := int64(MostWarm)
	if have := e.Host.Memory.Available; have > 0 {
		room = min(room, have/WarmShare)
	}
	return max(1, min(MostVisited, int(room/max(1, bytes))))
}
