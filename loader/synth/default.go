package synth

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"dlbench/bench/theory"
	"dlbench/loader"
)

// DefaultOptions says which sets EnsureDefault provides.
type DefaultOptions struct {
	Images   int
	Seed     uint64
	Classes  int          // 0 for DefaultClasses
	Stores   []string     // of the same images
	Batch    theory.Batch // as in Spec
	Layout   string       // as in Spec
	Progress Progress
}

// EnsureDefault returns the folder of each store below cacheDir/dlbench. Those that
// are not there, or whose files are missing or changed in size, are made, together;
// made tells whether any was. Processes that want the same sets at once wait for the
// one that makes them. A tensor store lacks the images that fill no batch.
func EnsureDefault(ctx context.Context, cacheDir string, o DefaultOptions) (dirs map[string]string, made bool, err error) {
	base := filepath.Join(cacheDir, "dlbench")
	dirs = map[string]string{}
	var specs []Spec
	for _, store := range o.Stores {
		s := Spec{store, o.Images, o.Seed, o.Classes, o.Batch, o.Layout}
		if err := s.Check(); err != nil {
			return nil, false, err
		}
		if dirs[store] == "" {
			dirs[store] = filepath.Join(base, s.key(), store)
			specs = append(specs, s)
		}
	}
	if len(missing(specs, dirs)) == 0 {
		return dirs, false, nil
	}
	unlock, err := lock(ctx, base)
	if err != nil {
		return nil, false, err
	}
	defer unlock()
	specs = missing(specs, dirs) // another process may have made them meanwhile
	if len(specs) == 0 {
		return dirs, false, nil
	}
	var want []string
	for _, s := range specs {
		if err := clearAway(dirs[s.Store]); err != nil {
			return nil, false, err
		}
		want = append(want, dirs[s.Store])
	}
	if _, err := makeAll(ctx, want, specs, o.Progress, freeBytes); err != nil {
		return nil, false, err
	}
	return dirs, true, nil
}

// key names the folder of a set: all that its files depend on.
func (s Spec) key() string {
	key := fmt.Sprintf("v%d-seed%d-n%d-c%d", Version, s.Seed, s.Images, s.classes())
	if r := recordOf(s.Store, s.Batch, s.layout()); r != nil {
		key += fmt.Sprintf("-%dx%dx%d-%s-%s", r.Height, r.Width, r.Channels, r.DType, r.Layout)
		if s.Store == loader.Tensor {
			key += fmt.Sprintf("-b%d", r.Images)
		}
	}
	return key
}

// missing are the specs whose folder does not hold what it should.
func missing(specs []Spec, dirs map[string]string) []Spec {
	var list []Spec
	for _, s := range specs {
		dir := dirs[s.Store]
		info, err := ReadInfo(dir)
		if err != nil || !s.describedBy(info) || info.intact(dir) != nil {
			list = append(list, s)
		}
	}
	return list
}

// describedBy tells whether info is that of a set made to s.
func (s Spec) describedBy(info Info) bool {
	r := recordOf(s.Store, s.Batch, s.layout())
	images := s.Images
	if r != nil {
		images = images / r.Images * r.Images
	}
	m, t := info.Made, tensorOf(r)
	return info.Store == s.Store && info.Images == images && info.Classes == s.classes() &&
		m != nil && m.Generator == Version && m.Seed == s.Seed &&
		(t == nil) == (info.Tensor == nil) && (t == nil || *t == *info.Tensor)
}

// clearAway removes a set that is not intact, and what killed processes left of one.
func clearAway(dir string) error {
	entries, err := os.ReadDir(filepath.Dir(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	name := filepath.Base(dir)
	for _, e := range entries {
		if e.Name() == name || strings.HasPrefix(e.Name(), name+staged) {
			if err := os.RemoveAll(filepath.Join(filepath.Dir(dir), e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// lockWait is the time between two tries to get a lock.
const lockWait = 100 * time.Millisecond

// lock waits until no other process makes sets below base.
func lock(ctx context.Context, base string) (unlock func() error, err error) {
	if err := os.MkdirAll(base, 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(base, ".lock"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	tick := time.NewTicker(lockWait)
	defer tick.Stop()
	for !tryLock(f.Fd()) {
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), f.Close())
		case <-tick.C:
		}
	}
	return f.Close, nil
}
