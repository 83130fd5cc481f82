package transform

import (
	"encoding/binary"
	"math"
)

// horizontal resamples a row of the source, 4 bytes a pixel, and normalises it: what the
// kernels are to do.
func (r *Resampler) horizontal(row []float32, pix []byte) {
	pixel, channel := 3, 1 // values from one to the next
	if r.planes {
		pixel, channel = 1, r.rows.plane
	}
	for x := range r.o.Width {
		first, weights := r.x.of(x)
		var red, green, blue float32
		for i, w := range weights {
			p := pix[(first+i)*4:][:3]
			red += w * float32(p[0])
			green += w * float32(p[1])
			blue += w * float32(p[2])
		}
		at := x * pixel
		row[at] = red*r.norm.scale[0] + r.norm.bias[0]
		row[at+channel] = green*r.norm.scale[1] + r.norm.bias[1]
		row[at+2*channel] = blue*r.norm.scale[2] + r.norm.bias[2]
	}
}

// combine makes the weighted sum of the rows at the offsets.
func (r *rows) combine() {
	sum := r.sum()
	for k, w := range r.weights {
		row := r.values[r.offsets[k]:][:len(sum)]
		if k == 0 {
			for i, v := range row {
				sum[i] = w * v
			}
			continue
		}
		for i, v := range row {
			sum[i] += w * v
		}
	}
}

func put(dst []byte, values []float32, dtype string) {
	switch dtype {
	case Float32:
		for i := range len(dst) / 4 {
			binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(values[i]))
		}
	case Float16:
		for i := range len(dst) / 2 {
			binary.LittleEndian.PutUint16(dst[2*i:], half(values[i]))
		}
	default:
		for i := range dst {
			dst[i] = byte(math.RoundToEven(float64(min(max(values[i], 0), 255))))
		}
	}
}

// half is f as IEEE binary16, rounded to the nearest, ties to even, as VCVTPS2PH does.
func half(f float32) uint16 {
	b := math.Float32bits(f)
	sign := uint16(b >> 16 & 0x8000)
	b &= 0x7fffffff
	switch {
	case b > 0x7f800000: // not a number
		return sign | 0x7e00
	case b >= 0x477ff000: // 65520 and more
		return sign | 0x7c00
	case b < 0x38800000: // below 2^-14: subnormal, in units of 2^-24
		return sign | uint16(math.RoundToEven(float64(math.Float32frombits(b))*(1<<24)))
	}
	b += 0xfff + b>>13&1
	return sign | uint16((b-0x38000000)>>13)
}
