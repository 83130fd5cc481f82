package decode

import (
	"fmt"
	"image"
	"runtime"
)

// margin is how far beyond a region is decoded: the interpolation of chroma takes the
// edge of what is decoded for that of the image, which reaches a chroma sample or two
// pixels in.
const margin = 2

// mcuWidths are tjMCUWidth of turbojpeg.h, by TJSAMP: 4:4:4, 4:2:2, 4:2:0, grey, 4:4:0,
// 4:1:1, 4:4:1.
var mcuWidths = [...]int{8, 16, 16, 8, 8, 32, 8}

// decode3 decodes region and a margin by TurboJPEG 3.x. It still decodes the entropy of
// all above and beside the region, but of that alone.
func (t *turbo) decode3(info *Info, region image.Rectangle) (Image, error) {
	t.args = [9]uintptr{t.handle, address(&t.data[0]), uintptr(len(t.data))}
	if result := int32(t.call(tj3DecompressHeader, 3)); result != 0 {
		if s, warning := t.message(); !warning {
			return Image{}, fmt.Errorf("JPEG: %s", s)
		}
	}
	if err := t.checkSize(info, info.Height, t.get(parameterWidth), t.get(parameterHeight)); err != nil {
		return Image{}, err
	}
	window := t.window(info, region)
	if !t.setRegion(window, info) {
		return Image{}, t.failure()
	}
	m := t.target(info, window)
	t.args = [9]uintptr{t.handle, address(&t.data[0]), uintptr(len(t.data)), address(&m.Pix[0]), uintptr(m.Stride), pixelFormat(info)}
	if err := t.finish(&m, int32(t.call(tj3Decompress8, 6)), info); err != nil {
		return m, err
	}
	// Where the library stopped before the end, a missing one is damage as well: what a
	// file is called is not to depend on the region.
	if m.Damage == "" && window.Max.Y < info.Height && endless(t.data, info) {
		m.Damage = noEnd
	}
	return m, nil
}

// window is region with its margin, from a border of MCUs on the left; or the whole image
// where the library decodes no part. Of a progressive JPEG it would, but where fine scans
// are missing, it smooths the blocks by their neighbours, for which it takes others at the
// edges of a region; all scans are decoded in any case.
func (t *turbo) window(info *Info, region image.Rectangle) image.Rectangle {
	full := image.Rect(0, 0, info.Width, info.Height)
	sampling := t.get(parameterSubsampling)
	if sampling < 0 || sampling >= len(mcuWidths) || info.mcu == 0 || info.Lossless || info.Progressive {
		return full
	}
	// Where all components have the same factors above 1, TurboJPEG calls it 4:4:4, but
	// libjpeg wants the border of an MCU as it is.
	mcu := max(mcuWidths[sampling], info.mcu)
	if mcu%mcuWidths[sampling] != 0 || mcu%info.mcu != 0 {
		return full
	}
	w := region.Inset(-margin).Intersect(full)
	w.Min.X -= w.Min.X % mcu
	return w
}

func (t *turbo) get(parameter uintptr) int {
	t.args[0], t.args[1] = t.handle, parameter
	return int(int32(t.call(tj3Get, 2)))
}

// set sets a parameter. A version that does not know it has nothing to be set.
func (t *turbo) set(parameter uintptr, value int) {
	t.args[0], t.args[1], t.args[2] = t.handle, parameter, uintptr(value)
	t.call(tj3Set, 3)
}

// setRegion sets what is decoded; all is four zeros. The structure of four int is passed
// in two registers (System V, AAPCS64), or by a pointer (Windows on amd64).
func (t *turbo) setRegion(w image.Rectangle, info *Info) bool {
	t.crop = [4]int32{}
	if w.Dx() != info.Width || w.Dy() != info.Height {
		t.crop = [4]int32{int32(w.Min.X), int32(w.Min.Y), int32(w.Dx()), int32(w.Dy())}
	}
	n := 3
	t.args[0] = t.handle
	if runtime.GOOS == "windows" && runtime.GOARCH == "amd64" {
		t.args[1], n = address(&t.crop[0]), 2
	} else {
		t.args[1] = uintptr(uint64(uint32(t.crop[0])) | uint64(uint32(t.crop[1]))<<32)
		t.args[2] = uintptr(uint64(uint32(t.crop[2])) | uint64(uint32(t.crop[3]))<<32)
	}
	return int32(t.call(tj3SetCroppingRegion, n)) == 0
}
