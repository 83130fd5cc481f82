package loader

import (
	"fmt"
	"image"
	"time"

	"dlbench/loader/decode"
	"dlbench/loader/transform"
)

// storedPixels is the least side of stored uint8 images of which random crops are
// still taken: what was 256 pixels is reduced to 224 or so, as in training from files.
const storedPixels = 256

// Crops says whether a store of records still has the pixels for random crops. Other
// records are samples as they are: each epoch sees the same crop, which is not the
// same training.
func Crops(r *Record) bool {
	return r.DType == "uint8" && r.Layout == "nhwc" && min(r.Height, r.Width) >= storedPixels
}

// CanPrepare says why samples cannot be made of a store's records, "" if they can.
func CanPrepare(r *Record, o transform.Options) string {
	switch {
	case r == nil:
		return "no store of records"
	case r.Channels != 3:
		return fmt.Sprintf("the store has %d channels, not 3", r.Channels)
	case Crops(r):
		return ""
	case r.Height != o.Height || r.Width != o.Width || r.DType != o.DType || r.Layout != o.Layout:
		return fmt.Sprintf("the store holds %dx%d %s %s, not %dx%d %s %s: dlbench dataset pack makes another",
			r.Height, r.Width, r.DType, r.Layout, o.Height, o.Width, o.DType, o.Layout)
	}
	return ""
}

// Record makes the sample of a record in dst: a copy of what was prepared, or a random
// crop of stored pixels.
func (p *Preprocessor) Record(dst, data []byte, r *Record, at Place) error {
	start := time.Now()
	if !Crops(r) {
		if len(dst) != len(data) {
			return fmt.Errorf("a record of %d bytes for a sample of %d", len(data), len(dst))
		}
		copy(dst, data)
		p.stages.Collate += time.Since(start)
		p.stages.Good++
		return nil
	}
	if n := 4*r.Height*r.Width + decode.Padding; cap(p.pixels) < n {
		p.pixels = make([]byte, n)
	}
	pix := p.pixels[:4*r.Height*r.Width]
	for i, j := 0, 0; i+3 <= len(data) && j+4 <= len(pix); i, j = i+3, j+4 {
		pix[j], pix[j+1], pix[j+2] = data[i], data[i+1], data[i+2]
	}
	expanded := time.Now()
	p.stages.Decode += expanded.Sub(start)
	src := decode.Image{Pix: pix, Stride: 4 * r.Width, Window: image.Rect(0, 0, r.Width, r.Height)}
	err := p.sampler.Apply(dst, src, p.crop(r.Width, r.Height, at))
	p.stages.Transform += time.Since(expanded)
	if err != nil {
		clear(dst)
		p.stages.Bad++
		return err
	}
	p.stages.Good++
	return nil
}
