package transform

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

var haveKernels = cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasF16C

// kernelWidth is how many values the kernels store at a time: no segment of a sample may
// be shorter. The last store of one overlaps the one before.
const kernelWidth = 8

// horizontalPacked resamples a row in groups of 4 outputs, R, G, B a pixel, and stores one
// value more. off is the first byte of each output's pixels, w the weights of pairs of
// pixels, both in widen's order, norm what makes a value of a sum. It reads 16 bytes at a
// time, up to 12 beyond the pixels that have weights.
//
// The sums are of whole numbers, 8 bits by 22, as two VPMADDWD by 14 and by 8 bits of the
// weights; half a register is an output. Tried, for a sample of 225 x 225 of 500 x 375 on
// Zen 4: sums of float32 (VPMOVZXBD, VCVTDQ2PS, VFMADD231PS, two pixels of an output in a
// register) take 1.06 times as long as all of it does now; one VPMADDWD by 15 bits takes
// 0.87 times, but is out by up to 4e-4 after normalisation. AVX-512 was not tried.
//
//go:noescape
func horizontalPacked(dst *float32, src *byte, off *int32, w *uint32, pairs, groups int, norm *affine)

// horizontalPlanes does so into planes that lie plane values apart.
//
//go:noescape
func horizontalPlanes(dst *float32, src *byte, off *int32, w *uint32, pairs, groups int, norm *affine, plane int)

// combine makes the weighted sum of count values, 8 or more, of rows, which lie at offsets
// (in values) from ring. dst need not be aligned, and may be one of the rows if count is a
// multiple of 8. It fetches the count values behind dst into the cache, the next row of a
// sample, which saves a seventh of the time of a sample if the batch is not in the second
// cache; stores that go around the caches (VMOVNTPS) took longer.
//
//go:noescape
func combine(dst unsafe.Pointer, ring *float32, offsets *int, w *float32, rows, count int)

// toFloat16 rounds count values, 8 or more, to the nearest, ties to even.
//
//go:noescape
func toFloat16(dst *byte, src *float32, count int)

// toUint8 rounds count values, 8 or more, to the nearest, ties to even, from 0 to 255.
//
//go:noescape
func toUint8(dst *byte, src *float32, count int)

// wide is x's taps as the kernels take them, in groups of 4 outputs.
type wide struct {
	pairs, groups int      // pairs of pixels an output, groups of outputs
	off           []int32  // first byte that an output takes in, from that of x.from on
	weights       []uint32 // two words each, 32 for each pair of a group
	norm          affine   // of sums of fixed-point weights
}

// fixedBits is the precision of the kernels' weights: 32 bits of a sum less 8 of a level
// less 2 of room, as Pillow's.
const fixedBits = 22

// widen lays out x's taps. The pixels of a group are loaded in pairs: those of two outputs
// in the halves of one register, those of the other two in another. So are the weights:
// upper bits, lower bits of the first two, the same of the others, each pair 4 times, for
// R, G, B and the byte between. All outputs have the same number of pairs; what is no tap
// has weight 0. At the right they are shifted to the left, so that they reach at most one
// pixel beyond those that are taken in.
func (r *Resampler) widen() {
	t := &r.wide
	if t.norm == (affine{}) {
		t.norm = r.norm
		for i := range t.norm.scale {
			t.norm.scale[i] /= 1 << fixedBits
		}
	}
	from, to := r.x.from, r.x.to
	t.pairs, t.groups = (r.x.longest+1)/2, (r.o.Width+3)/4
	t.off = grown(t.off, 4*t.groups)
	t.weights = grown(t.weights, t.groups*t.pairs*32)
	last := max(to-from-2*t.pairs, 0)
	for x := range 4 * t.groups {
		slot := x % 4
		if r.planes {
			slot = slot>>1 | slot&1<<1 // in the order in which they are unpacked
		}
		first, taps, shift := 0, 0, 0
		if x < r.o.Width {
			first, taps = int(r.x.first[x])-from, int(r.x.count[x])
			shift = max(first-last, 0)
		}
		t.off[x&^3+slot] = int32(4 * (first - shift))
		w := t.weights[x/4*t.pairs*32+slot/2*16+slot%2*4:]
		for p := range t.pairs {
			var a, b uint32
			if k := 2*p - shift; uint(k) < uint(taps) {
				a = r.x.fixedWeight(x, k)
			}
			if k := 2*p + 1 - shift; uint(k) < uint(taps) {
				b = r.x.fixedWeight(x, k)
			}
			upper, lower := a>>8|b>>8<<16, a&255|b&255<<16
			*(*[4]uint32)(w[p*32:]) = [4]uint32{upper, upper, upper, upper}
			*(*[4]uint32)(w[p*32+8:]) = [4]uint32{lower, lower, lower, lower}
		}
	}
}

// fixedWeight is the weight of tap k of an output in units of 2^-22.
func (a *axis) fixedWeight(at, k int) uint32 {
	return uint32(int32(a.weights[at*a.taps+k]*(1<<fixedBits) + 0.5))
}

// horizontalKernel does what horizontal does, with pix from pixel x.from on.
func (r *Resampler) horizontalKernel(row []float32, pix []byte) {
	t := &r.wide
	if r.planes {
		horizontalPlanes(&row[0], &pix[0], &t.off[0], &t.weights[0], t.pairs, t.groups, &t.norm, r.rows.plane)
		return
	}
	horizontalPacked(&row[0], &pix[0], &t.off[0], &t.weights[0], t.pairs, t.groups, &t.norm)
}

func (r *Resampler) combineKernel() {
	ring, sum := &r.rows, r.rows.sum()
	combine(unsafe.Pointer(&sum[0]), &ring.values[0], &ring.offsets[0], &ring.weights[0], len(ring.weights), len(sum))
}

// combineInto makes the sum of what lies from at on in the rows, in a segment of a sample.
func (r *Resampler) combineInto(segment []byte, at int) {
	ring := &r.rows
	combine(unsafe.Pointer(&segment[0]), &ring.values[at], &ring.offsets[0], &ring.weights[0], len(ring.weights),
		len(segment)/4)
}

// putKernel rounds values, those of a plane if there are planes, into a segment of a
// sample of float16 or uint8.
func (r *Resampler) putKernel(segment []byte, values []float32) {
	n := len(segment) / r.size
	_ = values[(n+7)&^7-1]
	if r.o.DType == Float16 {
		toFloat16(&segment[0], &values[0], n)
	} else {
		toUint8(&segment[0], &values[0], n)
	}
}
