// Package synth makes data sets of images that no one has to download: like
// photographs in what costs time (sizes, bytes, spectrum, edges), different for
// each seed and index, and the same on every machine.
package synth

import (
	"image"
	"sync"
)

// Version is the version of what is generated: images of one version, seed and
// index are equal.
const Version = 1

// Generator makes the images of a seed. It is safe for several goroutines.
type Generator struct {
	Classes int // of labels; 0 for DefaultClasses

	seed    uint64
	once    sync.Once // textures take a tenth of a second
	coarse  *texture
	fine    *texture
	scratch sync.Pool // *canvas
}

// DefaultClasses is the number of classes where none is given.
const DefaultClasses = 10

// New returns the generator of a seed.
func New(seed uint64) *Generator {
	return &Generator{seed: seed}
}

// Streams of random numbers of one seed; images use their index.
const (
	streamCoarse = 1<<63 + iota
	streamFine
)

func (g *Generator) textures() {
	g.once.Do(func() {
		g.coarse = newTexture(newRandom(g.seed, streamCoarse), coarseOctaves)
		g.fine = newTexture(newRandom(g.seed, streamFine), fineOctaves)
	})
}

// Label of an image: classes take turns.
func (g *Generator) Label(index int) int {
	if g.Classes > 0 {
		return index % g.Classes
	}
	return index % DefaultClasses
}

// JPEG encodes an image into buf[:0], which grows where it must, and returns its
// label beside it.
func (g *Generator) JPEG(index int, buf []byte) ([]byte, int) {
	c := g.draw(index)
	defer g.scratch.Put(c)
	return c.encode(buf), g.Label(index)
}

// Image returns the pixels of an image, as they are before JPEG compression.
func (g *Generator) Image(index int) *image.YCbCr {
	return g.draw(index).img
}
