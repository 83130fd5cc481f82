package synth

import (
	"encoding/binary"
	"fmt"
	"image"
	"math"
	"slices"

	"dlbench/bench/theory"
	"dlbench/loader"
)

// Mean and deviation of ImageNet's pixels on a scale of 0 to 1, red, green and
// blue, by which torchvision's models want their input normalised.
var (
	mean      = [3]float64{0.485, 0.456, 0.406}
	deviation = [3]float64{0.229, 0.224, 0.225}
)

// tensors turns pictures into samples of a raw or tensor store. One goroutine
// uses it at a time.
type tensors struct {
	shape   loader.Record // of one image
	scratch *image.RGBA
	pix     []uint8
	bits    [3][256]uint32 // what each level of a channel becomes
}

// Layouts are the orders of a tensor's elements, the default first.
var Layouts = []string{"nhwc", "nchw"}

// checkShape says what cannot be made of b and layout.
func checkShape(b theory.Batch, layout string) error {
	if err := b.Check(); err != nil {
		return err
	}
	if b.Channels != 3 {
		return fmt.Errorf("%d channels: pictures have 3", b.Channels)
	}
	if !slices.Contains(Layouts, layout) {
		return fmt.Errorf("unknown layout %q: want nhwc or nchw", layout)
	}
	return nil
}

func newTensors(r loader.Record) *tensors {
	t := &tensors{shape: r, pix: make([]uint8, 3*r.Height*r.Width)}
	for c := range t.bits {
		for v := range t.bits[c] {
			f := float32((float64(v)/255 - mean[c]) / deviation[c])
			switch r.DType {
			case "float32":
				t.bits[c][v] = math.Float32bits(f)
			case "float16":
				t.bits[c][v] = uint32(float16(f))
			default:
				t.bits[c][v] = uint32(v)
			}
		}
	}
	return t
}

// append crops the middle of a picture, resizes it, and appends it to dst:
// normalised as little-endian floats, or as bytes of 0 to 255.
func (t *tensors) append(dst []byte, img image.Image) []byte {
	w, h := t.shape.Width, t.shape.Height
	var m rgb
	m, t.scratch = toRGB(img, t.scratch)
	m.crop(w, h).resize(t.pix, w, h)
	if t.shape.Layout == "nchw" {
		for c := range 3 {
			dst = t.appendElements(dst, t.pix[c:], 3, c, 0)
		}
		return dst
	}
	return t.appendElements(dst, t.pix, 1, 0, 1)
}

// appendElements appends every step-th level; the channel starts at c and
// advances by turn.
func (t *tensors) appendElements(dst []byte, pix []uint8, step, c, turn int) []byte {
	for i := 0; i < len(pix); i += step {
		bits := t.bits[c][pix[i]]
		switch t.shape.DType {
		case "float32":
			dst = binary.LittleEndian.AppendUint32(dst, bits)
		case "float16":
			dst = binary.LittleEndian.AppendUint16(dst, uint16(bits))
		default:
			dst = append(dst, uint8(bits))
		}
		if c += turn; c == 3 {
			c = 0
		}
	}
	return dst
}

// float16 rounds f, which is neither huge nor tiny, to the nearest half-precision
// number, ties to even.
func float16(f float32) uint16 {
	b := math.Float32bits(f)
	sign := uint16(b>>16) & 0x8000
	exp := int(b>>23&0xff) - 127 + 15
	if exp <= 0 {
		return sign // below 6.1e-5: no normalised level is, but for zero
	}
	mantissa := b & 0x7fffff
	half := uint32(exp)<<10 | mantissa>>13
	if rest := mantissa & 0x1fff; rest > 0x1000 || rest == 0x1000 && half&1 == 1 {
		half++
	}
	return sign | uint16(half)
}
