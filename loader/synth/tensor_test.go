package synth

import (
	"bytes"
	"encoding/binary"
	"image"
	"math"
	"testing"

	"golang.org/x/image/draw"

	"dlbench/bench/theory"
	"dlbench/loader"
	"dlbench/loader/decode"
	"dlbench/loader/transform"
)

func gradient(w, h int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	r := newRandom(1, 1)
	for i := range img.Pix {
		img.Pix[i] = uint8(i/7) + uint8(r.below(60))
		if i%4 == 3 {
			img.Pix[i] = 255
		}
	}
	return img
}

// TestResize takes x/image's bilinear filter, which computes in floats, as oracle.
func TestResize(t *testing.T) {
	for _, c := range []struct{ w, h, toW, toH int }{{500, 375, 225, 225}, {40, 30, 64, 64}, {33, 70, 33, 70},
		{1, 1, 5, 5}, {300, 2, 7, 9}} {
		img := gradient(c.w, c.h)
		got := make([]uint8, 3*c.toW*c.toH)
		resize(got, c.toW, c.toH, img.Pix, img.Stride, img.Rect)
		want := image.NewRGBA(image.Rect(0, 0, c.toW, c.toH))
		draw.ApproxBiLinear.Scale(want, want.Rect, img, img.Rect, draw.Src, nil)
		for i := range c.toW * c.toH {
			for k := range 3 {
				if d := int(got[3*i+k]) - int(want.Pix[4*i+k]); d < -1 || d > 1 {
					t.Fatalf("%v: pixel %d channel %d: %d, want %d", c, i, k, got[3*i+k], want.Pix[4*i+k])
				}
			}
		}
	}
}

func TestCrop(t *testing.T) {
	for _, c := range []struct{ w, h, toW, toH, wantW, wantH int }{
		{500, 375, 225, 225, 375, 375}, {375, 500, 225, 225, 375, 375}, {400, 100, 100, 200, 50, 100},
		{100, 100, 200, 100, 100, 50}, {1000, 1, 1, 1000, 1, 1}, {225, 225, 225, 225, 225, 225},
	} {
		if got := middle(c.w, c.h, c.toW, c.toH); got.Dx() != c.wantW || got.Dy() != c.wantH ||
			got.Min.X != (c.w-c.wantW)/2 || got.Min.Y != (c.h-c.wantH)/2 {
			t.Errorf("%+v: got %v", c, got)
		}
	}
}

func TestNormalised(t *testing.T) {
	img := gradient(8, 6)
	shape := loader.Record{Batch: theory.Batch{Images: 1, Height: 6, Width: 8, Channels: 3}}
	for _, shape.DType = range []string{"float32", "float16", "uint8"} {
		for _, shape.Layout = range Layouts {
			data := newTensors(&shape).append(nil, decode.Image{Pix: img.Pix, Stride: img.Stride, Window: img.Rect})
			for _, at := range [][3]int{{0, 0, 0}, {0, 0, 2}, {2, 5, 1}, {5, 7, 2}} {
				y, x, c := at[0], at[1], at[2]
				level := img.Pix[img.PixOffset(x, y)+c]
				mean, deviation := transform.Channel(c)
				v := float32((float64(level)/255 - mean) / deviation)
				want := []byte{level}
				switch shape.DType {
				case "float32":
					want = binary.LittleEndian.AppendUint32(nil, math.Float32bits(v))
				case "float16":
					want = binary.LittleEndian.AppendUint16(nil, transform.Half(v))
				}
				i := (y*8+x)*3 + c
				if shape.Layout == "nchw" {
					i = (c*6+y)*8 + x
				}
				if got := data[i*len(want):][:len(want)]; !bytes.Equal(got, want) {
					t.Errorf("%s %s at %v: %x, want %x", shape.DType, shape.Layout, at, got, want)
				}
			}
		}
	}
}
