package transform

import (
	"image"
	"math"
	"math/rand/v2"
)

// Box is what of an image a sample shows. Resampling takes in no pixel outside.
type Box struct {
	image.Rectangle
	Flip bool // left to right
}

// RandomResizedCrop draws the box of an image of w x h pixels as torchvision's
// RandomResizedCrop with its defaults does (get_params: 8 to 100 % of the area, a ratio of
// sides from 3/4 to 4/3 uniform in its logarithm, the centre after ten misses), and a flip
// with probability 1/2. The box is empty if the image is.
func RandomResizedCrop(r *rand.Rand, w, h int) Box {
	const narrow, wide = 3.0 / 4, 4.0 / 3
	if w < 1 || h < 1 {
		return Box{}
	}
	flip := r.Uint64()&1 == 1
	area, logNarrow, logWide := float64(w)*float64(h), math.Log(narrow), math.Log(wide)
	for range 10 {
		target := area * (0.08 + (1-0.08)*r.Float64())
		ratio := math.Exp(logNarrow + (logWide-logNarrow)*r.Float64())
		cw := int(math.RoundToEven(math.Sqrt(target * ratio)))
		ch := int(math.RoundToEven(math.Sqrt(target / ratio)))
		if 0 < cw && cw <= w && 0 < ch && ch <= h {
			y := r.IntN(h - ch + 1)
			return crop(r.IntN(w-cw+1), y, cw, ch, flip)
		}
	}
	cw, ch := w, h
	switch ratio := float64(w) / float64(h); {
	case ratio < narrow:
		ch = int(math.RoundToEven(float64(w) / narrow))
	case ratio > wide:
		cw = int(math.RoundToEven(float64(h) * wide))
	}
	return crop((w-cw)/2, (h-ch)/2, cw, ch, flip)
}

func crop(x, y, w, h int, flip bool) Box {
	return Box{Rectangle: image.Rect(x, y, x+w, y+h), Flip: flip}
}

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
	r.pcg.Seed(Mix(seed), Mix(Mix(epoch)^uint64(uint32(sample))))
	return r.rand
}

// Mix is the finaliser of SplitMix64: neighbours become unrelated.
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
