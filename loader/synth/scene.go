package synth

import "image"

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

// MostPixels is how many pixels the largest image has.
const MostPixels = 800 * 600

var sizeShares = func() (n int) {
	for _, s := range sizes {
		n += s.share
	}
	return n
}()

// canvas is what a goroutine draws on.
type canvas struct {
	img     *image.YCbCr
	quality int
	alpha   []int32 // of one row
}

// resize makes the canvas w x h pixels, of which none are kept.
func (c *canvas) resize(w, h int) {
	if size := (image.Point{w, h}); c.img == nil || c.img.Rect.Max != size {
		c.img = image.NewYCbCr(image.Rectangle{Max: size}, image.YCbCrSubsampleRatio420)
		c.alpha = make([]int32, w)
	}
}

// draw makes the picture of an index: a background and, over it, leaves from large
// to small whose number grows with the inverse square of their size. Such dead
// leaves have the edges and the spectrum of photographs.
func (g *Generator) draw(index int) *canvas {
	g.textures()
	r := newRandom(g.seed, uint64(index))
	w, h := pickSize(r)
	c, _ := g.scratch.Get().(*canvas)
	if c == nil {
		c = new(canvas)
	}
	c.resize(w, h)
	c.quality = qualities[r.below(len(qualities))]
	look := newLook(r)
	background := look.layer(r, w, h)
	background.whole = true
	g.paint(c, background)
	for radius := max(w, h) / 2; radius >= 6; radius = radius * 5 / 7 {
		// Leaves of each size cover cover/256 of the picture.
		n := w * h * look.cover / 256 / (3 * radius * radius)
		for range n + r.below(2) {
			l := look.layer(r, w, h)
			l.place(r, w, h, radius)
			g.paint(c, l)
		}
	}
	return c
}

var qualities = []int{92, 93, 94, 94, 95, 95, 96, 96}

func pickSize(r *random) (w, h int) {
	n := r.below(sizeShares)
	for _, s := range sizes {
		if n -= s.share; n < 0 {
			return s.w, s.h
		}
	}
	panic("shares of sizes do not add up")
}

// look is what the layers of one picture have in common.
type look struct {
	luma, spread   int // mean, and how far a layer may be from it
	cb, cr, colour int
	coarse, fine   int // greatest weights of texture, in 256ths
	cover          int
}

func newLook(r *random) look {
	return look{
		luma: r.between(80, 150), spread: r.between(16, 54),
		cb: r.between(-14, 14), cr: r.between(-14, 14), colour: r.between(4, 24),
		coarse: r.between(40, 140), fine: r.between(80, 360), cover: r.between(16, 72),
	}
}

func (k look) layer(r *random, w, h int) layer {
	l := layer{
		luma: k.luma + r.between(-k.spread, k.spread),
		cb:   128 + k.cb + r.between(-k.colour, k.colour),
		cr:   128 + k.cr + r.between(-k.colour, k.colour),
		gx:   r.between(-30, 30) * 256 / w,
		gy:   r.between(-30, 30) * 256 / h,
		// The lesser of two draws: most layers are smooth, a few are rough.
		coarse: min(r.between(10, k.coarse), r.between(10, k.coarse)),
		fine:   min(r.between(28, k.fine), r.between(28, k.fine)),
		ox:     r.below(side), oy: r.below(side), step: 1,
	}
	if r.below(2) == 0 {
		l.step = -1
	}
	return l
}
