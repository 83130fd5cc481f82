package chart

import (
	"bytes"
	"image/png"
	"testing"

	"dlbench/results"
)

// A character that the font lacks is seen as a box, not as nothing.
func TestPNGOfForeignLetters(t *testing.T) {
	dark := func(label string) (n int) {
		charts, err := Charts([]*results.Report{simReport(label)})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := charts[0].Write(&b, Options{}); err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(&b)
		if err != nil {
			t.Fatal(err)
		}
		for y := img.Bounds().Dy() - 40; y < img.Bounds().Dy(); y++ { // the caption
			for x := range img.Bounds().Dx() {
				if r, _, _, _ := img.At(x, y).RGBA(); r < 0xF000 {
					n++
				}
			}
		}
		return n
	}
	if none, some := dark("a"), dark("a"+"🚀🚀🚀🚀🚀🚀"); some < none+60 {
		t.Errorf("%d dark pixels with six rockets, %d without", some, none)
	}
}
