// Package transform makes a training sample of a decoded image: random resized crop or
// centre crop, resampling, flip and normalisation, straight into a batch.
//
// A Resampler does the work of one goroutine:
//
//	var random transform.Random
//	r, err := transform.New(transform.Options{Height: 224, Width: 224})
//	...
//	box := transform.RandomResizedCrop(random.For(seed, epoch, sample), width, height)
//	region, err := r.Region(box) // what of the image must be decoded
//	...
//	err = r.Apply(batch[slot*r.Bytes():][:r.Bytes()], source, box)
package transform

// Source is decoded pixels: the window at (X, Y) of W x H pixels of an image, R, G, B and
// a byte without meaning for each pixel, with decode.Padding bytes behind the last.
type Source struct {
	Pix        []byte
	Stride     int // bytes
	X, Y, W, H int
}

// Box is what of an image a sample shows: W x H pixels at (X, Y), which need not be whole.
// Resampling takes in no pixel outside Bounds.
type Box struct {
	X, Y, W, H float64
	Bounds     Rect
	Flip       bool // left to right
}

// Rect is whole pixels of an image: those from (X0, Y0) to before (X1, Y1).
type Rect struct{ X0, Y0, X1, Y1 int }

// Types of a sample's values.
const (
	Float32 = "float32" // normalised, little endian
	Float16 = "float16" // normalised, IEEE binary16, little endian
	Uint8   = "uint8"   // 0 to 255, not normalised
)

// Layouts of a sample's values.
const (
	NHWC = "nhwc" // rows of pixels of R, G, B
	NCHW = "nchw" // a plane of R, one of G, one of B
)

// Options is what a sample looks like. The zero value of all but Height and Width is what
// training does: float32, nhwc, antialiased, by the fastest path there is.
type Options struct {
	Height, Width int    // 1 to MaxSide
	DType         string // float32, float16, uint8; uint8 is not normalised
	Layout        string // nhwc, nchw
	NoAntialias   bool   // bilinear of the four neighbours, as OpenCV's INTER_LINEAR
	Exact         bool   // fixed point, equal to Pillow 13's bit for bit; slower; not with NoAntialias
	NoAssembler   bool   // the reference in Go
}
