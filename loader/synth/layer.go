package synth

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

// turns are cosine and sine of 0 to 168.75 degrees, in 256ths.
var turns = [16][2]int{
	{256, 0}, {251, 50}, {237, 98}, {213, 142}, {181, 181}, {142, 213}, {98, 237}, {50, 251},
	{0, 256}, {-50, 251}, {-98, 237}, {-142, 213}, {-181, 181}, {-213, 142}, {-237, 98}, {-251, 50},
}

// place gives a layer an outline of about a radius, anywhere.
func (l *layer) place(r *random, w, h, radius int) {
	l.cx, l.cy = r.below(w), r.below(h)
	a := max(2, radius*r.between(60, 140)/100)
	b := max(2, radius*r.between(40, 120)/100)
	turn := turns[r.below(len(turns))]
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
func (g *Generator) paint(c *canvas, l layer) {
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

// tint draws the chroma of a row.
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
