package synth

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"dlbench/bench/theory"
	"dlbench/loader"
)

// PackOptions says what a set is converted to.
type PackOptions struct {
	Store    string       // as in Spec
	Batch    theory.Batch // as in Spec
	Layout   string       // as in Spec
	Strict   bool         // fail where something would be skipped
	Progress Progress
}

// Packing is what became of a conversion.
type Packing struct {
	Info    Info
	Skipped []loader.Skipped // what of the source is no sample of the result, and why
}

// ErrSkipped says that something would be skipped that must not be.
var ErrSkipped = errors.New("not a sample")

func skippedError(s loader.Skipped) error {
	if s.Offset != 0 {
		return fmt.Errorf("%s at %d: %w: %s", s.Path, s.Offset, ErrSkipped, s.Reason)
	}
	return fmt.Errorf("%s: %w: %s", s.Path, ErrSkipped, s.Reason)
}

// Check says what is wrong with o.
func (o PackOptions) Check() error { return checkStore(o.Store, o.Batch, o.layout()) }

func (o PackOptions) layout() string { return Spec{Layout: o.Layout}.layout() }

// Pack converts the image files of the set at path, a folder or shards, to a store
// in the folder dir, which must not hold anything yet nor lie inside the source; the
// source is only read. Files and shards keep the bytes of the images. Raw and tensor
// stores hold what Go's image/jpeg and image/png decode; what they cannot is
// skipped. As with Make, dir is there when it is whole, or not at all.
func Pack(ctx context.Context, path, dir string, o PackOptions) (Packing, error) {
	return pack(ctx, path, dir, o, freeBytes)
}

func pack(ctx context.Context, path, dir string, o PackOptions, free func(string) (int64, bool)) (p Packing, err error) {
	if err := o.Check(); err != nil {
		return p, err
	}
	if err := outside(dir, path); err != nil {
		return p, err
	}
	src, err := loader.Open(path, loader.OpenOptions{})
	if err != nil {
		return p, err
	}
	if src.Record != nil {
		return p, fmt.Errorf("%s holds tensors: only image files can be packed", path)
	}
	opened := src.Skipped
	if o.Strict && len(opened) > 0 {
		return p, skippedError(opened[0])
	}
	b := build{free: free, strict: o.Strict, progress: o.Progress}
	defer func() { err = errors.Join(err, b.discard()) }()
	n := len(src.Samples)
	classes, class := classesOf(src)
	info := Info{Store: o.Store, Classes: classes}
	if err := b.target(dir, info, plan{n, src.Bytes, o.Batch, o.layout(), class}); err != nil {
		return p, err
	}
	t := b.targets[0]
	t.packed = func() *Packed { return &Packed{src.Store, n, len(opened) + len(b.skipped)} }
	infos, err := b.run(ctx, n, func() (work, error) { return newReading(src, t.record) })
	if err != nil {
		return p, err
	}
	return Packing{infos[0], slices.Concat(opened, b.skipped)}, nil
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

// outside is nil when dir is neither root nor below it, where links lead.
func outside(dir, root string) error {
	real, err := resolve(root)
	if err != nil {
		return err
	}
	target, err := resolve(dir)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(real, target)
	if err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return fmt.Errorf("%s lies inside %s, which is only read: name a folder outside", dir, root)
	}
	return nil
}

// resolve is the absolute path without links of what may not be there yet.
func resolve(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	rest := ""
	for {
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		parent := filepath.Dir(path)
		if parent == path {
			return "", err
		}
		path, rest = parent, filepath.Join(filepath.Base(path), rest)
	}
}
