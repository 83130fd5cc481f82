// Package decode turns the bytes of an image file into pixels: by libjpeg-turbo, opened
// at run time, where it is there, and by Go's decoders.
package decode

import (
	"errors"
	"fmt"
	"image"
	"slices"
	"strings"
	"time"
)

// Decoders that can be asked for.
const (
	Auto  = "auto"  // Turbo where the library is there, else Go
	Turbo = "turbo" // libjpeg-turbo through its TurboJPEG interface; Go's decoders for what is no JPEG
	Go    = "go"    // the decoders of Go's standard library and of golang.org/x/image
)

// Kinds are the decoders that can be asked for.
var Kinds = []string{Auto, Turbo, Go}

// ErrNoLibrary says that libjpeg-turbo cannot be used.
var ErrNoLibrary = errors.New("libjpeg-turbo cannot be used")

// Decoder decodes one image after the other into memory of its own. It is for one
// goroutine, on a locked OS thread.
type Decoder interface {
	// Kind is Turbo or Go.
	Kind() string
	// Decode decodes at least region, in pixels of the image that info, of Probe,
	// describes. The Image is valid until the next call. An error says that the file is
	// bad; one that was decoded with a warning has Damage instead. Steady decoding of
	// JPEG by Turbo allocates nothing.
	Decode(data []byte, info *Info, region image.Rectangle) (Image, error)
	// Release gives back the memory of the last Image where that is too large to be kept
	// for the next one. It is called after each Decode by those who share a Memory.
	Release()
	// Waited is how long decoding has waited for memory since Waited was last called. It
	// may be called from any goroutine.
	Waited() time.Duration
	Close() error
}

// Padding is how many bytes there are at least behind the last pixel of an Image, so that
// vector loads may run over it.
const Padding = 64

// Image is decoded pixels, in the order in which they are stored: an EXIF orientation is
// not applied, as torchvision does not.
type Image struct {
	Pix    []byte          // R, G, B and a byte without meaning for each pixel; cap is len + Padding at least
	Stride int             // bytes from one row to the next
	Window image.Rectangle // what of the image Pix holds: region or more

	// Damage is the decoder's warning: these pixels may be wrong. Bytes behind the end
	// marker of a JPEG are none. A destroyed middle shows by bytes that are left at the
	// end, if at all: Turbo does not decode what is below the region of a JPEG of one scan,
	// and Go does not look; both report that the end is missing.
	Damage string

	Converted string // from what: "gray", "cmyk", "16-bit", "alpha", "palette"; "" for plain RGB or YCbCr of 8 bits
}

// New is a decoder of one of Kinds that takes no more than m has room for. Turbo without the
// library is an error that wraps ErrNoLibrary and says what to install.
func (m *Memory) New(kind string) (Decoder, error) { return usual.decoder(kind, m) }

func (l limits) decoder(kind string, m *Memory) (Decoder, error) {
	d := &goDecoder{l, room{memory: m}}
	switch {
	case !slices.Contains(Kinds, kind):
		return nil, fmt.Errorf("unknown decoder %q: it is one of %s", kind, strings.Join(Kinds, ", "))
	case kind == Go:
		return d, nil
	}
	lib, err := Library()
	switch {
	case err == nil:
		return &turbo{goDecoder: d, lib: lib}, nil
	case kind == Auto:
		return d, nil
	}
	return nil, err
}
