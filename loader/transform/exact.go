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
	kept   int
	holds  [maxRows]int32
	levels *levels
}

// half is what rounds a sum of fixed-point weights.
const half = 1 << (fixedBits - 1)

// applyExact makes a sample of src in Pillow's arithmetic (ImagingResampleHorizontal_8bpc
// and its vertical twin): weights of 22 bits, horizontal first, 8 bits between. Pillow
// skips a pass that neither moves nor scales; here each of its outputs has the one weight
// of 1, which changes nothing either.
func (r *Resampler) applyExact(dst []byte, src Source) {
	ring, n := &r.exact, 3*r.o.Width
	if ring.levels == nil {
		ring.levels = normalisedLevels()
	}
	ring.kept = min(r.y.longest, maxRows)
	ring.values, ring.sum = grown(ring.values, ring.kept*n), grown(ring.sum, n)
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
		r.putExact(dst, y)
	}
}

// applyExactKernels does the same with the kernels: levels are float32 in rows, which has
// all of them.
func (r *Resampler) applyExactKernels(dst []byte, src Source) {
	ring := &r.rows
	ring.reset(r.o.Width, r.y.longest, r.planes)
	for y := range r.o.Height {
		first, weights := r.y.wholeOf(y)
		ring.listed = 0
		for i, w := range weights {
			ring.lower[i] = float32(w & 255)
			ring.list(r.row(src, first+i), float32(w>>8))
		}
		r.write(dst, y)
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
	pix := src.Pix[y*src.Stride:]
	for x := range r.o.Width {
		first, weights := r.x.wholeOf(x)
		red, green, blue := int32(half), int32(half), int32(half)
		p := pix[first*4:][:len(weights)*4]
		for _, w := range weights {
			red += w * int32(p[0])
			green += w * int32(p[1])
			blue += w * int32(p[2])
			p = p[4:]
		}
		o := row[3*x:][:3]
		o[0], o[1], o[2] = level(red), level(green), level(blue)
	}
	return row
}

func addRow(sum []int32, row []byte, w int32) {
	row = row[:len(sum)]
	for i := range sum {
		sum[i] += w * int32(row[i])
	}
}

// level is a sum as 8 bits, as Pillow's clip8.
func level(sum int32) byte { return byte(min(max(sum>>fixedBits, 0), 255)) }

// putExact puts the sum where row y of the sample is.
func (r *Resampler) putExact(dst []byte, y int) {
	sum, w := r.exact.sum, r.o.Width
	at, pixel, channel := y*3*w, 3, 1 // values
	if r.planes {
		at, pixel, channel = y*w, 1, r.o.Height*w
	}
	for c := range 3 {
		values := &r.exact.levels[c]
		for x := range w {
			v, i := level(sum[3*x+c]), at+x*pixel+c*channel
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
