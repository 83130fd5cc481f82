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
	kind          byte // '1' to '6'
	width, height int
	most          int // value of a sample
	raster        pnmText
}

// mostSide bounds the sides of an image.
const mostSide = 1 << 30

var (
	errNumber = errors.New("a number is missing")
	errValue  = errors.New("a value that is too large")
)

// parsePNM reads the header.
func parsePNM(data []byte) (p pnm, err error) {
	if !isPNM(data) {
		return p, errUnknown
	}
	p.kind, p.most = data[1], 1
	text := pnmText(data[2:])
	for _, n := range []*int{&p.width, &p.height, &p.most} {
		if n == &p.most && p.bits() {
			break
		}
		if *n, err = text.number(mostSide); err != nil {
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

// channels are 3 of P3 and P6.
func (p *pnm) channels() int {
	if p.kind == '3' || p.kind == '6' {
		return 3
	}
	return 1
}

func configPNM(data []byte) (image.Config, error) {
	p, err := parsePNM(data)
	c := image.Config{Width: p.width, Height: p.height, ColorModel: color.GrayModel}
	switch {
	case p.channels() == 3 && p.most > 255:
		c.ColorModel = color.RGBA64Model
	case p.channels() == 3:
		c.ColorModel = color.RGBAModel
	case p.most > 255:
		c.ColorModel = color.Gray16Model
	}
	return c, err
}

// decodePNM makes 8 bits of the samples, by the largest value that they can have.
func decodePNM(data []byte) (image.Image, error) {
	p, err := parsePNM(data)
	if err != nil {
		return nil, err
	}
	if int64(len(p.raster)) < p.least() { // before anything is allocated
		return nil, io.ErrUnexpectedEOF
	}
	samples := make([]byte, p.width*p.height*p.channels())
	switch {
	case p.kind == '4':
		p.unpack(samples)
	case p.kind > '4':
		p.raw(samples)
	default:
		err = p.ascii(samples)
	}
	bounds := image.Rect(0, 0, p.width, p.height)
	if p.channels() == 1 {
		return &image.Gray{Pix: samples, Stride: p.width, Rect: bounds}, err
	}
	m := image.NewRGBA(bounds)
	for i := range p.width * p.height {
		copy(m.Pix[4*i:], samples[3*i:3*i+3])
		m.Pix[4*i+3] = 255
	}
	return m, err
}

// least is the bytes that the raster takes at least.
func (p *pnm) least() int64 {
	n := int64(p.width) * int64(p.height) * int64(p.channels())
	switch {
	case p.kind == '1':
		return n // bits need no space between them
	case p.kind < '4':
		return 2*n - 1
	case p.kind == '4':
		return int64(p.height) * ((int64(p.width) + 7) / 8)
	case p.most > 255:
		return 2 * n
	}
	return n
}

func (p *pnm) scaled(v int) byte { return byte((min(v, p.most)*255 + p.most/2) / p.most) }

func (p *pnm) unpack(samples []byte) {
	row := (p.width + 7) / 8
	for i := range samples {
		x, y := i%p.width, i/p.width
		samples[i] = p.raster[y*row+x/8]>>(7-x%8)&1 - 1 // 1 is black
	}
}

func (p *pnm) raw(samples []byte) {
	if p.most > 255 {
		for i := range samples {
			samples[i] = p.scaled(int(binary.BigEndian.Uint16(p.raster[2*i:])))
		}
		return
	}
	var table [256]byte
	for v := range table {
		table[v] = p.scaled(v)
	}
	for i, v := range p.raster[:len(samples)] {
		samples[i] = table[v]
	}
}

func (p *pnm) ascii(samples []byte) error {
	for i := range samples {
		if p.kind == '1' {
			bit, err := p.raster.bit()
			if err != nil {
				return err
			}
			samples[i] = bit - 1
			continue
		}
		v, err := p.raster.number(p.most)
		if err != nil {
			return err
		}
		samples[i] = p.scaled(v)
	}
	return nil
}

// pnmText is numbers with white space and comments between them.
type pnmText []byte

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// skip passes over white space and comments.
func (t *pnmText) skip() error {
	s, comment := *t, false
	for len(s) > 0 && (comment || isSpace(s[0]) || s[0] == '#') {
		comment = (comment || s[0] == '#') && s[0] != '\n' && s[0] != '\r'
		s = s[1:]
	}
	*t = s
	if len(s) == 0 {
		return io.ErrUnexpectedEOF
	}
	return nil
}

func (t *pnmText) number(most int) (n int, err error) {
	if err := t.skip(); err != nil {
		return 0, err
	}
	s := *t
	for len(s) > 0 && s[0] >= '0' && s[0] <= '9' {
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

func (t *pnmText) bit() (byte, error) {
	if err := t.skip(); err != nil {
		return 0, err
	}
	c := (*t)[0]
	if c != '0' && c != '1' {
		return 0, errNumber
	}
	*t = (*t)[1:]
	return c - '0', nil
}
