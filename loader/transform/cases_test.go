package transform

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
)

// trial is a random sample of a random image: any size, any part, any layout and type.
type trial struct {
	src     Source
	box     Box
	options Options
}

// anyTrial draws sizes near those where something changes: one, four and eight pixels a
// group or a store, one tap or many, all of the image or a corner.
func anyTrial(r *rand.Rand) trial {
	side := func() int {
		switch r.IntN(4) {
		case 0:
			return 1 + r.IntN(12)
		case 1:
			return 1 + r.IntN(400)
		}
		return 1 + r.IntN(80)
	}
	w, h := side(), side()
	t := trial{src: picture(w, h)}
	cw, ch := 1+r.IntN(w), 1+r.IntN(h)
	t.box = crop(r.IntN(w-cw+1), r.IntN(h-ch+1), cw, ch, r.IntN(2) == 0)
	switch r.IntN(4) {
	case 0: // its surroundings count
		t.box.Bounds = Rect{0, 0, w, h}
	case 1: // not whole pixels
		fw, fh := float64(w)*(0.01+0.99*r.Float64()), float64(h)*(0.01+0.99*r.Float64())
		t.box = Box{
			X: r.Float64() * (float64(w) - fw), Y: r.Float64() * (float64(h) - fh), W: fw, H: fh,
			Bounds: Rect{0, 0, w, h}, Flip: r.IntN(2) == 0,
		}
	}
	t.options = Options{
		Width: side(), Height: side(),
		DType:       []string{Float32, Float16, Uint8}[r.IntN(3)],
		Layout:      []string{NHWC, NCHW}[r.IntN(2)],
		NoAntialias: r.IntN(3) == 0,
	}
	return t
}

// values is a sample as numbers.
func values(sample []byte, dtype string) []float64 {
	var v []float64
	switch dtype {
	case Float32:
		for ; len(sample) > 0; sample = sample[4:] {
			v = append(v, float64(math.Float32frombits(binary.LittleEndian.Uint32(sample))))
		}
	case Float16:
		for ; len(sample) > 0; sample = sample[2:] {
			v = append(v, half16(binary.LittleEndian.Uint16(sample)))
		}
	default:
		for _, b := range sample {
			v = append(v, float64(b))
		}
	}
	return v
}

// half16 is the value of IEEE binary16.
func half16(b uint16) float64 {
	sign, exponent, fraction := 1-2*float64(b>>15), int(b>>10&31), float64(b&1023)
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		return sign * math.Inf(1)
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// ulp16 is the distance of binary16's neighbours at v.
func ulp16(v float64) float64 {
	_, exponent := math.Frexp(v)
	return math.Ldexp(1, max(exponent, -13)-11)
}
