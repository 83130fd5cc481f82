package transform

// rows is rows of the source that were resampled horizontally and normalised: those that
// one output row needs, and the sum of them. A row is 3 values a pixel, or three planes.
//
// Horizontal first, since then the rows are a few kilobytes that stay in the first cache
// whatever the source's width, and the vertical pass, which stores the sample, knows of no
// layout. The other order needs as many multiplications, give or take; it was not measured.
type rows struct {
	values []float32
	stride int     // values from one row to the next
	plane  int     // values from one plane of a row to the next
	holds  []int32 // which row of the source each slot has; -1 for none. The sum follows the last slot

	// Of the rows of the sum that is made: where they are, in values, and their weights.
	offsets []int
	weights []float32
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
	r.values = grown(r.values, (longest+1)*r.stride)
	r.holds, r.offsets = grown(r.holds, longest), grown(r.offsets, longest)
	for i := range r.holds {
		r.holds[i] = -1
	}
}

// sum is the row that follows those that are kept.
func (r *rows) sum() []float32 { return r.values[len(r.holds)*r.stride:][:r.stride] }
