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
	"context"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"dlbench/bench/theory"
	"dlbench/loader"
	"dlbench/loader/decode"
)

// Layouts are the orders of a tensor's elements, the default first.
var Layouts = []string{"nhwc", "nchw"}

type Form struct {
	Store  string       // one of loader.Stores
	Batch  theory.Batch // shape and type in raw and tensor stores; Images: in a record of a tensor store
	Layout string       // one of Layouts; "" is the first
}

func (f Form) Check() error {
	switch f.Store {
	case loader.Files, loader.Tar:
		return nil
	case loader.Raw, loader.Tensor:
		if err := f.record().Check(); err != nil {
			return err
		}
		if f.Batch.Channels != 3 {
			return fmt.Errorf("%d channels: pictures have 3", f.Batch.Channels)
		}
		return nil
	}
	return fmt.Errorf("unknown store %q: want %s", f.Store, strings.Join(loader.Stores, ", "))
}

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
	if err := s.Form.Check(); err != nil {
		return err
	}
	size := float64(meanJPEG)
	if r := s.record(); r != nil {
		size = max(size, float64(r.Stride())/float64(r.Images))
	}
	if float64(s.Images)*size > mostBytes {
		return fmt.Errorf("%d images are more than fit anywhere", s.Images)
	}
	return nil
}

// mostBytes bounds a set, so that sums over its bytes stay whole numbers.
const mostBytes = 1 << 62

func (s Spec) classes() int {
	if s.Classes == 0 {
		return min(DefaultClasses, s.Images)
	}
	return min(s.Classes, s.Images)
}

// Make makes a set in the folder dir, which must not hold anything yet. The set
// appears there when it is whole; nothing is left of it after an error or when ctx
// is done.
func Make(ctx context.Context, dir string, s Spec, progress Progress) (Info, error) {
	b := &build{free: freeBytes, progress: progress}
	if err := b.make(ctx, map[string]string{s.Store: dir}, []Spec{s}); err != nil {
		return Info{}, err
	}
	return b.targets[0].info, nil
}

// meanJPEG is the mean size of generated files, in bytes, with some to spare.
const meanJPEG = 112_000

// make makes several stores of the same images at once: only the stores of specs differ.
func (b *build) make(ctx context.Context, dirs map[string]string, specs []Spec) (err error) {
	defer func() { err = errors.Join(err, b.discard()) }()
	first := specs[0]
	classes := first.classes()
	var record *loader.Record
	files := false
	for _, s := range specs {
		if err := s.Check(); err != nil {
			return err
		}
		info := Info{Store: s.Store, Classes: classes, Made: &Made{Version, s.Seed, runtime.Version()}}
		t := &target{info: info, record: s.record(), class: numbered(classes)}
		if err := b.add(t, dirs[s.Store], s.Images, int64(s.Images)*meanJPEG); err != nil {
			return err
		}
		if t.record != nil {
			record = t.record
		} else {
			files = true
		}
	}
	g := newGenerator(first.Seed)
	feed := func(o loader.FeedOptions) (*loader.Feed, error) { return loader.Generate(ctx, first.Images, o) }
	return b.run(ctx, first.Images, feed, func() maker {
		var c canvas
		rgb := image.NewRGBA(image.Rectangle{})
		tensors := newTensors(record)
		return func(s *sample, index int, _ []byte) error {
			g.draw(&c, index)
			s.label = index % classes // every class as often
			if files {
				s.image, s.ext = c.encode(s.image), ".jpg"
			}
			if record != nil {
				if rgb.Rect != c.img.Rect {
					rgb = image.NewRGBA(c.img.Rect)
				}
				draw.Draw(rgb, rgb.Rect, c.img, image.Point{}, draw.Src)
				s.tensor = tensors.append(s.tensor[:0],
					decode.Image{Pix: rgb.Pix, Stride: rgb.Stride, Window: rgb.Rect})
			}
			return nil
		}
	})
}

