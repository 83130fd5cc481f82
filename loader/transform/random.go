package transform

import "math/rand/v2"

// Random draws the same for a sample of an epoch whatever was drawn before, so that a
// sample does not depend on which reader works on it. The zero value is ready; it is for
// one goroutine.
type Random struct {
	pcg  rand.PCG
	rand *rand.Rand
}

// For returns the generator of a sample in an epoch, valid until the next call. Only the
// first call allocates.
func (r *Random) For(seed, epoch uint64, sample int32) *rand.Rand {
	if r.rand == nil {
		r.rand = rand.New(&r.pcg)
	}
	r.pcg.Seed(mix(seed), mix(mix(epoch)^uint64(uint32(sample))))
	return r.rand
}

// mix is the finaliser of SplitMix64: neighbours become unrelated.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
