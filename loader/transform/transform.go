// Package transform makes a training sample of a decoded image: random resized crop,
// resampling, flip and normalisation, straight into a batch.
//
// A Resampler does the work of one goroutine:
//
//	var random transform.Random
//	r, err := transform.New(transform.Options{Height: 224, Width: 224})
//	...
//	box := transform.RandomResizedCrop(random.For(seed, epoch, sample), width, height)
//	img, err := decoder.Decode(data, &info, box.Rectangle)
//	...
//	err = r.Apply(batch[slot*r.Bytes():][:r.Bytes()], img, box)
package transform

const (
	Float32 = "float32" // normalised, little endian
	Float16 = "float16" // normalised, IEEE binary16, little endian
	Uint8   = "uint8"   // 0 to 255, not normalised
)

const (
	NHWC = "nhwc" // rows of pixels of R, G, B
	NCHW = "nchw" // a plane of R, one of G, one of B
)

// sizes are the bytes of a value.
var sizes = map[string]int{Float32: 4, Float16: 2, Uint8: 1}

// Options is what a sample looks like. The zero value of all but Height and Width is what
// training does: float32, nhwc, antialiased.
type Options struct {
	Height, Width int    // 1 to MaxSide
	DType         string // float32, float16, uint8; uint8 is not normalised
	Layout        string // nhwc, nchw
	NoAntialias   bool   // bilinear of the four neighbours, as OpenCV's INTER_LINEAR
}

// affine is what a channel's level is made into: level*scale + bias. Both are laid out for
// a vector register of two pixels, R, G, B and a channel without meaning.
type affine struct{ scale, bias [8]float32 }

// normalisation is (level/255 - mean) / std, or the level itself for uint8.
func normalisation(dtype string) affine {
	var a affine
	for i := range 8 {
		c := i % 4
		if dtype == Uint8 {
			a.scale[i] = 1
			continue
		}
		mean, std := Channel(c)
		a.scale[i] = float32(1 / (255 * std))
		a.bias[i] = float32(-mean / std)
	}
	return a
}

// Channel is mean and deviation of R, G or B in ImageNet, of values from 0 to 1, as
// torchvision's models take them; 0 and 1 of the channel without meaning.
func Channel(c int) (mean, std float64) { return imageNet[c][0], imageNet[c][1] }

var imageNet = [4][2]float64{{0.485, 0.229}, {0.456, 0.224}, {0.406, 0.225}, {0, 1}}
