package decode

import (
	"errors"
	"fmt"
	"image"
	"runtime"
	"strings"
	"unsafe"
)

// Values of turbojpeg.h.
const (
	formatRGBX = 2  // TJPF_RGBX
	formatCMYK = 11 // TJPF_CMYK

	flagAccurateDCT = 4096  // TJFLAG_ACCURATEDCT
	flagLimitScans  = 32768 // TJFLAG_LIMITSCANS, at 500

	initDecompress = 1 // TJINIT_DECOMPRESS

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
	lib    *library
	limits Limits
	others *goDecoder
	pixels pixels
	handle uintptr

	// Of the call in progress. What the library reads and writes by pointer is in here or
	// held from here.
	data []byte
	copy []byte // of data, with a lower height
	args [9]uintptr
	out  [4]int32 // width, height, and what is not used
	crop [4]int32 // x, y, width, height
}

func newTurbo(lib *library, l Limits) *turbo {
	return &turbo{lib: lib, limits: l, others: newGoDecoder(l)}
}

func (t *turbo) Kind() string { return Turbo }

func (t *turbo) Close() error {
	t.discard()
	t.pixels = pixels{}
	return t.others.Close()
}

func (t *turbo) Decode(data []byte, info *Info, region image.Rectangle) (Image, error) {
	if info.Format != JPEG {
		return t.others.Decode(data, info, region)
	}
	region, err := t.limits.check(data, info, region)
	if err != nil {
		return Image{}, err
	}
	if len(data) == 0 {
		return Image{}, errEmpty
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
	m, err := t.decode(info, region)
	t.data = nil
	if err != nil {
		t.discard()
		return Image{}, err
	}
	if m.Damage != "" {
		t.discard()
	}
	return m, nil
}

func (t *turbo) decode(info *Info, region image.Rectangle) (Image, error) {
	if t.lib.API == 3 {
		return t.decode3(info, region)
	}
	return t.decode2(info, region)
}

func (t *turbo) create() error {
	if t.lib.API == 3 {
		t.args[0] = initDecompress
		t.handle = t.call(tj3Init, 1)
	} else {
		t.handle = t.call(tjInitDecompress, 0)
	}
	if t.handle == 0 {
		return errors.New("libjpeg-turbo: no memory for a decoder")
	}
	if t.lib.API == 3 {
		t.set(parameterScanLimit, t.limits.Scans)
		t.set(parameterSaveMarkers, 0) // no copy of a colour profile
	}
	return nil
}

// discard throws the handle away.
func (t *turbo) discard() {
	if t.handle == 0 {
		return
	}
	t.args[0] = t.handle
	if t.lib.API == 3 {
		t.call(tj3Destroy, 1)
	} else {
		t.call(tjDestroy, 1)
	}
	t.handle = 0
}

// reason is the library's own text of why the last call failed, until the next call, and
// whether that is a warning only.
func (t *turbo) reason() ([]byte, bool) {
	code, str := tjGetErrorCode, tjGetErrorStr2
	if t.lib.API == 3 {
		code, str = tj3GetErrorCode, tj3GetErrorStr
	}
	t.args[0] = t.handle
	warning := int32(t.call(code, 1)) == codeWarning
	t.args[0] = t.handle
	return text(t.call(str, 1)), warning
}

// message is reason for a reader.
func (t *turbo) message() (string, bool) {
	b, warning := t.reason()
	s := string(b)
	if function, reason, ok := strings.Cut(s, "(): "); ok && strings.HasPrefix(function, "tj") {
		s = reason // "tjDecompress2(): ..."
	}
	if s == "" {
		s = "no reason given"
	}
	return strings.ReplaceAll(s, "\n", " "), warning
}

// failure is the library's last message as an error.
func (t *turbo) failure() error {
	s, _ := t.message()
	return fmt.Errorf("JPEG: %s", s)
}

// target is memory for the window of the image. Its last row is marked, for finish.
func (t *turbo) target(info *Info, window image.Rectangle) Image {
	stride := window.Dx() * 4
	pix := t.pixels.sized(stride * window.Dy())
	for i := range pix[len(pix)-stride:] {
		pix[len(pix)-stride+i] = unwritten
	}
	return Image{Pix: pix, Stride: stride, Window: window, Converted: info.converted()}
}

// noEnd is libjpeg's warning (JWRN_JPEG_EOF).
const noEnd = "Premature end of JPEG file"

// unwritten marks the last row. R, G, B and 255 for the fourth byte is never all this.
const unwritten = 0x5a

// finish judges a call that decoded into m. The library calls a failure after a warning
// a warning, too; there the last row is still as it was.
func (t *turbo) finish(m *Image, result int32, info *Info) error {
	if result != 0 {
		s, warning := t.message()
		if !warning || t.untouched(m) {
			return fmt.Errorf("JPEG: %s", s)
		}
		m.Damage = s
	}
	if pixelFormat(info) == formatCMYK {
		invertedCMYKRow(m.Pix)
	}
	return nil
}

func (t *turbo) untouched(m *Image) bool {
	for _, v := range m.Pix[len(m.Pix)-m.Stride:] {
		if v != unwritten {
			return false
		}
	}
	return true
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
func (t *turbo) checkSize(info *Info, height, sawWidth, sawHeight int) error {
	if sawWidth != info.Width || sawHeight != height {
		return fmt.Errorf("JPEG: %d x %d by the header, %d x %d for libjpeg-turbo", info.Width, height, sawWidth, sawHeight)
	}
	return nil
}

func address[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }
