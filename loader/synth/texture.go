package synth

// side is the width and height of a texture, which wraps around at both ends.
const (
	sideBits = 10
	side     = 1 << sideBits
	wrap     = side - 1
)

// texture is noise: a sum of octaves, each a lattice of random values, smoothly
// interpolated. Octaves of equal variance make the power fall with the square of
// the frequency, as it does in photographs.
type texture struct {
	pix []int8 // side x side
}

// octave is noise with one random value every 1<<bits pixels.
type octave struct {
	bits   int
	weight int32 // in 256ths
}

// newTexture sums octaves. All of it is integer arithmetic.
func newTexture(r *random, octaves []octave) *texture {
	sum := make([]int32, side*side)
	for _, o := range octaves {
		addOctave(sum, r, o)
	}
	t := &texture{make([]int8, side*side)}
	for i, v := range sum {
		t.pix[i] = int8(min(max(v>>8, -128), 127))
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
func (t *texture) row(y int) *[side]int8 { return (*[side]int8)(t.pix[(y&wrap)*side:]) }

// coarse and fine octaves of textures.
var (
	coarseOctaves = []octave{{8, 110}, {7, 110}, {6, 110}, {5, 110}, {4, 110}}
	fineOctaves   = []octave{{3, 85}, {2, 95}, {1, 110}, {0, 110}}
)
