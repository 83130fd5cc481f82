package transform

// maxRows is how many rows are kept at most, for reductions to less than about 1/32. With
// more taps than that, each output's sum is made in parts, and rows are resampled again
// for the next output.
const maxRows = 64

// rows is rows of the source that were resampled horizontally and normalised: those that
// one output row needs, and the sum of them. A row is 3 values a pixel, or three planes.
//
// Horizontal first, since then the rows are a few kilobytes that stay in the first cache
// whatever the source's width, and the vertical pass, which stores the sample, knows of no
// layout. The other order needs as many multiplications, give or take; it was not measured.
type rows struct {
	values []float32
	stride int // values from one row to the next
	plane  int // values from one plane of a row to the next
	kept   int // rows; then comes the sum
	holds  [maxRows]int32

	listed  int // rows and weights of the sum that is made
	offsets [maxRows + 1]int32
	weights [maxRows + 1]float32
	lower   [maxRows + 1]float32 // lower 8 bits, in exact mode: weights has the upper ones
}

// reset makes room for rows of width pixels, of which longest are kept.
func (r *rows) reset(width, longest int, planes bool) {
	// Kernels store 4 pixels at a time, and a value more in nhwc; they add up 16 values.
	r.plane = (width + 7) &^ 7
	r.stride = (3*width + 12 + 15) &^ 15
	if planes {
		r.stride = (3*r.plane + 15) &^ 15
	}
	r.stride += 16 // rows of a power of two would share a cache set
	r.kept = min(longest, maxRows)
	r.values = grown(r.values, (r.kept+1)*r.stride)
	for i := range r.kept {
		r.holds[i] = -1
	}
}

// sum is the row that follows those that are kept.
func (r *rows) sum() []float32 { return r.values[r.kept*r.stride:][:r.stride] }

func (r *rows) list(row int, weight float32) {
	r.offsets[r.listed], r.weights[r.listed] = int32(row*r.stride), weight
	r.listed++
}

// apply makes a sample of src with the taps in r.x and r.y.
func (r *Resampler) apply(dst []byte, src Source) {
	ring := &r.rows
	ring.reset(r.o.Width, r.y.longest, r.planes)
	for y := range r.o.Height {
		first, weights := r.y.of(y)
		ring.listed = 0
		for len(weights) > ring.kept {
			r.list(src, first, weights[:ring.kept])
			r.combine()
			ring.listed = 0
			ring.list(ring.kept, 1)
			first, weights = first+ring.kept, weights[ring.kept:]
		}
		r.list(src, first, weights)
		r.write(dst, y)
	}
}

// list lists the rows from first on for the sum.
func (r *Resampler) list(src Source, first int, weights []float32) {
	for i, w := range weights {
		r.rows.list(r.row(src, first+i), w)
	}
}

// row is where row y of the source is kept. It is resampled now if it is not there.
func (r *Resampler) row(src Source, y int) (slot int) {
	ring := &r.rows
	slot = int(uint32(y) % uint32(ring.kept))
	if ring.holds[slot] == int32(y) {
		return slot
	}
	ring.holds[slot] = int32(y)
	row := ring.values[slot*ring.stride:][:ring.stride]
	if r.assembler {
		r.horizontalKernel(row, src.Pix[y*src.Stride+4*r.wide.from:])
	} else {
		r.horizontal(row, src.Pix[y*src.Stride:])
	}
	return slot
}

// combine makes the weighted sum of the rows that are listed.
func (r *Resampler) combine() {
	if r.assembler {
		r.combineKernel()
	} else {
		r.rows.combine()
	}
}

// write makes the sum and puts it where row y of the sample is.
func (r *Resampler) write(dst []byte, y int) {
	if !r.assembler || r.o.DType != Float32 { // else put makes the sum in place
		r.combine()
	}
	r.put(dst, y)
}

// put puts the sum where row y of the sample is: a segment of dst in nhwc, three in nchw.
func (r *Resampler) put(dst []byte, y int) {
	segments, n, apart := 1, 3*r.o.Width, 0
	if r.planes {
		segments, n, apart = 3, r.o.Width, r.o.Height*r.o.Width
	}
	for c := range segments {
		segment := dst[(c*apart+y*n)*r.size:][:n*r.size]
		at := c * r.rows.plane
		switch {
		case !r.assembler:
			put(segment, r.rows.sum()[at:], r.o.DType)
		case r.o.DType == Float32 && !r.o.Exact:
			r.combineInto(segment, at)
		default:
			r.putKernel(segment, r.rows.sum()[at:], c)
		}
	}
}
