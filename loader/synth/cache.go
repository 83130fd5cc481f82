package synth

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"time"

	"dlbench/loader"
)

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
		dirs[s.Store] = filepath.Join(base, s.key(), s.Store)
	}
	missing := func() map[string]string {
		all := maps.Clone(dirs)
		maps.DeleteFunc(all, func(_, dir string) bool { return intact(dir) })
		return all
	}
	if len(missing()) == 0 {
		return dirs, false, nil
	}
	unlock, err := wait(ctx, base)
	if err != nil {
		return nil, false, err
	}
	defer unlock()
	todo := missing() // without what another process made meanwhile
	if len(todo) == 0 {
		return dirs, false, nil
	}
	for _, dir := range todo { // what is not intact, or left of a process that was killed
		if err := os.RemoveAll(dir); err != nil {
			return nil, false, err
		}
	}
	b := &build{progress: progress}
	err = b.make(ctx, s, todo)
	return dirs, err == nil, err
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

// wait locks base once no other process does.
func wait(ctx context.Context, base string) (unlock func() error, err error) {
	for {
		if unlock, err = Lock(base); !errors.Is(err, ErrLocked) {
			return unlock, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(100 * time.Millisecond):
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
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if tryLock(f.Fd()) {
		opened, _ := f.Stat()
		if now, _ := os.Stat(path); os.SameFile(opened, now) { // who had it may just have removed it
			return func() error {
				os.Remove(path) // where an open file cannot be removed, it stays
				return f.Close()
			}, nil
		}
	}
	return nil, errors.Join(ErrLocked, f.Close())
}

// Clean removes the sets that EnsureDefault made below cacheDir/dlbench, and returns them by
// their folders, with their bytes. With dry it only looks.
func Clean(cacheDir string, dry bool) (sizes map[string]int64, err error) {
	base := filepath.Join(cacheDir, "dlbench")
	if _, err := os.Stat(base); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
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
	names, err := fs.Glob(os.DirFS(base), "v*-seed*-n*-c*")
	for _, name := range names {
		dir := filepath.Join(base, name)
		_, size, err := usage(dir)
		if err == nil && !dry {
			err = os.RemoveAll(dir)
		}
		if err != nil {
			return sizes, err
		}
		sizes[dir] = size
	}
	return sizes, err
}
