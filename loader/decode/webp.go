package decode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"slices"

	"golang.org/x/image/webp"
)

// Sizes of WebP's container (RFC 9649), in bytes, and flags of its VP8X chunk.
const (
	riffHead    = 12
	chunkHead   = 8
	vp8xBytes   = 10
	frameHead   = 16
	hasAlpha    = 1 << 4
	isAnimation = 1 << 1
)

var errFrame = errors.New("webp: an animation without a frame that fits")

// chunks are those of a RIFF file, one behind the other.
type chunks []byte

func webpChunks(data []byte) chunks { return data[min(riffHead, len(data)):] }

// find is the first chunk of a name, as far as it is there, and what follows it; nil for none.
func (c chunks) find(name string) (body []byte, rest chunks) {
	for len(c) >= chunkHead {
		found, size := string(c[:4]), uint64(binary.LittleEndian.Uint32(c[4:]))
		c = c[chunkHead:]
		body, c = c[:min(size, uint64(len(c)))], c[min(size+size&1, uint64(len(c))):]
		if found == name {
			return body, c
		}
	}
	return nil, nil
}

// still is an image, or the first frame of an animation.
type still struct {
	file   []byte          // a WebP file of it alone
	canvas image.Rectangle // of an animation
	at     image.Point     // where on the canvas
}

func firstFrame(data []byte) (s still, err error) {
	vp8x, rest := webpChunks(data).find("VP8X")
	if len(vp8x) < vp8xBytes || vp8x[0]&isAnimation == 0 {
		return still{file: data}, nil
	}
	frame, _ := rest.find("ANMF")
	if len(frame) < frameHead {
		return s, errFrame
	}
	s.canvas = image.Rect(0, 0, 1+number24(vp8x[4:]), 1+number24(vp8x[7:]))
	s.at = image.Pt(2*number24(frame), 2*number24(frame[3:]))
	w, h := 1+number24(frame[6:]), 1+number24(frame[9:])
	if !image.Rect(0, 0, w, h).Add(s.at).In(s.canvas) {
		return s, errFrame
	}
	head := slices.Concat([]byte{0, 0, 0, 0}, frame[6:12])
	if alpha, _ := chunks(frame[frameHead:]).find("ALPH"); alpha != nil {
		head[0] = hasAlpha
	}
	s.file = slices.Concat([]byte("RIFF....WEBPVP8X\x0a\x00\x00\x00"), head, frame[frameHead:])
	binary.LittleEndian.PutUint32(s.file[4:], uint32(len(s.file)-chunkHead))
	return s, nil
}

func number24(p []byte) int { return int(p[0]) | int(p[1])<<8 | int(p[2])<<16 }

func configWebP(data []byte) (image.Config, error) {
	s, err := firstFrame(data)
	if err != nil {
		return image.Config{}, err
	}
	c, err := webp.DecodeConfig(bytes.NewReader(s.file))
	if !s.canvas.Empty() {
		c.Width, c.Height = s.canvas.Dx(), s.canvas.Dy()
	}
	return c, err
}

// decodeWebP is the image, or the first frame of an animation in its place on the canvas.
func decodeWebP(data []byte) (image.Image, error) {
	s, err := firstFrame(data)
	if err != nil {
		return nil, err
	}
	m, err := webp.Decode(bytes.NewReader(s.file))
	switch m := m.(type) {
	case *image.YCbCr:
		m.Rect = m.Rect.Add(s.at)
		return studio{m}, err
	case *image.NYCbCrA:
		m.Rect = m.Rect.Add(s.at)
		return studio{&m.YCbCr}, err
	case *image.NRGBA:
		m.Rect = m.Rect.Add(s.at)
	}
	return m, err
}
