package transform

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

var haveKernels = cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasF16C

// kernelWidth is how many values the kernels store at a time: no segment of a sample may
// be shorter. The last store of one overlaps the one before.
const kernelWidth = 8

// horizontalPacked resamples groups of 4 outputs of a row into R, G, B a pixel; it stores
// one value more. off is the first byte of each output's pixels, w the weights of pairs of
// pixels, each weight 4 times, in the order of widen.
//
//go:noescape
func horizontalPacked(dst *float32, src *byte, off *int32, w *int16, pairs, groups int, norm *affine)

// horizontalPlanes does so into planes that lie plane values apart.
//
//go:noescape
func horizontalPlanes(dst *float32, src *byte, off *int32, w *int16, pairs, groups int, norm *affine, plane int)

// combine makes the weighted sum of count values of rows, which lie at offsets (in values)
// from ring. dst need not be aligned, and may be one of the rows if count is a multiple
// of 8.
//
//go:noescape
func combine(dst unsafe.Pointer, ring *float32, offsets *int32, w *float32, rows, count int)

// toFloat16 rounds count values, 8 or more, to the nearest, ties to even.
//
//go:noescape
func toFloat16(dst *byte, src *float32, count int)

// toUint8 rounds count values, 8 or more, to the nearest, ties to even, from 0 to 255.
//
//go:noescape
func toUint8(dst *byte, src *float32, count int)

// widen lays out x's taps for the kernels.
func (r *Resampler) widen(window int) {
	pairs, groups := r.pairs(), r.groups()
	r.bytes = grown(r.bytes, 4*groups)
	r.wide = grown(r.wide, groups*pairs*64)
	norm := normalisation(r.o.DType)
	for i := range norm.scale {
		norm.scale[i] /= 1 << fixedBits
	}
	r.scaled = norm
	last := int32(max(window-2*pairs, 0))
	for x := range 4 * groups {
		slot := x % 4
		if r.planes {
			slot = slot>>1 | slot&1<<1
		}
		// pair: [slot0 hi|slot1 hi][lo][slot2|slot3 hi][lo], 16 int16 each
		w := r.wide[x/4*pairs*64+slot/2*32+slot%2*8:]
		var weights []float32
		var first int32
		if x < r.o.Width {
			first = r.x.first[x]
			_, weights = r.x.of(x)
		}
		shift := max(first-last, 0)
		r.bytes[x/4*4+slot] = 4 * (first - shift)
		for p := range pairs {
			var a, b int32
			if k := 2*p - int(shift); k >= 0 && k < len(weights) {
				a = int32(weights[k]*(1<<fixedBits) + 0.5)
			}
			if k := 2*p + 1 - int(shift); k >= 0 && k < len(weights) {
				b = int32(weights[k]*(1<<fixedBits) + 0.5)
			}
			h := uint32(a>>8) | uint32(b>>8)<<16
			l := uint32(a&255) | uint32(b&255)<<16
			q := (*[8]int16)(w[p*64:])
			*(*[4]uint32)(unsafe.Pointer(q)) = [4]uint32{h, h, h, h}
			q = (*[8]int16)(w[p*64+16:])
			*(*[4]uint32)(unsafe.Pointer(q)) = [4]uint32{l, l, l, l}
		}
	}
}

func (r *Resampler) pairs() int  { return (r.x.longest + 1) / 2 }
func (r *Resampler) groups() int { return (r.o.Width + 3) / 4 }

func (r *Resampler) horizontalKernel(row []float32, pix []byte) {
	if r.planes {
		horizontalPlanes(&row[0], &pix[0], &r.bytes[0], &r.wide[0], r.pairs(), r.groups(), &r.scaled, r.rows.plane)
		return
	}
	horizontalPacked(&row[0], &pix[0], &r.bytes[0], &r.wide[0], r.pairs(), r.groups(), &r.scaled)
}

func (r *Resampler) combineKernel() {
	sum := r.rows.sum()
	combine(unsafe.Pointer(&sum[0]), &r.rows.values[0], &r.rows.offsets[0], &r.rows.weights[0], r.rows.listed, len(sum))
}

// combineInto makes the sum of what lies from at on in the rows, in a segment of a sample.
func (r *Resampler) combineInto(segment []byte, at int) {
	combine(unsafe.Pointer(&segment[0]), &r.rows.values[at], &r.rows.offsets[0], &r.rows.weights[0], r.rows.listed, len(segment)/4)
}

func (r *Resampler) putKernel(dst []byte, sum []float32) {
	n := len(dst) / r.size
	_ = sum[n-1]
	if r.size == 2 {
		toFloat16(&dst[0], &sum[0], n)
		return
	}
	toUint8(&dst[0], &sum[0], n)
}
