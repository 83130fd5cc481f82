package decode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"runtime"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"

	"dlbench/bench/sharedlib"
)

// Values of turbojpeg.h.
const (
	formatRGBX = 2  // TJPF_RGBX
	formatCMYK = 11 // TJPF_CMYK

	flagAccurateDCT = 4096  // TJFLAG_ACCURATEDCT
	flagLimitScans  = 32768 // TJFLAG_LIMITSCANS, at 500

	parameterSubsampling = 4  // TJPARAM_SUBSAMP
	parameterWidth       = 5  // TJPARAM_JPEGWIDTH
	parameterHeight      = 6  // TJPARAM_JPEGHEIGHT
	parameterScanLimit   = 13 // TJPARAM_SCANLIMIT
	parameterSaveMarkers = 25 // TJPARAM_SAVEMARKERS, from 3.1

	codeWarning = 0 // TJERR_WARNING
)

// turbo decodes JPEG by libjpeg-turbo, with its exact inverse DCT and its interpolation
// of chroma, and what is no JPEG by Go's decoders.
//
// A call that fails can leave a handle of TurboJPEG such that the next one fails too, or
// is of the file before. So the handle is thrown away after each failure.
type turbo struct {
	*goDecoder // for what is no JPEG; its limits and room are those of JPEG, too
	lib        *Lib
	handle     uintptr

	// Of the call in progress. What the library reads and writes by pointer is in here or
	// held from here.
	data []byte
	copy []byte // of data, with a lower height
	args [9]uintptr
	out  [4]int32 // width, height, and what is not used
	crop [4]int32 // x, y, width, height
}

func (t *turbo) Kind() string { return Turbo }

func (t *turbo) Close() error {
	t.discard()
	return t.goDecoder.Close()
}

func (t *turbo) Decode(data []byte, info *Info, region image.Rectangle) (m Image, err error) {
	if info.Format != JPEG {
		return t.goDecoder.Decode(data, info, region)
	}
	if region, err = t.limits.check(data, info, region); err != nil {
		return Image{}, err
	}
	if len(data) == 0 {
		return Image{}, errEmpty
	}
	t.Release()
	if err := t.take(info.memory(true, data, region), info); err != nil {
		return Image{}, err
	}
	// The library's messages are the thread's.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if t.handle == 0 {
		if err := t.create(); err != nil {
			return Image{}, err
		}
	}
	t.data = data
	if t.lib.API == 3 {
		m, err = t.decode3(info, region)
	} else {
		m, err = t.decode2(info, region)
	}
	t.data = nil
	if err != nil || m.Damage != "" {
		t.discard()
	}
	if err == nil {
		return m, nil
	}
	if feature := info.feature(); feature != "" { // which the library need not know
		err = &Unsupported{"JPEG", feature}
	}
	return Image{}, err
}

// call makes a call of the library. The arguments go through t, because those that purego
// is given one by one are allocated for each call. The Go memory that they point to is t's
// own or held by t, which keeps it from the stack.
func (t *turbo) call(function string, args ...uintptr) uintptr {
	n := copy(t.args[:], args)
	r, _, _ := purego.SyscallN(t.lib.library.Functions[function], t.args[:n]...)
	return r
}

func (t *turbo) create() error {
	t.handle = t.call("tjInitDecompress")
	if t.handle == 0 {
		return errors.New("libjpeg-turbo: no memory for a decoder")
	}
	if t.lib.API == 3 {
		t.set(parameterScanLimit, t.limits.scans)
		t.set(parameterSaveMarkers, 0) // no copy of a colour profile
	}
	return nil
}

func (t *turbo) discard() {
	if t.handle != 0 {
		t.call("tjDestroy", t.handle)
		t.handle = 0
	}
}

// reason is the library's own text of why the last call failed, which lasts until the next
// call, and whether that is a warning only.
func (t *turbo) reason() (string, bool) {
	warning := int32(t.call("tjGetErrorCode", t.handle)) == codeWarning
	return sharedlib.Text(t.call("tjGetErrorStr2", t.handle)), warning
}

