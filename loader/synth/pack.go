package synth

import (
	"context"
	"errors"
	"fmt"
	"image"
	"path"
	"path/filepath"
	"strings"

	"dlbench/loader"
	"dlbench/loader/decode"
)

type PackOptions struct {
	Form
	Strict   bool // fail where something would be skipped
	Progress Progress
	Memory   *decode.Memory // that all decoding shares; nil for no bound
}

type Packing struct {
	Info    Info
	Skipped []loader.Fault // what of the source is no sample of the result, and why
}

// Pack converts the image files of the set at path, a folder or shards, to a store
// in the folder dir, which must not hold anything yet nor lie inside the source; the
// source is only read. Files and shards keep the bytes of the images. Raw and tensor
// stores hold what Go's decoders decode; what they cannot is skipped. As with Make,
// dir is there when it is whole, or not at all.
func Pack(ctx context.Context, path, dir string, o PackOptions) (p Packing, err error) {
	src, err := loader.Open(path, "")
	if err == nil {
		err = outside(dir, path)
	}
	if err != nil {
		return p, err
	}
	return PackSet(ctx, src, dir, o)
}

// PackSet is Pack of a set that is open, and does not lie where dir is.
func PackSet(ctx context.Context, src *loader.Set, dir string, o PackOptions) (p Packing, err error) {
	if err := o.Check(); err != nil {
		return p, err
	}
	if src.Record != nil {
		return p, fmt.Errorf("%s holds tensors: only image files can be packed", src.Root)
	}
	skip := func(f loader.Fault) error {
		if o.Strict {
			return fmt.Errorf("%s: not a sample: %s", f.At(), f.Reason)
		}
		p.Skipped = append(p.Skipped, f)
		return nil
	}
	for _, f := range src.Skipped {
		if err := skip(f); err != nil {
			return p, err
		}
	}
	b := &build{free: o.Free, progress: o.Progress,
		skip: func(i int, why error) error { return skip(src.Fault(int32(i), why.Error())) }}
	defer func() { err = errors.Join(err, b.discard()) }()
	n := len(src.Samples)
	classes, class := classesOf(src)
	t := &target{class: class, info: Info{Store: o.Store, Classes: classes, Tensor: o.record()}}
	if err := b.add(t, dir, n, src.Bytes/int64(max(1, n))); err != nil {
		return p, err
	}
	feed := func(f loader.FeedOptions) (*loader.Feed, error) {
		return loader.NewFeed(ctx, src, src.Plan(loader.Order{}, 1), f)
	}
	newMaker := func() maker { return copier(src) }
	if t.info.Tensor != nil {
		newMaker = func() maker { return decoder(src, t.info.Tensor, o.Memory) }
	}
	err = b.run(n, feed, newMaker)
	p.Info = t.info
	return p, err
}

// copier makes samples of the image files of src as they are.
func copier(src *loader.Set) maker {
	return func(s *sample, index int, data []byte) error {
		s.label, s.ext = int(src.Samples[index].Label), extensions[decode.Format(data)]
		if s.ext == "" && src.Store == loader.Files {
			s.ext = strings.ToLower(path.Ext(src.Name(index)))
		}
		if s.ext == "" {
			return errors.New("unknown format")
		}
		s.image = append(s.image[:0], data...)
		return nil
	}
}

// decoder makes tensors of the image files of src.
func decoder(src *loader.Set, r *loader.Record, m *decode.Memory) maker {
	d, _ := m.New(decode.Go) // which is always there
	sampler, _ := newSampler(r)
	return func(s *sample, index int, data []byte) error {
		info, err := decode.Probe(data)
		if err != nil {
			return err
		}
		defer d.Release()
		img, err := d.Decode(data, &info, image.Rect(0, 0, info.Width, info.Height))
		if err == nil && img.Damage != "" {
			err = errors.New(img.Damage)
		}
		if err == nil {
			s.label = int(src.Samples[index].Label)
			s.tensor, err = middle(sampler, s.tensor, img)
		}
		return err
	}
}

// classesOf is the number of labels of a set, and the folder of each: the folder
// that it has now, otherwise one named after its number, and none where no image
// has a label.
func classesOf(src *loader.Set) (int, func(label int) string) {
	most := -1
	for _, s := range src.Samples {
		most = max(most, int(s.Label))
	}
	name := numbered(most + 1)
	return most + 1, func(label int) string {
		switch {
		case most < 0:
			return ""
		case label < 0:
			return "unlabelled"
		case label < len(src.Classes):
			return src.Classes[label]
		}
		return name(label)
	}
}

// extensions are those that files get by how they begin.
var extensions = map[string]string{decode.JPEG: ".jpg", decode.PNG: ".png", decode.BMP: ".bmp", decode.TIFF: ".tif",
	decode.WebP: ".webp", decode.PNM: ".ppm"}

// outside is nil unless dir lies inside root, where links lead.
func outside(dir, root string) error {
	if rel, err := filepath.Rel(realPath(root), realPath(dir)); err == nil && filepath.IsLocal(rel) {
		return fmt.Errorf("%s lies inside %s, which is only read: name a folder outside", dir, root)
	}
	return nil
}

// realPath is where links lead; of a path that is not there yet, the first folder above that is.
func realPath(path string) string {
	at, err := filepath.Abs(path)
	for err == nil && at != filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return real
		}
		at = filepath.Dir(at)
	}
	return at
}
