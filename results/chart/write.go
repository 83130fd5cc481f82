package chart

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image"
	"image/png"
	"io"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Widths in pixels. Figures are laid out for layoutWidth, in which letters are at least 11
// pixels high, and drawn enlarged to pictureWidth.
const (
	layoutWidth  = 800
	pictureWidth = 1000
)

// maxHeight bounds a picture, in pixels of a layoutWidth picture: what a report
// holds must not decide how much memory its chart takes.
const maxHeight = 8000

// px is a pixel of a picture that is layoutWidth wide; SVG and PNG have 96 an inch.
const px = vg.Inch / 96

// size returns the width and height of the layout.
func (f *figure) size() (w, h vg.Length, err error) {
	w = layoutWidth * px
	h = f.height(w)
	if h > maxHeight*px {
		return 0, 0, fmt.Errorf("%.0f pixels high: more data than one picture can show", float64(h/px))
	}
	return w, h, nil
}

// writePNG draws f as a PNG. Letters are drawn at the picture's own resolution.
func (f *figure) writePNG(w io.Writer) error {
	_, h, err := f.size()
	if err != nil {
		return err
	}
	const dpi = 96 * pictureWidth / layoutWidth
	height := int(h.Dots(dpi) + 0.5)
	c := vgimg.NewWith(vgimg.UseImage(image.NewRGBA(image.Rect(0, 0, pictureWidth, height))), vgimg.UseDPI(dpi))
	f.draw(draw.New(raster{c}))
	return (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(w, c.Image())
}

// raster draws text with the kerning for which it was laid out: the face that
// vgimg draws with scales kerning by the font's units instead of its size, which
// at 11 pixels closes the gap before an A.
type raster struct{ *vgimg.Canvas }

// FillString implements vg.Canvas. It draws s in parts, cut where letters are
// kerned, and a box for what the font lacks, which would be a blank.
func (c raster) FillString(f font.Face, pt vg.Point, s string) {
	s = strings.Map(func(r rune) rune {
		if lacks(f, r) {
			return '□'
		}
		return r
	}, s)
	start, prev := 0, ""
	for i, r := range s {
		if prev != "" && f.Width(prev+string(r)) != f.Width(prev)+f.Width(string(r)) {
			c.fill(f, pt, s, start, i)
			start = i
		}
		prev = string(r)
	}
	c.fill(f, pt, s, start, len(s))
}

// fill draws s[start:end] where it stands in s.
func (c raster) fill(f font.Face, pt vg.Point, s string, start, end int) {
	pt.X += f.Width(s[:end]) - f.Width(s[start:end])
	c.Canvas.FillString(f, pt, s[start:end])
}

// fontFamily replaces the one family that vgsvg names. Arial and Helvetica have
// the same letter widths as Liberation Sans, so the layout holds without it.
var fontFamily = [2][]byte{
	[]byte("font-family:Liberation Sans;"),
	[]byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;"),
}

// writeSVG draws f as an SVG document, which refers to nothing outside of itself.
func (f *figure) writeSVG(w io.Writer) error {
	lw, lh, err := f.size()
	if err != nil {
		return err
	}
	c := vgsvg.New(lw, lh)
	f.draw(draw.New(c))
	var doc bytes.Buffer
	if _, err := c.WriteTo(&doc); err != nil {
		return err
	}
	// vgsvg's own element gives the size in points and has no title.
	_, body, ok := bytes.Cut(doc.Bytes(), []byte("xlink\">\n"))
	if !ok {
		return fmt.Errorf("no svg element at the start of the drawing")
	}
	body = bytes.ReplaceAll(body, fontFamily[0], fontFamily[1])
	var title bytes.Buffer
	if err := xml.EscapeText(&title, []byte(f.title)); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%.0f" viewBox="0 0 %.5g %.5g" role="img">
<title>%s</title>
%s`, pictureWidth, lh.Points()/lw.Points()*pictureWidth, lw.Points(), lh.Points(), title.Bytes(), body)
	return err
}
