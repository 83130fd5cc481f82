package cuda

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Normalisation makes float32 tensors, nchw, of uint8 images, nhwc with three channels,
// on the device, so that a quarter of the bytes has to be copied there:
// (level/255 - mean) / deviation of each channel.
type Normalisation struct {
	Images, Height, Width int
	Mean, Deviation       [3]float64 // of R, G and B, of values from 0 to 1
}

// What the kernel's 32-bit numbers hold: pixels of an image, and images.
const (
	mostPixels = 1 << 30
	mostImages = 1 << 24
)

// SourceBytes and ResultBytes are the sizes of the images and of the tensor.
func (n Normalisation) SourceBytes() int { return n.Images * n.area() * 3 }
func (n Normalisation) ResultBytes() int { return 4 * n.SourceBytes() }

func (n Normalisation) area() int { return n.Height * n.Width }

// factors are what a level is multiplied by, and what is added to it.
func (n Normalisation) factors() (scale, bias [3]float32) {
	for c := range scale {
		scale[c] = float32(1 / (255 * n.Deviation[c]))
		bias[c] = float32(-n.Mean[c] / n.Deviation[c])
	}
	return scale, bias
}

// check refuses what no kernel can do to dst and src. Its errors wrap InvalidValue.
func (n Normalisation) check(dst, src *Buffer) error {
	if n.Images > mostImages || n.Height > mostPixels || n.Width > mostPixels/n.Height ||
		dst.Kind != OnDevice || src.Kind != OnDevice || src.Size < n.SourceBytes() || dst.Size < n.ResultBytes() {
		return fmt.Errorf("normalise %d images of %dx%d, %d bytes of %s memory, into %d bytes of %s memory: %w",
			n.Images, n.Height, n.Width, src.Size, src.Kind, dst.Size, dst.Kind, InvalidValue)
	}
	return nil
}

// Apply does on the host what the kernel does: dst takes ResultBytes in the host's
// byte order.
func (n Normalisation) Apply(dst, src []byte) {
	scale, bias := n.factors()
	area := n.area()
	for image := range n.Images {
		from, to := src[3*area*image:], dst[4*3*area*image:]
		for p := range area {
			for c := range 3 {
				// Exact but for the rounding to float32, as a fused multiply-add is.
				v := float32(math.FMA(float64(from[3*p+c]), float64(scale[c]), float64(bias[c])))
				binary.NativeEndian.PutUint32(to[4*(p+c*area):], math.Float32bits(v))
			}
		}
	}
}
