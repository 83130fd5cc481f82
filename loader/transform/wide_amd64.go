package transform

import "unsafe"

// wide is x's taps as the kernels take them, in groups of 4 outputs.
type wide struct {
	valid         bool
	from          int           // first pixel of the window that any output takes in
	pairs, groups int           // pairs of pixels an output, groups of outputs
	off           []int32       // first byte that an output takes in, from from's on
	weights       []uint32      // two words each, 32 for each pair of a group
	norm          affine        // of sums of fixed-point weights
	steps         [3]levelSteps // of each plane, or the first of all
}

// levelSteps is 255, and the means and deviations of as many values of a row as have a
// whole number of pixels and of registers.
type levelSteps struct {
	top       [8]float32
	mean, std [24]float32
}

// widen lays out x's taps. The pixels of a group are loaded in pairs: those of two outputs
// in the halves of one register, those of the other two in another. So are the weights:
// upper bits, lower bits of the first two, the same of the others, each pair 4 times, for
// R, G, B and the byte between. All outputs have the same number of pairs; what is no tap
// has weight 0. At the right they are shifted to the left, so that they reach at most one
// pixel beyond those that are taken in.
func (r *Resampler) widen() {
	t := &r.wide
	if t.norm == (affine{}) {
		t.setNorm(r.norm, r.planes)
	}
	t.valid = true
	from, to := r.x.region()
	t.from, t.pairs, t.groups = from, (r.x.longest+1)/2, (r.o.Width+3)/4
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

func (t *wide) setNorm(norm affine, planes bool) {
	t.norm = norm
	for i := range t.norm.scale {
		t.norm.scale[i] /= 1 << fixedBits
	}
	for plane := range t.steps {
		s := &t.steps[plane]
		for i := range s.top {
			s.top[i] = 255
		}
		for i := range s.mean {
			c := i % 3
			if planes {
				c = plane
			}
			mean, std := channel(c)
			s.mean[i], s.std[i] = float32(mean), float32(std)
		}
	}
}

// fixedWeight is the weight of tap k of an output in units of 2^-22.
func (a *axis) fixedWeight(at, k int) uint32 {
	if a.fixed {
		return uint32(a.whole[at*a.taps+k])
	}
	return uint32(int32(a.weights[at*a.taps+k]*(1<<fixedBits) + 0.5))
}

// horizontalKernel does what horizontal does, with pix from pixel wide.from on; in exact
// mode it makes levels.
func (r *Resampler) horizontalKernel(row []float32, pix []byte) {
	t := &r.wide
	switch {
	case r.o.Exact && r.planes:
		exactPlanes(&row[0], &pix[0], &t.off[0], &t.weights[0], t.pairs, t.groups, &t.norm, r.rows.plane)
	case r.o.Exact:
		exactPacked(&row[0], &pix[0], &t.off[0], &t.weights[0], t.pairs, t.groups, &t.norm)
	case r.planes:
		horizontalPlanes(&row[0], &pix[0], &t.off[0], &t.weights[0], t.pairs, t.groups, &t.norm, r.rows.plane)
	default:
		horizontalPacked(&row[0], &pix[0], &t.off[0], &t.weights[0], t.pairs, t.groups, &t.norm)
	}
}

// combineKernel makes the sum.
func (r *Resampler) combineKernel() {
	ring, sum := &r.rows, r.rows.sum()
	if r.o.Exact {
		combineExact(&sum[0], &ring.values[0], &ring.offsets[0], &ring.weights[0], &ring.lower[0], ring.listed, len(sum))
		return
	}
	combine(unsafe.Pointer(&sum[0]), &ring.values[0], &ring.offsets[0], &ring.weights[0], ring.listed, len(sum))
}

// combineInto makes the sum of what lies from at on in the rows, in a segment of a sample.
func (r *Resampler) combineInto(segment []byte, at int) {
	ring := &r.rows
	combine(unsafe.Pointer(&segment[0]), &ring.values[at], &ring.offsets[0], &ring.weights[0], ring.listed, len(segment)/4)
}

// putKernel puts values, those of a plane if there are planes, in a segment of a sample.
func (r *Resampler) putKernel(segment []byte, values []float32, plane int) {
	n := len(segment) / r.size
	_ = values[(n+7)&^7-1]
	if r.o.Exact && r.o.DType != Uint8 {
		normaliseLevels(&values[0], &r.wide.steps[plane], n)
	}
	switch r.o.DType {
	case Float32:
		copy(segment, unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), len(segment)))
	case Float16:
		toFloat16(&segment[0], &values[0], n)
	default:
		toUint8(&segment[0], &values[0], n)
	}
}

// exactColumnsKernel sums rows of pixels, vertically, into r.exact.values.
func (r *Resampler) exactColumnsKernel(pix []byte, stride, rows, pixels int) {
	sum := r.exact.values
	exactColumns(&sum[0], &pix[0], stride, &r.rows.weights[0], &r.rows.lower[0], rows, (4*pixels+7)&^7)
}
