package synth

import (
	"math/bits"
	"math/rand/v2"
)

// random draws whole numbers. PCG's stream is fixed by its definition, and the
// methods here use nothing else, so that neither a machine nor a Go release
// changes what is drawn.
type random struct{ pcg rand.PCG }

// newRandom returns the stream of one purpose: an index, or a texture.
func newRandom(seed, stream uint64) *random {
	r := new(random)
	r.pcg.Seed(seed, mix(stream))
	return r
}

// below returns 0 to n-1; its bias, n/2^64, is nothing here.
func (r *random) below(n int) int {
	hi, _ := bits.Mul64(r.pcg.Uint64(), uint64(n))
	return int(hi)
}

// between returns lo to hi, both included.
func (r *random) between(lo, hi int) int { return lo + r.below(hi-lo+1) }

// mix is the finaliser of SplitMix64: neighbours become unrelated.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
