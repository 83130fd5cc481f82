package transform

// Mean and deviation of R, G and B in ImageNet, of values from 0 to 1, as torchvision's
// models take them.
const (
	MeanR, MeanG, MeanB = 0.485, 0.456, 0.406
	StdR, StdG, StdB    = 0.229, 0.224, 0.225
)

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
		mean, std := channel(c)
		a.scale[i] = float32(1 / (255 * std))
		a.bias[i] = float32(-mean / std)
	}
	return a
}

func channel(c int) (mean, std float64) {
	switch c {
	case 0:
		return MeanR, StdR
	case 1:
		return MeanG, StdG
	case 2:
		return MeanB, StdB
	}
	return 0, 1
}

// levels is the normalised value of each level of each channel, in the steps in float32 of
// torchvision's ToTensor and Normalize.
type levels [3][256]float32

func normalisedLevels() *levels {
	l := new(levels)
	for c := range l {
		mean, std := channel(c)
		for v := range l[c] {
			share := float32(v) / 255
			difference := share - float32(mean)
			l[c][v] = difference / float32(std)
		}
	}
	return l
}
