// Package synth makes data sets of images that no one has to download: like
// photographs in what costs time (sizes, bytes, spectrum, edges), different for
// each seed and index, and the same on every machine. It also converts sets of
// image files from one store to another.
//
// An image is a background and leaves over it, textured with 1/f noise. Measured
// on one machine with 64 photographs of 500 pixels at quality 94 to 96 (Go 1.26,
// least of 5 decodes with image/jpeg):
//
//	                      photographs   generated
//	bits a pixel          4.41          4.55
//	decoding, ns a pixel  24.4          23.3
//	decoding, ns a byte   44.2          41.0
//	slope of log power    -2.11         -2.25
//	saved by gzip -9      0.20 %        0.10 %
//
// Files have 110 kB in the mean of 500; nine in ten have 70 to 157 kB. One takes
// 15 ms of a 2.6 GHz EPYC's time, half of it in the encoder.
//
// Pixels come from whole numbers alone, so that no machine and no compiler rounds
// them differently. The bytes of a file depend on Go's encoder as well.
package synth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"dlbench/bench/theory"
	"dlbench/loader"
	"dlbench/loader/decode"
	"dlbench/loader/transform"
)

// Layouts are the orders of a tensor's elements, the default first.
var Layouts = []string{transform.NHWC, transform.NCHW}

type Form struct {
	Store  string       // one of loader.Stores
	Batch  theory.Batch // shape and type in raw and tensor stores; Images: in a record of a tensor store
	Layout string       // one of Layouts; "" is the first
	Free   int64        // bytes that there are for it; 0: not known
}

// Check says what is wrong with f.
func (f Form) Check() error {
	if !slices.Contains(loader.Stores, f.Store) {
		return fmt.Errorf("unknown store %q: want %s", f.Store, strings.Join(loader.Stores, ", "))
	}
	r := f.record()
	if r == nil {
		return nil
	}
	if err := r.Check(); err != nil {
		return err
	}
	if r.Channels != 3 {
		return fmt.Errorf("%d channels: pictures have 3", r.Channels)
	}
	_, err := newSampler(r)
	return err
}

// record is the shape of the records of raw and tensor stores; nil for others.
func (f Form) record() *loader.Record {
	if f.Store != loader.Raw && f.Store != loader.Tensor {
		return nil
	}
	if f.Layout == "" {
		f.Layout = Layouts[0]
	}
	r := loader.RecordOf(f.Store, f.Batch, f.Layout)
	return &r
}

// Spec is a set that can be made.
type Spec struct {
	Form
	Images  int
	Seed    uint64
	Classes int // 0 for DefaultClasses; no more than Images are made
}

const DefaultClasses = 10

// Progress is called now and then with how many of how many images are done.
type Progress func(done, total int)

// Check says what is wrong with s.
func (s Spec) Check() error {
	if s.Images < 1 || s.Classes < 0 {
		return fmt.Errorf("%d images in %d classes: want at least one of each", s.Images, s.Classes)
	}
	return s.Form.Check()
}

func (s Spec) classes() int { return min(cmp.Or(s.Classes, DefaultClasses), s.Images) }

// Make makes a set in the folder dir, which must not hold anything yet. The set
// appears there when it is whole; nothing is left of it after an error or when ctx
// is done.
func Make(ctx context.Context, dir string, s Spec, progress Progress) (Info, error) {
	b := &build{free: s.Free, progress: progress}
	if err := b.make(ctx, s, map[string]string{s.Store: dir}); err != nil {
		return Info{}, err
	}
	return b.targets[0].info, nil
}

// meanJPEG is the mean size of generated files, in bytes, with some to spare.
const meanJPEG = 112_000

// make makes the images of s in several stores at once, each in its folder of dirs.
func (b *build) make(ctx context.Context, s Spec, dirs map[string]string) (err error) {
	defer func() { err = errors.Join(err, b.discard()) }()
	classes := s.classes()
	var record *loader.Record
	files := false
	for store, dir := range dirs {
		s.Store = store
		if err := s.Check(); err != nil {
			return err
		}
		t := &target{class: numbered(classes), info: Info{Store: store, Classes: classes, Tensor: s.record(),
			Made: &Made{Version, s.Seed, runtime.Version()}}}
		if err := b.add(t, dir, s.Images, meanJPEG); err != nil {
			return err
		}
		if t.info.Tensor != nil {
			record = t.info.Tensor
		} else {
			files = true
		}
	}
	g := newGenerator(s.Seed)
	feed := func(o loader.FeedOptions) (*loader.Feed, error) { return loader.Generate(ctx, o) }
	return b.run(s.Images, feed, func() maker {
		var c canvas
		sampler, _ := newSampler(record) // as Check tried
		return func(s *sample, index int, _ []byte) (err error) {
			g.draw(&c, index)
			s.label = index % classes // every class as often
			if files {
				s.image, s.ext = c.encode(s.image), ".jpg"
			}
			if record != nil {
				s.tensor, err = middle(sampler, s.tensor, c.rgb())
			}
			return err
		}
	})
}

// newSampler is the resampler for records of shape r; nil where there are none.
func newSampler(r *loader.Record) (*transform.Resampler, error) {
	if r == nil {
		return nil, nil
	}
	return transform.New(transform.Options{Height: r.Height, Width: r.Width, DType: r.DType, Layout: r.Layout})
}

// middle resamples the middle of a picture into dst, which it allocates if it is nil.
func middle(sampler *transform.Resampler, dst []byte, img decode.Image) ([]byte, error) {
	if dst == nil {
		dst = make([]byte, sampler.Bytes())
	}
	return dst, sampler.Apply(dst, img, sampler.Middle(img.Window))
}
