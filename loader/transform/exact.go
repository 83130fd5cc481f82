package transform

import (
	"encoding/binary"
	"math"
)

// exactRows is the rows of the source that one output row needs, resampled horizontally to
// 8 bits, R, G, B a pixel, as Pillow keeps them between its two passes.
type exactRows struct {
	values []byte
	sum    []int32
	out    []byte // a row of the sample, R, G, B a pixel
	kept   int
	holds  [maxRows]int32
	levels *levels
}

// half is what rounds a sum of fixed-point weights.
const half = 1 << (fixedBits - 1)

// verticalFirst says whether Pillow resamples vertically first: since version 13 it does if
// the height shrinks, and by more than twice as many pixels as the width. That was found
// by comparing 2855 sizes with both orders. The sizes are those of the whole image that is
// resized, whether or not the box is all of it.
func (r *Resampler) verticalFirst() bool {
	wide, high := r.x.limit, r.y.limit
	w := int(math.Round(float64(wide) / r.x.step()))
	h := int(math.Round(float64(high) / r.y.step()))
	return h < high && high-h > 2*(wide-w)
}

// applyExact makes a sample of src in Pillow's arithmetic (ImagingResampleHorizontal_8bpc
// and its vertical twin): weights of 22 bits, 8 bits between the passes. Pillow skips a
// pass that neither moves nor scales; here each of its outputs has the one weight of 1,
// which changes nothing either.
func (r *Resampler) applyExact(dst []byte, src Source) {
	if r.exact.levels == nil {
		r.exact.levels = normalisedLevels()
	}
	if r.verticalFirst() {
		r.applyExactVerticalFirst(dst, src)
		return
	}
	ring, n := &r.exact, 3*r.o.Width
	ring.kept = min(r.y.longest, maxRows)
	ring.values, ring.sum, ring.out = grown(ring.values, ring.kept*n), grown(ring.sum, n), grown(ring.out, n)
	for i := range ring.kept {
		ring.holds[i] = -1
	}
	for y := range r.o.Height {
		first, weights := r.y.wholeOf(y)
		for i := range ring.sum {
			ring.sum[i] = half
		}
		for k, w := range weights {
			addRow(ring.sum, r.exactRow(src, first+k), w)
		}
		for i, sum := range ring.sum {
			ring.out[i] = level(sum)
		}
		r.putExact(dst, y)
	}
}

func (r *Resampler) applyExactVerticalFirst(dst []byte, src Source) {
	ring := &r.exact
	x0, x1 := r.x.region()
	n := 4 * (x1 - x0)
	ring.values, ring.sum = grown(ring.values, n), grown(ring.sum, n)
	ring.out = grown(ring.out, 3*r.o.Width)
	for y := range r.o.Height {
		first, weights := r.y.wholeOf(y)
		for i := range ring.sum {
			ring.sum[i] = half
		}
		for k, w := range weights {
			addRow(ring.sum, src.Pix[(first+k)*src.Stride+4*x0:], w)
		}
		for i, sum := range ring.sum {
			ring.values[i] = level(sum)
		}
		r.exactPixels(ring.out, ring.values, x0)
		r.putExact(dst, y)
	}
}

// exactRow is row y of the source, resampled now if it is not kept.
func (r *Resampler) exactRow(src Source, y int) []byte {
	ring, n := &r.exact, 3*r.o.Width
	slot := int(uint32(y) % uint32(ring.kept))
	row := ring.values[slot*n:][:n]
	if ring.holds[slot] == int32(y) {
		return row
	}
	ring.holds[slot] = int32(y)
	r.exactPixels(row, src.Pix[y*src.Stride:], 0)
	return row
}

// exactPixels resamples pix, which begins with pixel x0 of the window, horizontally.
func (r *Resampler) exactPixels(row, pix []byte, x0 int) {
	for x := range r.o.Width {
		first, weights := r.x.wholeOf(x)
		red, green, blue := int32(half), int32(half), int32(half)
		p := pix[(first-x0)*4:][:len(weights)*4]
		for _, w := range weights {
			red += w * int32(p[0])
			green += w * int32(p[1])
			blue += w * int32(p[2])
			p = p[4:]
		}
		o := row[3*x:][:3]
		o[0], o[1], o[2] = level(red), level(green), level(blue)
	}
}

func addRow(sum []int32, row []byte, w int32) {
	row = row[:len(sum)]
	for i := range sum {
		sum[i] += w * int32(row[i])
	}
}

// level is a sum as 8 bits, as Pillow's clip8.
func level(sum int32) byte { return byte(min(max(sum>>fixedBits, 0), 255)) }

// putExact puts the row where row y of the sample is.
func (r *Resampler) putExact(dst []byte, y int) {
	out, w := r.exact.out, r.o.Width
	at, pixel, channel := y*3*w, 3, 1 // values
	if r.planes {
		at, pixel, channel = y*w, 1, r.o.Height*w
	}
	for c := range 3 {
		values := &r.exact.levels[c]
		for x := range w {
			v, i := out[3*x+c], at+x*pixel+c*channel
			switch r.size {
			case 4:
				binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(values[v]))
			case 2:
				binary.LittleEndian.PutUint16(dst[2*i:], float16(values[v]))
			default:
				dst[i] = v
			}
		}
	}
}
