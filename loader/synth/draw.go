package synth

import (
	"bytes"
	"image"
	"image/draw"
	"image/jpeg"
	"math/bits"
	"math/rand/v2"
	"slices"

	"dlbench/loader/decode"
	"dlbench/loader/transform"
)

// Version is the version of what is generated: images of one version, seed and
// index are equal.
const Version = 1

// Streams of random numbers of one seed; images use their index.
const (
	streamCoarse = 1<<63 + iota
	streamFine
)

// generator makes the images of a seed. It is safe for several goroutines.
type generator struct {
	seed         uint64
	coarse, fine texture
}

// newGenerator returns the generator of a seed. Its textures take a tenth of a second.
func newGenerator(seed uint64) *generator {
	return &generator{
		seed:   seed,
		coarse: newTexture(newRandom(seed, streamCoarse), coarseOctaves),
		fine:   newTexture(newRandom(seed, streamFine), fineOctaves),
	}
}

// sizes of images, in pixels, in the mix of a set of photographs scaled to 500 on
// the longer side, of which some are not.
var sizes = []struct{ w, h, share int }{
	{500, 375, 34},
	{375, 500, 8},
	{500, 333, 10},
	{333, 500, 3},
	{500, 334, 2},
	{500, 400, 1},
	{400, 300, 1},
	{500, 500, 1},
	{320, 240, 1},
	{640, 480, 2},
	{800, 600, 1},
}

const MostPixels = 800 * 600

const sizeShares = 64 // the sum of all

// canvas is what a goroutine draws on, one image after the other.
type canvas struct {
	img     *image.YCbCr
	quality int
	alpha   []int32 // of one row
	pixels  []byte
}

// draw makes the picture of an index: a background and, over it, leaves from large
// to small whose number grows with the inverse square of their size. Such dead
// leaves have the edges and the spectrum of photographs.
func (g *generator) draw(c *canvas, index int) {
	r := newRandom(g.seed, uint64(index))
	w, h := pickSize(r)
	if size := image.Rect(0, 0, w, h); c.img == nil || c.img.Rect != size {
		c.img, c.alpha = image.NewYCbCr(size, image.YCbCrSubsampleRatio420), make([]int32, w)
	}
	c.quality = qualities[r.below(len(qualities))]
	a := appearance{
		luma: r.between(80, 150), spread: r.between(16, 54),
		cb: r.between(-14, 14), cr: r.between(-14, 14), colour: r.between(4, 24),
		coarse: r.between(40, 140), fine: r.between(80, 360), cover: r.between(16, 72),
	}
	background := a.layer(r, w, h)
	background.whole = true
	g.paint(c, background)
	for radius := max(w, h) / 2; radius >= 6; radius = radius * 5 / 7 {
		// Leaves of each size cover cover/256 of the picture.
		n := w * h * a.cover / 256 / (3 * radius * radius)
		for range n + r.below(2) {
			l := a.layer(r, w, h)
			l.place(r, w, h, radius)
			g.paint(c, l)
		}
	}
}

var qualities = []int{92, 93, 94, 94, 95, 95, 96, 96}

func pickSize(r *random) (w, h int) {
	n, i := r.below(sizeShares), 0
	for n >= sizes[i].share {
		n -= sizes[i].share
		i++
	}
	return sizes[i].w, sizes[i].h
}

// appearance is what the layers of one picture have in common.
type appearance struct {
	luma, spread   int // mean, and how far a layer may be from it
	cb, cr, colour int
	coarse, fine   int // greatest weights of texture, in 256ths
	cover          int
}

func (a appearance) layer(r *random, w, h int) layer {
	l := layer{
		luma: a.luma + r.between(-a.spread, a.spread),
		cb:   128 + a.cb + r.between(-a.colour, a.colour),
		cr:   128 + a.cr + r.between(-a.colour, a.colour),
		gx:   r.between(-30, 30) * 256 / w,
		gy:   r.between(-30, 30) * 256 / h,
		// The lesser of two draws: most layers are smooth, a few are rough.
		coarse: min(r.between(10, a.coarse), r.between(10, a.coarse)),
		fine:   min(r.between(28, a.fine), r.between(28, a.fine)),
		ox:     r.below(side), oy: r.below(side), step: 1,
	}
	if r.below(2) == 0 {
		l.step = -1
	}
	return l
}

func (c *canvas) encode(buf []byte) []byte {
	out := bytes.NewBuffer(buf[:0])
	jpeg.Encode(out, c.img, &jpeg.Options{Quality: c.quality}) // neither a size nor a write can fail
	return out.Bytes()
}