func (t *turbo) message() (string, bool) {
	s, warning := t.reason()
	if function, reason, ok := strings.Cut(s, "(): "); ok && strings.HasPrefix(function, "tj") {
		s = reason // "tjDecompress2(): ..."
	}
	if s == "" {
		s = "no reason given"
	}
	return strings.Clone(strings.ReplaceAll(s, "\n", " ")), warning
}

func (t *turbo) failure() error {
	s, _ := t.message()
	return fmt.Errorf("JPEG: %s", s)
}

// target is memory for the window of the image. Its last row is marked, for finish.
func (t *turbo) target(info *Info, window image.Rectangle) Image {
	stride := window.Dx() * 4
	pix := t.sized(stride * window.Dy())
	for i := range pix[len(pix)-stride:] {
		pix[len(pix)-stride+i] = unwritten
	}
	return Image{Pix: pix, Stride: stride, Window: window, Converted: info.converted()}
}

// noEnd is libjpeg's warning (JWRN_JPEG_EOF).
const noEnd = "Premature end of JPEG file"

// unwritten marks the last row. R, G, B and 255 for the fourth byte is never all this.
const unwritten = 0x5a

func (t *turbo) untouched(m *Image) bool {
	return bytes.Count(m.Pix[len(m.Pix)-m.Stride:], []byte{unwritten}) == m.Stride
}

// finish judges a call that decoded into m. Where it failed before it was through, the last row is
// still as it was; what the library says of what follows the pixels is damage. Where the library stopped before
// the end, a missing one is damage as well: what a file is called is not to depend on the
// region.
func (t *turbo) finish(m *Image, result int32, info *Info) error {
	if result != 0 {
		s, _ := t.message()
		if t.untouched(m) {
			return fmt.Errorf("JPEG: %s", s)
		}
		m.Damage = s
	}
	if pixelFormat(info) == formatCMYK {
		cmykRow(m.Pix, inverted)
	}
	if m.Damage == "" && m.Window.Max.Y < info.Height && endless(t.data, info) {
		m.Damage = noEnd
	}
	return nil
}

// pixelFormat is what the library is asked for. It makes RGBX of all but CMYK and YCCK,
// which it makes CMYK.
func pixelFormat(info *Info) uintptr {
	if info.Space == spaceCMYK || info.Space == spaceYCCK {
		return formatCMYK
	}
	return formatRGBX
}

// checkSize is whether the library sees the image that it is to see: of info's width, and
// of height rows.
func checkSize(info *Info, height, sawWidth, sawHeight int) error {
	if sawWidth != info.Width || sawHeight != height {
		return fmt.Errorf("JPEG: %d x %d by the header, %d x %d for libjpeg-turbo", info.Width, height, sawWidth,
			sawHeight)
	}
	return nil
}

