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
