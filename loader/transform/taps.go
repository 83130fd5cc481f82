package transform

import "math"

// geometry is how one axis of a box is resampled, in pixels from its first.
type geometry struct {
	out       int // pixels of the sample
	size      int // of the box
	origin    int // of the box in the source's window
	antialias bool
	flip      bool
}

func (g *geometry) step() float64 { return float64(g.size) / float64(g.out) }

// support is how far the filter, a triangle, reaches from its centre.
func (g *geometry) support() float64 {
	if s := g.step(); g.antialias && s > 1 {
		return s
	}
	return 1
}

// span is the pixels from lo to before hi that the output centred on c takes in. Pillow's
// precompute_coeffs rounds so; both are always within the box, and lo below hi.
func (g *geometry) span(c, support float64) (lo, hi int) {
	if !g.antialias { // PyTorch and OpenCV repeat the pixel at the edge
		lo = int(max(c-0.5, 0))
		lo = min(lo, g.size-1)
		return lo, min(lo+2, g.size)
	}
	lo = min(max(int(c-support+0.5), 0), g.size-1)
	hi = min(int(c+support+0.5), g.size)
	return lo, max(hi, lo+1)
}

// axis is the taps of one axis: which pixels, in which shares, make each output.
type axis struct {
	taps    int       // room for those of an output
	longest int       // taps of the output with the most
	from    int       // first pixel of the window that any output takes in
	to      int       // behind the last
	first   []int32   // pixel of the window that the first tap of an output is
	count   []int32   // taps of an output
	weights []float32 // taps for each output
}

// build makes the taps for g.
func (a *axis) build(g geometry) {
	step, support := g.step(), g.support()
	a.taps = 2
	if g.antialias {
		a.taps = min(int(math.Ceil(support))*2+1, int(2*support)+1)
	}
	a.taps = min(a.taps, g.size)
	a.longest, a.from, a.to = 0, math.MaxInt, 0
	a.first, a.count = grown(a.first, g.out), grown(a.count, g.out)
	a.weights = grown(a.weights, g.out*a.taps)
	inverse := 1 / support
	for x := range g.out {
		c := float64((float64(x) + 0.5) * step) // not fused with what follows, as in Pillow
		lo, hi := g.span(c, support)
		hi = min(hi, lo+a.taps)
		a.longest, a.from, a.to = max(a.longest, hi-lo), min(a.from, g.origin+lo), max(a.to, g.origin+hi)
		at := x
		if g.flip {
			at = g.out - 1 - x
		}
		a.first[at], a.count[at] = int32(g.origin+lo), int32(hi-lo)
		w := a.weights[at*a.taps:][:a.taps]
		if g.antialias {
			triangle(w[:hi-lo], (float64(lo)-c+0.5)*inverse, inverse)
		} else {
			bilinear(w[:hi-lo], c-0.5-float64(lo))
		}
	}
}

// triangle fills w with a triangle of area 1, the first at t, each next one by step on.
func triangle(w []float32, t, step float64) {
	sum := 0.0
	for i := range w {
		v := max(1-math.Abs(t), 0)
		t += step
		w[i] = float32(v)
		sum += v
	}
	scale := float32(1 / sum)
	for i := range w {
		w[i] *= scale
	}
}

// bilinear fills w with the shares of the two pixels that an output lies between, at the
// distance right from the first; at the edge there is one.
func bilinear(w []float32, right float64) {
	if len(w) == 1 {
		w[0] = 1
		return
	}
	right = min(max(right, 0), 1)
	w[0], w[1] = float32(1-right), float32(right)
}

func (a *axis) of(at int) (first int, weights []float32) {
	return int(a.first[at]), a.weights[at*a.taps:][:a.count[at]]
}

func grown[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
