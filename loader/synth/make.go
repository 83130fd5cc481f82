package synth

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime"

	"dlbench/bench/theory"
	"dlbench/loader"
)

// Spec is a set that can be made.
type Spec struct {
	Store   string // loader.Files, Tar, Raw or Tensor
	Images  int
	Seed    uint64
	Classes int          // 0 for DefaultClasses; no more than Images are made
	Batch   theory.Batch // shape and type in raw and tensor stores; Images: in a record of a tensor store
	Layout  string       // nhwc, which is the default, or nchw
}

// Progress is called now and then with how many of how many images are done.
type Progress func(done, total int)

// Make makes a set in the folder dir, which must not hold anything yet. The set
// appears there when it is whole; nothing is left of it after an error or when ctx
// is done.
func Make(ctx context.Context, dir string, s Spec, progress Progress) (Info, error) {
	infos, err := makeAll(ctx, []string{dir}, []Spec{s}, progress, freeBytes)
	if err != nil {
		return Info{}, err
	}
	return infos[0], nil
}

// Check says what is wrong with s.
func (s Spec) Check() error {
	if s.Images < 1 || s.Classes < 0 {
		return fmt.Errorf("%d images in %d classes: want at least one of each", s.Images, s.Classes)
	}
	return checkStore(s.Store, s.Batch, s.layout())
}

func (s Spec) layout() string {
	if s.Layout == "" {
		return Layouts[0]
	}
	return s.Layout
}

func (s Spec) classes() int {
	if s.Classes == 0 {
		return min(DefaultClasses, s.Images)
	}
	return min(s.Classes, s.Images)
}

// meanJPEG is the mean size of generated files, in bytes, with some to spare.
const meanJPEG = 112_000

// makeAll makes several stores of the same images at once: the other fields of specs
// are the same.
func makeAll(ctx context.Context, dirs []string, specs []Spec, progress Progress, free func(string) (int64, bool)) (infos []Info, err error) {
	b := build{free: free, progress: progress}
	defer func() { err = errors.Join(err, b.discard()) }()
	first := specs[0]
	g := New(first.Seed)
	g.Classes = first.classes()
	drawn := drawing{g: g}
	for i, s := range specs {
		if err := s.Check(); err != nil {
			return nil, err
		}
		info := Info{Store: s.Store, Classes: g.Classes, Made: &Made{Version, s.Seed, runtime.Version()}}
		p := plan{s.Images, int64(s.Images) * meanJPEG, s.Batch, s.layout(), numbered(g.Classes)}
		if err := b.target(dirs[i], info, p); err != nil {
			return nil, err
		}
		if record := recordOf(s.Store, s.Batch, s.layout()); record != nil {
			drawn.record = record
		} else {
			drawn.images = true
		}
	}
	return b.run(ctx, first.Images, drawn.work)
}

// drawing is the work of drawing images, in the forms that are wanted.
type drawing struct {
	g       *Generator
	images  bool           // encoded
	record  *loader.Record // as tensors of this shape
	tensors *tensors
}

func (d drawing) work() (work, error) {
	if d.record != nil {
		d.tensors = newTensors(*d.record)
	}
	return d, nil
}

func (d drawing) make(s *sample) error {
	c := d.g.draw(s.index)
	defer d.g.scratch.Put(c)
	s.label = d.g.Label(s.index)
	if d.images {
		s.image, s.ext = c.encode(s.image), ".jpg"
		s.imageDigest = sha256.Sum256(s.image)
	}
	if d.tensors != nil {
		s.tensor = d.tensors.append(s.tensor[:0], c.img)
		s.tensorDigest = sha256.Sum256(s.tensor)
	}
	return nil
}

func (d drawing) close() {}