func address[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// decode2 decodes from the top to a little below region by TurboJPEG 2.x. That knows no
// regions, but believes a lower height (shorten). tjDecompress2 takes the largest scale of
// N/8 at which the image is not over the width and height given, so that it never writes
// beyond these, whatever size it sees; by the check before, the scale is 1.
func (t *turbo) decode2(info *Info, region image.Rectangle) (Image, error) {
	height := t.shorten(info, region)
	t.out = [4]int32{}
	// It fails also for a warning and for chroma of unusual sampling, either of which
	// leave the size and can be decoded.
	result := int32(t.call("tjDecompressHeader3", t.handle, address(&t.data[0]), uintptr(len(t.data)),
		address(&t.out[0]), address(&t.out[1]), address(&t.out[2]), address(&t.out[3])))
	if result != 0 && t.out[0] == 0 {
		return Image{}, t.failure()
	}
	if err := checkSize(info, height, int(t.out[0]), int(t.out[1])); err != nil {
		return Image{}, err
	}
	m := t.target(info, image.Rect(0, 0, info.Width, height))
	result = int32(t.call("tjDecompress2", t.handle, address(&t.data[0]), uintptr(len(t.data)), address(&m.Pix[0]),
		uintptr(info.Width), uintptr(m.Stride), uintptr(height), pixelFormat(info), flagAccurateDCT|flagLimitScans))
	if height < info.Height && result != 0 && t.leftOver(&m) {
		result = 0
	}
	err := t.finish(&m, result, info)
	return m, err
}

// Chroma is interpolated between rows of MCUs, so that the last rows of a lower image
// differ from those of the whole one: rowMargin is the height of the tallest MCU.
// leastSaved is how many rows make a copy of the file worth while.
const (
	rowMargin  = 32
	leastSaved = 16
)

// shorten gives a JPEG of one scan a lower height, in a copy, when the region ends early,
// and returns the height: the rows below are then not decoded.
func (t *turbo) shorten(info *Info, region image.Rectangle) (height int) {
	height = region.Max.Y + rowMargin
	at := info.frame
	if info.scans || info.Lossless || info.Arithmetic || height+leastSaved > info.Height ||
		at == 0 || at+2 > len(t.data) || int(binary.BigEndian.Uint16(t.data[at:])) != info.Height {
		return info.Height
	}
	t.copy = append(t.copy[:0], t.data...)
	binary.BigEndian.PutUint16(t.copy[at:], uint16(height))
	t.data = t.copy
	return height
}

// leftOver is whether all rows of a lower image are there and the library warns only of
// the rest of the scan, up to RST0 to RST7 or EOI. It keeps the first warning, so that one
// of those rows is not lost.
func (t *turbo) leftOver(m *Image) bool {
	reason, warning := t.reason()
	if !warning || t.untouched(m) {
		return false
	}
	_, marker, ok := strings.Cut(reason, " extraneous bytes before marker 0xd")
	return ok && len(marker) == 1 && marker[0] >= '0' && marker[0] <= '9' && marker[0] != '8'
}

// margin is how far beyond a region is decoded: the interpolation of chroma takes the
// edge of what is decoded for that of the image, which reaches a chroma sample or two
// pixels in.
const margin = 2

// mcuWidths are tjMCUWidth of turbojpeg.h, by TJSAMP: 4:4:4, 4:2:2, 4:2:0, grey, 4:4:0,
// 4:1:1, 4:4:1.
var mcuWidths = [...]int{8, 16, 16, 8, 8, 32, 8}

// decode3 decodes region and a margin by TurboJPEG 3.x. It still decodes the entropy of
// all rows down to the region's last, but of those alone.
func (t *turbo) decode3(info *Info, region image.Rectangle) (Image, error) {
	if int32(t.call("tj3DecompressHeader", t.handle, address(&t.data[0]), uintptr(len(t.data)))) != 0 {
		if s, warning := t.message(); !warning {
			return Image{}, fmt.Errorf("JPEG: %s", s)
		}
	}
	if err := checkSize(info, info.Height, t.get(parameterWidth), t.get(parameterHeight)); err != nil {
		return Image{}, err
	}
	window := t.window(info, region)
	if !t.setRegion(window, info) {
		return Image{}, t.failure()
	}
	m := t.target(info, window)
	result := int32(t.call("tj3Decompress8", t.handle, address(&t.data[0]), uintptr(len(t.data)),
		address(&m.Pix[0]), uintptr(m.Stride), pixelFormat(info)))
	err := t.finish(&m, result, info)
	return m, err
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

func (t *turbo) get(parameter uintptr) int { return int(int32(t.call("tj3Get", t.handle, parameter))) }

// set sets a parameter. A version that does not know it has nothing to be set.
func (t *turbo) set(parameter uintptr, value int) {
	t.call("tj3Set", t.handle, parameter, uintptr(value))
}

// setRegion sets what is decoded; all is four zeros. The structure of four int is passed
// in two registers (System V, AAPCS64), or by a pointer (Windows on amd64).
func (t *turbo) setRegion(w image.Rectangle, info *Info) bool {
	t.crop = [4]int32{}
	if w.Dx() != info.Width || w.Dy() != info.Height {
		t.crop = [4]int32{int32(w.Min.X), int32(w.Min.Y), int32(w.Dx()), int32(w.Dy())}
	}
	if runtime.GOOS == "windows" && runtime.GOARCH == "amd64" {
		return int32(t.call("tj3SetCroppingRegion", t.handle, address(&t.crop[0]))) == 0
	}
	pair := func(at int) uintptr { return uintptr(uint64(uint32(t.crop[at])) | uint64(uint32(t.crop[at+1]))<<32) }
	return int32(t.call("tj3SetCroppingRegion", t.handle, pair(0), pair(2))) == 0
}