// rgb is the picture as a decoder gives it, valid until the next call.
func (c *canvas) rgb() decode.Image {
	m := &image.RGBA{Stride: 4 * c.img.Rect.Dx(), Rect: c.img.Rect}
	c.pixels = slices.Grow(c.pixels[:0], m.Stride*m.Rect.Dy()+decode.Padding)
	m.Pix = c.pixels[:m.Stride*m.Rect.Dy()]
	draw.Draw(m, m.Rect, c.img, image.Point{}, draw.Src)
	return decode.Image{Pix: m.Pix, Stride: m.Stride, Window: m.Rect}
}

// layer is a background or a leaf: a colour that changes linearly, with textures,
// inside an outline.
type layer struct {
	luma, cb, cr int
	gx, gy       int // change of luma a pixel, in 256ths
	coarse, fine int // weights of the textures, in 256ths
	ox, oy, step int // where in the textures, and whether mirrored

	whole          bool // no outline: everywhere
	cx, cy, reach  int  // centre; nothing is farther from it than reach
	ux, uy, vx, vy int  // a pixel in units of the two radii; 1<<20 is one
	box            bool // a rectangle; otherwise an ellipse
	ragged         int  // how far the coarse texture moves the outline
	sharp          int  // growth of alpha inwards
}

// rotations are cosine and sine of 0 to 168.75 degrees, in 256ths.
var rotations = [16][2]int{
	{256, 0}, {251, 50}, {237, 98}, {213, 142}, {181, 181}, {142, 213}, {98, 237}, {50, 251},
	{0, 256}, {-50, 251}, {-98, 237}, {-142, 213}, {-181, 181}, {-213, 142}, {-237, 98}, {-251, 50},
}

// place gives a layer an outline of about a radius, anywhere.
func (l *layer) place(r *random, w, h, radius int) {
	l.cx, l.cy = r.below(w), r.below(h)
	a := max(2, radius*r.between(60, 140)/100)
	b := max(2, radius*r.between(40, 120)/100)
	turn := rotations[r.below(len(rotations))]
	l.ux, l.uy = turn[0]<<12/a, turn[1]<<12/a
	l.vx, l.vy = -turn[1]<<12/b, turn[0]<<12/b
	l.box = r.below(4) == 0
	l.reach = max(a, b) + 2
	if l.box {
		l.reach = l.reach * 3 / 2
	}
	l.ragged = r.below(12)
	// One pixel wide mostly, out of focus sometimes.
	soft := 1
	if r.below(4) == 0 {
		soft = r.between(2, 2+radius/6)
	}
	l.sharp = max(1, min(a, b)*8/soft)
}

// paint draws a layer over what is there. Luma is drawn for every pixel, and
// chroma, under the alpha of its upper left pixel, for every other.
func (g *generator) paint(c *canvas, l layer) {
	w, h := c.img.Rect.Dx(), c.img.Rect.Dy()
	x0, y0, x1, y1 := 0, 0, w, h
	if !l.whole {
		x0, y0 = max(0, l.cx-l.reach)&^1, max(0, l.cy-l.reach)
		x1, y1 = min(w, l.cx+l.reach+1), min(h, l.cy+l.reach+1)
	}
	alpha := c.alpha[:x1-x0]
	for i := range alpha {
		alpha[i] = 256
	}
	for y := y0; y < y1; y++ {
		coarse, fine := g.coarse.row(y+l.oy), g.fine.row(y+l.oy)
		if !l.whole && !l.cover(alpha, coarse, x0, y) {
			continue
		}
		luma := c.img.Y[c.img.YOffset(x0, y):][:len(alpha)]
		base := l.luma<<8 + l.gy*(y-h/2) + l.gx*(x0-w/2)
		at := l.ox + l.step*x0
		for i, a := range alpha {
			if a > 0 {
				v := int32(base + l.coarse*int(coarse[at&wrap]) + l.fine*int(fine[at&wrap]))
				old := int32(luma[i])
				luma[i] = clamp(old + ((v-old<<8)*a+1<<15)>>16)
			}
			base += l.gx
			at += l.step
		}
		if y%2 == 0 {
			l.tint(c, alpha, g.coarse.row(y/2+l.oy+side/2), x0, y)
		}
	}
}

