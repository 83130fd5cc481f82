package synth

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"dlbench/loader"
)

func TestEnsureDefault(t *testing.T) {
	cache := t.TempDir()
	o := DefaultOptions{Images: 6, Seed: 1, Stores: loader.Stores, Batch: small}
	ensure := func(wantMade bool) map[string]string {
		t.Helper()
		dirs, made, err := EnsureDefault(t.Context(), cache, o)
		if err != nil || made != wantMade {
			t.Fatalf("made %v, %v", made, err)
		}
		for store, dir := range dirs {
			if set, err := loader.Open(dir, loader.OpenOptions{}); err != nil || set.Store != store {
				t.Errorf("%s: %v", dir, err)
			}
		}
		return dirs
	}
	dirs := ensure(true)
	if len(dirs) != 4 || !maps.Equal(dirs, ensure(false)) {
		t.Errorf("%v", dirs)
	}
	damage := map[string]func() error{
		loader.Files:  func() error { return os.Remove(filepath.Join(dirs[loader.Files], "class-0001", "00000001.jpg")) },
		loader.Tar:    func() error { return os.Remove(filepath.Join(dirs[loader.Tar], InfoName)) },
		loader.Raw:    func() error { return os.Truncate(filepath.Join(dirs[loader.Raw], "data.raw"), 100) },
		loader.Tensor: func() error { return os.WriteFile(filepath.Join(dirs[loader.Tensor], InfoName), []byte("{"), 0o644) },
	}
	for store, do := range damage {
		stale := dirs[store] + staged + "0badcafe"
		if err := errors.Join(do(), os.Mkdir(stale, 0o755)); err != nil {
			t.Fatal(err)
		}
		ensure(true)
		if _, err := os.Stat(stale); err == nil {
			t.Errorf("%s is still there", stale)
		}
		ensure(false)
	}
	// What files do not depend on does not make them anew.
	o.Stores, o.Batch.DType = []string{loader.Files}, "uint8"
	ensure(false)
	o.Seed = 2
	ensure(true)
}

// TestEnsureDefaultAtOnce wants the same set twice at the same time.
func TestEnsureDefaultAtOnce(t *testing.T) {
	cache := t.TempDir()
	var wg sync.WaitGroup
	var made [3]bool
	for i := range made {
		wg.Go(func() {
			var err error
			if _, made[i], err = EnsureDefault(t.Context(), cache, DefaultOptions{Images: 12, Stores: []string{loader.Tar}}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	n := 0
	for _, m := range made {
		if m {
			n++
		}
	}
	if n != 1 {
		t.Errorf("made %d times", n)
	}
}

func TestEnsureDefaultInterrupted(t *testing.T) {
	cache := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := DefaultOptions{Images: 30, Stores: []string{loader.Files, loader.Raw}, Batch: small, Progress: func(done, _ int) {
		if done == 3 {
			cancel()
		}
	}}
	if _, made, err := EnsureDefault(ctx, cache, o); made || !errors.Is(err, context.Canceled) {
		t.Errorf("made %v, %v", made, err)
	}
	if files, _, err := usage(cache); files > 1 || err != nil { // the lock
		t.Errorf("left %d files, %v", files, err)
	}
	// While another process holds the lock, an interrupt still ends the wait.
	unlock, err := lock(t.Context(), filepath.Join(cache, "dlbench"))
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if _, _, err := EnsureDefault(ctx, cache, o); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting: %v", err)
	}
}
