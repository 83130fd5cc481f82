package synth

import (
	"context"
	"errors"
	"fmt"
	"image"
	"os"
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
// stores hold what Go's image/jpeg and image/png decode; what they cannot is
// skipped. As with Make, dir is there when it is whole, or not at all.
func Pack(ctx context.Context, path, dir string, o PackOptions) (p Packing, err error) {
	if err := outside(dir, path); err != nil {
		return p, err
	}
	src, err := loader.Open(path, "")
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
	n := len(src.Samples)
	classes, class := classesOf(src)
	packed := &Packed{Store: src.Store, Images: n}
	t := &target{info: Info{Store: o.Store, Classes: classes, Packed: packed}, record: o.record(), class: class}
	skip := func(f loader.Fault) error {
		if o.Strict {
			return fmt.Errorf("%s: not a sample: %s", f.At(), f.Reason)
		}
		p.Skipped = append(p.Skipped, f)
		packed.Skipped++
		return nil
	}
	for _, f := range src.Skipped {
		if err := skip(f); err != nil {
			return p, err
		}
	}
	b := &build{free: freeBytes, progress: o.Progress,
		skip: func(i int, why error) error { return skip(src.Fault(int32(i), why.Error())) }}
	defer func() { err = errors.Join(err, b.discard()) }()
	if err := b.add(t, dir, n, src.Bytes); err != nil {
		return p, err
	}
	feed := func(f loader.FeedOptions) (*loader.Feed, error) {
		return loader.NewFeed(ctx, src, src.Plan(loader.Order{}, 1), f)
	}
	if err := b.run(ctx, n, feed, func() maker { return packer(src, newTensors(t.record), o.Memory) }); err != nil {
		return p, err
	}
	p.Info = t.info
	return p, nil
}

// packer makes samples of the image files of src: tensors, or with nil copies.
func packer(src *loader.Set, tensors *tensors, m *decode.Memory) maker {
	decoder, opening := m.New(decode.Go)
	return func(s *sample, index int, data []byte) error {
		s.label, s.ext = int(src.Samples[index].Label), extension(data)
		if tensors == nil {
			if s.ext == "" && src.Store == loader.Files {
				s.ext = strings.ToLower(path.Ext(src.Name(index)))
			}
			s.image = append(s.image[:0], data...)
		}
		switch {
		case tensors == nil && s.ext == "":
			return errors.New("unknown format")
		case tensors == nil:
			return nil
		case opening != nil:
			return opening
		}
		info, err := decode.Probe(data)
		if err != nil {
			return err
		}
		img, err := decoder.Decode(data, &info, image.Rect(0, 0, info.Width, info.Height))
		if err == nil && img.Damage != "" {
			err = errors.New(img.Damage)
		}
		if err == nil {
			s.tensor = tensors.append(s.tensor[:0], img)
		}
		decoder.Release()
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

var extensions = map[string]string{decode.JPEG: ".jpg", decode.PNG: ".png", decode.BMP: ".bmp", decode.TIFF: ".tif",
	decode.WebP: ".webp", decode.PNM: ".ppm"}

// extension tells the format of a file by how it begins, "" if it is none of those
// that image sets have.
func extension(data []byte) string {
	format := decode.Format(data)
	if format == decode.PNM && (data[1] == '2' || data[1] == '5') {
		return ".pgm"
	}
	return extensions[format]
}

// outside is nil when dir is neither root nor below it, where links lead.
func outside(dir, root string) error {
	source, err := os.Stat(root)
	if err != nil {
		return nil // opening it says why
	}
	at, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(at)
	for err != nil && at != filepath.Dir(at) { // dir need not be there yet
		at = filepath.Dir(at)
		real, err = filepath.EvalSymlinks(at)
	}
	for at = real; ; at = filepath.Dir(at) {
		if st, err := os.Stat(at); err == nil && os.SameFile(st, source) {
			return fmt.Errorf("%s lies inside %s, which is only read: name a folder outside", dir, root)
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}