func (l *layer) tint(c *canvas, alpha []int32, coarse *[side]int8, x0, y int) {
	o := c.img.COffset(x0, y)
	cb, cr := c.img.Cb[o:], c.img.Cr[o:]
	for i := 0; i < len(alpha); i += 2 {
		a := alpha[i]
		if a == 0 {
			continue
		}
		t := int32(coarse[(l.ox+l.step*(x0+i)/2)&wrap]) >> 3
		j := i / 2
		cb[j] = clamp(int32(cb[j]) + ((int32(l.cb)+t-int32(cb[j]))*a+128)>>8)
		cr[j] = clamp(int32(cr[j]) + ((int32(l.cr)-t-int32(cr[j]))*a+128)>>8)
	}
}

// cover computes how much of each pixel of a row lies inside the outline, in
// 256ths, and whether any does.
func (l *layer) cover(alpha []int32, coarse *[side]int8, x0, y int) bool {
	u := l.ux*(x0-l.cx) + l.uy*(y-l.cy)
	v := l.vx*(x0-l.cx) + l.vy*(y-l.cy)
	at := l.ox + l.step*x0
	any := 0
	for i := range alpha {
		uu, vv := u>>8*(u>>8), v>>8*(v>>8)
		q := uu + vv
		if l.box {
			q = max(uu, vv)
		}
		// q is 1<<24 on the outline; half of its distance from that, times the radius, is
		// the distance in pixels.
		a := (4096-q>>12-l.ragged*int(coarse[at&wrap]))*l.sharp>>8 + 128
		a = min(max(a, 0), 256)
		alpha[i] = int32(a)
		any |= a
		u += l.ux
		v += l.vx
		at += l.step
	}
	return any > 0
}

func clamp(v int32) uint8 { return uint8(min(max(v, 0), 255)) }

// side is the width and height of a texture, which wraps around at both ends.
const (
	sideBits = 10
	side     = 1 << sideBits
	wrap     = side - 1
)

// texture is noise: a sum of octaves, each a lattice of random values, smoothly
// interpolated. Octaves of equal variance make the power fall with the square of
// the frequency, as it does in photographs.
type texture []int8 // side x side

// octave is noise with one random value every 1<<bits pixels.
type octave struct {
	bits   int
	weight int32 // in 256ths
}

func newTexture(r *random, octaves []octave) texture {
	sum := make([]int32, side*side)
	for _, o := range octaves {
		addOctave(sum, r, o)
	}
	t := make(texture, side*side)
	for i, v := range sum {
		t[i] = int8(min(max(v>>8, -128), 127))
	}
	return t
}

func addOctave(sum []int32, r *random, o octave) {
	cell := 1 << o.bits
	n := side >> o.bits
	lattice := make([]int32, n*n)
	for i := range lattice {
		// Two uniform draws: a triangular distribution, nearer to a bell than one.
		lattice[i] = int32(r.between(-64, 64)+r.between(-64, 64)) * o.weight
	}
	ease := make([]int32, cell) // 3t^2 - 2t^3 in 256ths
	for i := range ease {
		t := int64(i)
		c := int64(cell)
		ease[i] = int32(256 * t * t * (3*c - 2*t) / (c * c * c))
	}
	row := make([]int32, n) // the lattice between two of its rows
	for y := range side {
		top, bottom := lattice[y/cell*n:][:n], lattice[(y/cell+1)%n*n:][:n]
		e := ease[y%cell]
		for i := range row {
			row[i] = top[i] + (bottom[i]-top[i])*e>>8
		}
		out := sum[y*side:][:side]
		for i, a := range row {
			d := row[(i+1)%n] - a
			for j, e := range ease {
				out[i*cell+j] += a + d*e>>8
			}
		}
	}
}

// row returns a row of the texture, for offsets that wrap. An array's length is known
// to the compiler, which then checks no index that is masked with wrap.
func (t texture) row(y int) *[side]int8 { return (*[side]int8)(t[(y&wrap)*side:]) }

var (
	coarseOctaves = []octave{{8, 110}, {7, 110}, {6, 110}, {5, 110}, {4, 110}}
	fineOctaves   = []octave{{3, 85}, {2, 95}, {1, 110}, {0, 110}}
)

// random draws whole numbers. PCG's stream is fixed by its definition, and the
// methods here use nothing else, so that neither a machine nor a Go release
// changes what is drawn.
type random struct{ pcg rand.PCG }

func newRandom(seed, stream uint64) *random {
	r := new(random)
	r.pcg.Seed(seed, transform.Mix(stream))
	return r
}

// below returns 0 to n-1; its bias, n/2^64, is nothing here.
func (r *random) below(n int) int {
	hi, _ := bits.Mul64(r.pcg.Uint64(), uint64(n))
	return int(hi)
}

func (r *random) between(lo, hi int) int { return lo + r.below(hi-lo+1) }
