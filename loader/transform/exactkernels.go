package transform

// applyExactKernels is applyExact with the kernels: what horizontal resampling makes is
// levels in float32, in rows, which has all of them.
func (r *Resampler) applyExactKernels(dst []byte, src Source) {
	ring := &r.rows
	if r.verticalFirst() {
		r.applyExactKernelsVerticalFirst(dst, src)
		return
	}
	ring.reset(r.o.Width, r.y.longest, r.planes)
	for y := range r.o.Height {
		first, weights := r.y.wholeOf(y)
		ring.listed = 0
		for i, w := range weights {
			ring.lower[i] = float32(w & 255)
			ring.list(r.row(src, first+i), float32(w>>8))
		}
		r.combineKernel()
		r.put(dst, y)
	}
}

// applyExactKernelsVerticalFirst sums rows of the source to a row of levels, as wide as
// what x takes in, and resamples that.
func (r *Resampler) applyExactKernelsVerticalFirst(dst []byte, src Source) {
	ring := &r.rows
	ring.reset(r.o.Width, 1, r.planes)
	x0, x1 := r.x.region()
	// A row is summed 8 bytes at a time, and read 12 bytes beyond its end.
	r.exact.values = grown(r.exact.values, (4*(x1-x0)+7)&^7+16)
	for y := range r.o.Height {
		first, weights := r.y.wholeOf(y)
		for i, w := range weights {
			ring.weights[i], ring.lower[i] = float32(w>>8), float32(w&255)
		}
		r.exactColumnsKernel(src.Pix[first*src.Stride+4*x0:], src.Stride, len(weights), x1-x0)
		r.horizontalKernel(ring.sum(), r.exact.values)
		r.put(dst, y)
	}
}
