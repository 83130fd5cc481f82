package decode

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"regexp"
	"strings"
)

// goDecoder decodes with Go's standard library and golang.org/x/image, which allocate
// the image anew each time.
//
// Of JPEG, image/jpeg repeats each chroma sample instead of interpolating as libjpeg
// does ("fancy upsampling"), which a photograph of 4:2:0 shows as a mean difference of
// about one level. It decodes a destroyed middle without a word as long as the codes
// are valid, and refuses a file that ends within a scan; one that lacks no more than
// the end marker has Damage. It knows no arithmetic coding, no 12 bits and no CMYK
// without Adobe's segment.
type goDecoder struct {
	limits limits
	room
}

func (d *goDecoder) Kind() string { return Go }

func (d *goDecoder) Decode(data []byte, info *Info, region image.Rectangle) (Image, error) {
	region, err := d.limits.check(data, info, region)
	if err != nil {
		return Image{}, err
	}
	d.Release()
	if err := d.take(info.memory(false, data, region), info); err != nil {
		return Image{}, err
	}
	m, damage, err := decodeByGo(data, info.Format)
	if err != nil {
		return Image{}, err
	}
	full := image.Rect(0, 0, info.Width, info.Height)
	framed := info.Format == GIF || info.Format == WebP
	if b := m.Bounds(); b != full && !(framed && b.In(full)) {
		return Image{}, fmt.Errorf("%s: %d x %d by the header, %d x %d decoded",
			codecs[info.Format].title, info.Width, info.Height, b.Dx(), b.Dy())
	}
	stride := region.Dx() * 4
	pix := d.sized(stride * region.Dy())
	inside := region.Intersect(m.Bounds())
	if inside != region {
		clear(pix) // the first frame of an animation can be smaller
	}
	if !inside.Empty() {
		at := (inside.Min.Y-region.Min.Y)*stride + (inside.Min.X-region.Min.X)*4
		convert(pix[at:], stride, m, inside)
	}
	return Image{Pix: pix, Stride: stride, Window: region, Damage: damage, Converted: info.converted()}, nil
}

func decodeByGo(data []byte, format string) (m image.Image, damage string, err error) {
	defer recovered(&err)
	m, err = codecs[format].decode(data)
	if errors.Is(err, errNoEnd) {
		damage, err = errNoEnd.Error(), nil
	}
	if err != nil {
		return nil, "", said(format, data, err)
	}
	return m, damage, nil
}

// errNoEnd says that a JPEG lacks its end marker and was decoded nevertheless.
var errNoEnd = errors.New("no end marker")

// decodeJPEG reads an end marker behind the data if they have none.
func decodeJPEG(data []byte) (image.Image, error) {
	end := bytes.NewReader(endOfImage)
	m, err := jpeg.Decode(io.MultiReader(bytes.NewReader(data), end))
	missing := end.Len() == 0
	switch {
	case missing && err != nil:
		err = io.ErrUnexpectedEOF
	case missing:
		err = errNoEnd
	}
	return m, err
}

// said is a decoder's error in the words of this package, or an *Unsupported where the file
// has a feature that it does not know.
func said(format string, data []byte, err error) error {
	title := codecs[format].title
	if feature := featureOf(format, data, err); feature != "" {
		return &Unsupported{title, feature}
	}
	text := err.Error()
	// Of GIF, an error's text holds another's.
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) ||
		strings.HasSuffix(text, io.ErrUnexpectedEOF.Error()) {
		return fmt.Errorf("%s: the data end too early", title)
	}
	return fmt.Errorf("%s: %s", title, decoderPrefix.ReplaceAllString(text, ""))
}

// decoderPrefix is what decoders begin their errors with.
var decoderPrefix = regexp.MustCompile(
	`^(invalid JPEG format|unsupported JPEG feature|png|gif|bmp|webp|vp8l?|tiff): (invalid format: )?`)

// recovered makes an error of a decoder's panic. It lets through what the runtime throws
// for want of memory, which cannot be recovered from.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("decoder panicked: %v", p)
	}
}
