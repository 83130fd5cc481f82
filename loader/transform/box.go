package transform

import (
	"math"
	"math/rand/v2"
)

// RandomResizedCrop draws the box of an image of w x h pixels as torchvision's
// RandomResizedCrop with its defaults does (get_params: 8 to 100 % of the area, a ratio of
// sides from 3/4 to 4/3 uniform in its logarithm, the centre after ten misses), and a flip
// with probability 1/2. The image is cropped first: Bounds is the box. It is empty if the
// image is.
func RandomResizedCrop(r *rand.Rand, w, h int) Box {
	const narrow, wide = 3.0 / 4, 4.0 / 3
	if w < 1 || h < 1 {
		return Box{}
	}
	flip := r.Uint64()&1 == 1
	area, logNarrow, logWide := float64(w)*float64(h), math.Log(narrow), math.Log(wide)
	for range 10 {
		target := area * (0.08 + (1-0.08)*r.Float64())
		ratio := math.Exp(logNarrow + (logWide-logNarrow)*r.Float64())
		cw := int(math.RoundToEven(math.Sqrt(target * ratio)))
		ch := int(math.RoundToEven(math.Sqrt(target / ratio)))
		if 0 < cw && cw <= w && 0 < ch && ch <= h {
			y := r.IntN(h - ch + 1)
			return crop(r.IntN(w-cw+1), y, cw, ch, flip)
		}
	}
	cw, ch := w, h
	switch ratio := float64(w) / float64(h); {
	case ratio < narrow:
		ch = int(math.RoundToEven(float64(w) / narrow))
	case ratio > wide:
		cw = int(math.RoundToEven(float64(h) * wide))
	}
	return crop((w-cw)/2, (h-ch)/2, cw, ch, flip)
}

func crop(x, y, w, h int, flip bool) Box {
	return Box{
		X: float64(x), Y: float64(y), W: float64(w), H: float64(h),
		Bounds: Rect{x, y, x + w, y + h},
		Flip:   flip,
	}
}

// CenterCrop is the box of an image of w x h pixels that torchvision's Resize(resize) and
// CenterCrop((outH, outW)) show: the shorter side is resized to resize, the longer one to
// the whole part of its share, and outW x outH pixels are cut from the middle. Bounds is
// the whole image, since torchvision resizes before it crops. The box is empty, which
// Apply refuses, where the resized image is smaller than the crop: torchvision pads there.
func CenterCrop(w, h, resize, outW, outH int) Box {
	if w < 1 || h < 1 || resize < 1 || outW < 1 || outH < 1 {
		return Box{}
	}
	rw, rh := resize, resize
	if w <= h {
		rh = int(float64(int64(resize)*int64(h)) / float64(w))
	} else {
		rw = int(float64(int64(resize)*int64(w)) / float64(h))
	}
	if outW > rw || outH > rh {
		return Box{}
	}
	left := math.RoundToEven(float64(rw-outW) / 2)
	top := math.RoundToEven(float64(rh-outH) / 2)
	sx, sy := float64(w)/float64(rw), float64(h)/float64(rh)
	return Box{
		X: left * sx, Y: top * sy, W: float64(outW) * sx, H: float64(outH) * sy,
		Bounds: Rect{0, 0, w, h},
	}
}
