package decode

import (
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"io"
)

// pnm is a file of Netpbm's formats P1 to P6, as far as its raster.
type pnm struct {
	kind                    byte // '1' to '6'
	width, height, channels int
	most                    int // value of a sample
	raster                  pnmText
}

const mostSide = 1 << 30

var (
	errNumber = errors.New("a number is missing")
	errValue  = errors.New("a value that is too large")
)

func parsePNM(data []byte) (p pnm, err error) {
	if !isPNM(data) {
		return p, errUnknown
	}
	p.kind, p.channels, p.most = data[1], 1, 1
	if p.kind == '3' || p.kind == '6' {
		p.channels = 3
	}
	text := pnmText(data[2:])
	for _, n := range []*int{&p.width, &p.height, &p.most} {
		if n == &p.most && p.bits() {
			break
		}
		if *n, err = text.number(mostSide, false); err != nil {
			return p, err
		}
	}
	if p.most < 1 || p.most > 65535 {
		return p, errors.New("a largest value that is not 1 to 65535")
	}
	if len(text) == 0 {
		return p, io.ErrUnexpectedEOF
	}
	if !isSpace(text[0]) {
		return p, errNumber
	}
	p.raster = text[1:]
	return p, nil
}

// bits says that samples are bits, 1 for black.
func (p *pnm) bits() bool { return p.kind == '1' || p.kind == '4' }

func configPNM(data []byte) (image.Config, error) {
	p, err := parsePNM(data)
	models := []color.Model{color.GrayModel, color.Gray16Model}
	if p.channels == 3 {
		models = []color.Model{color.RGBAModel, color.RGBA64Model}
	}
	if p.most > 255 {
		models = models[1:]
	}
	return image.Config{Width: p.width, Height: p.height, ColorModel: models[0]}, err
}

func decodePNM(data []byte) (image.Image, error) {
	p, err := parsePNM(data)
	if err != nil {
		return nil, err
	}
	if int64(len(p.raster)) < int64(p.height)*p.rowBytes() { // before anything is allocated
		return nil, io.ErrUnexpectedEOF
	}
	m := image.NewRGBA(image.Rect(0, 0, p.width, p.height))
	for i := range p.width * p.height {
		pixel := m.Pix[4*i:][:4]
		for c := range p.channels {
			if pixel[c], err = p.sample(i*p.channels + c); err != nil {
				return nil, err
			}
		}
		if p.channels == 1 {
			pixel[1], pixel[2] = pixel[0], pixel[0]
		}
		pixel[3] = 255
	}
	return m, nil
}

// rowBytes is what a row takes; as text, at least.
func (p *pnm) rowBytes() int64 {
	n := int64(p.width) * int64(p.channels)
	switch {
	case p.kind == '4':
		return (n + 7) / 8
	case p.kind > '4' && p.most > 255:
		return 2 * n
	}
	return n
}

// sample is sample i, which as text is the next one, in 8 bits by the largest value that
// it can have.
func (p *pnm) sample(i int) (_ byte, err error) {
	var v int
	switch {
	case p.kind < '4':
		v, err = p.raster.number(p.most, p.bits())
	case p.kind == '4':
		x, y := i%p.width, i/p.width
		v = int(p.raster[y*int(p.rowBytes())+x/8]) >> (7 - x%8) & 1
	case p.most > 255:
		v = int(binary.BigEndian.Uint16(p.raster[2*i:]))
	default:
		v = int(p.raster[i])
	}
	if p.bits() {
		v = 1 - v
	}
	return byte((min(v, p.most)*255 + p.most/2) / p.most), err
}

// pnmText is numbers with white space and comments between them.
type pnmText []byte

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// number is the next one, of one digit where digits need no space between them.
func (t *pnmText) number(most int, digit bool) (n int, err error) {
	s, comment := *t, false
	for len(s) > 0 && (comment || isSpace(s[0]) || s[0] == '#') {
		comment = (comment || s[0] == '#') && s[0] != '\n' && s[0] != '\r'
		s = s[1:]
	}
	if len(s) == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	*t = s
	for len(s) > 0 && s[0] >= '0' && s[0] <= '9' && !(digit && len(s) < len(*t)) {
		if n = 10*n + int(s[0]-'0'); n > most {
			return 0, errValue
		}
		s = s[1:]
	}
	if len(s) == len(*t) {
		return 0, errNumber
	}
	*t = s
	return n, nil
}