// EnsureDefault returns the folder of each of stores, all of the images of s, below
// cacheDir/dlbench. Those that are not there, or whose files are missing or changed in
// size, are made, together; made tells whether any was. Processes that want the same
// sets at once wait for the one that makes them. A tensor store lacks the images that
// fill no batch.
func EnsureDefault(ctx context.Context, cacheDir string, s Spec, stores []string, progress Progress) (
	dirs map[string]string, made bool, err error) {
	base := filepath.Join(cacheDir, "dlbench")
	dirs = map[string]string{}
	for _, s.Store = range stores {
		if err := s.Check(); err != nil {
			return nil, false, err
		}
		dirs[s.Store] = filepath.Join(base, s.key(), s.Store)
	}
	missing := func() (specs []Spec) {
		for _, s.Store = range stores {
			info, err := ReadInfo(dirs[s.Store])
			if err != nil || info.Store != s.Store || info.Made == nil || !info.intact(dirs[s.Store]) {
				specs = append(specs, s)
			}
		}
		return specs
	}
	if len(missing()) == 0 {
		return dirs, false, nil
	}
	unlock, err := lock(ctx, base)
	if err != nil {
		return nil, false, err
	}
	defer unlock()
	specs := missing() // without what another process made meanwhile
	if len(specs) == 0 {
		return dirs, false, nil
	}
	for _, s := range specs { // what is not intact, or left of a process that was killed
		if err := os.RemoveAll(dirs[s.Store]); err != nil {
			return nil, false, err
		}
	}
	b := &build{free: freeBytes, progress: progress}
	if err := b.make(ctx, dirs, specs); err != nil {
		return nil, false, err
	}
	return dirs, true, nil
}

// key names the folder of a set: all that its files depend on.
func (s Spec) key() string {
	key := fmt.Sprintf("v%d-seed%d-n%d-c%d", Version, s.Seed, s.Images, s.classes())
	if r := s.record(); r != nil {
		key += fmt.Sprintf("-%dx%dx%d-%s-%s", r.Height, r.Width, r.Channels, r.DType, r.Layout)
		if s.Store == loader.Tensor {
			key += fmt.Sprintf("-b%d", r.Images)
		}
	}
	return key
}

const lockWait = 100 * time.Millisecond

// lock waits until no other process makes sets below base.
func lock(ctx context.Context, base string) (unlock func() error, err error) {
	tick := time.NewTicker(lockWait)
	defer tick.Stop()
	for {
		if unlock, err = Lock(base); !errors.Is(err, ErrLocked) {
			return unlock, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		}
	}
}

var ErrLocked = errors.New("locked by another process")

// Lock locks a folder, which it makes, for one process: until it unlocks it or ends, however it
// ends.
func Lock(dir string) (unlock func() error, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, ".lock")
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return nil, err
		}
		if !tryLock(f.Fd()) {
			return nil, errors.Join(ErrLocked, f.Close())
		}
		opened, err := f.Stat()
		now, gone := os.Stat(path)
		if err == nil && gone == nil && os.SameFile(opened, now) {
			return func() error {
				os.Remove(path) // where an open file cannot be removed, it stays
				return f.Close()
			}, nil
		}
		f.Close() // who had it has just removed it
		if err != nil {
			return nil, err
		}
	}
}

var ours = regexp.MustCompile(`^v\d+-seed\d+-n\d+-c\d+`)

// Clean removes the sets that EnsureDefault made below cacheDir/dlbench, and returns them by
// their folders, with their bytes. With dry it only looks.
func Clean(cacheDir string, dry bool) (sizes map[string]int64, err error) {
	base := filepath.Join(cacheDir, "dlbench")
	entries, err := os.ReadDir(base)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	unlock, err := Lock(base)
	if errors.Is(err, ErrLocked) {
		return nil, fmt.Errorf("%s: a run is making a data set there: try again when it is done", base)
	}
	if err != nil {
		return nil, err
	}
	defer unlock()
	sizes = map[string]int64{}
	for _, e := range entries {
		if !e.IsDir() || !ours.MatchString(e.Name()) {
			continue
		}
		dir := filepath.Join(base, e.Name())
		_, size, err := usage(dir)
		if err == nil && !dry {
			err = os.RemoveAll(dir)
		}
		if err != nil {
			return sizes, err
		}
		sizes[dir] = size
	}
	return sizes, nil
}
