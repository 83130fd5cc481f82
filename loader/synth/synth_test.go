package synth

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"dlbench/bench/theory"
	"dlbench/loader"
)

// small is a shape that is quick to write.
var small = theory.Batch{Images: 4, Height: 20, Width: 30, Channels: 3, DType: "float16"}

// must fails the test for an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// refused fails the test unless err says why.
func refused(t testing.TB, err error, why string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("%v, want %q", err, why)
	}
}

// mustMake makes a set of few images and returns its folder.
func mustMake(t *testing.T, store string, images int) (string, Info) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), store)
	form := Form{Store: store, Batch: small, Layout: "nchw"}
	info, err := Make(t.Context(), dir, Spec{Form: form, Images: images, Seed: 1, Classes: 3}, nil)
	must(t, err)
	return dir, info
}

// reread reads a set through the loader and sums up what is in it.
func reread(t *testing.T, dir string) (*loader.Set, string, []int32) {
	t.Helper()
	set, err := loader.Open(dir, "")
	must(t, err)
	r, err := loader.NewReader(set, loader.ReadOptions{})
	must(t, err)
	defer r.Close()
	var print fingerprint
	var labels []int32
	var all []int32
	for i, s := range set.Samples {
		all, labels = append(all, int32(i)), append(labels, s.Label)
	}
	_, err = r.Read(all, func(_ int32, data []byte) error {
		images := 1
		if set.Record != nil {
			images = set.Record.Images
		}
		for image := range slices.Chunk(data, len(data)/images) {
			print.add(image)
		}
		return nil
	})
	must(t, err)
	if set.Store == loader.Tensor {
		labels = set.Labels
	}
	return set, print.String(), labels
}

func TestMakeEveryStore(t *testing.T) {
	prints := map[string]string{}
	for _, store := range loader.Stores {
		dir, info := mustMake(t, store, 10)
		images, labels := 10, []int32{0, 1, 2, 0, 1, 2, 0, 1, 2, 0}
		switch store {
		case loader.Tensor:
			images, labels = 8, labels[:8]
		case loader.Files:
			slices.Sort(labels) // by class folder
		}
		set, print, got := reread(t, dir)
		if set.Store != store || info.Images != images || info.LeftOver != 10-images || info.Classes != 3 {
			t.Errorf("%s: opened as %s, info %+v", store, set.Store, info)
		}
		if print != info.Fingerprint || set.Bytes != info.Bytes {
			t.Errorf("%s: %d bytes, fingerprint %s, info %+v", store, set.Bytes, print, info)
		}
		if !slices.Equal(got, labels) {
			t.Errorf("%s: labels %v, want %v", store, got, labels)
		}
		if read, err := ReadInfo(dir); err != nil || read.Fingerprint != info.Fingerprint || !intact(dir) {
			t.Errorf("%s: read %+v, %v", store, read, err)
		}
		if set.Record != nil && (set.Record.Height != 20 || set.Record.Width != 30 || set.Record.DType != "float16" ||
			set.Record.Layout != "nchw") {
			t.Errorf("%s: record %+v", store, set.Record)
		}
		prints[store] = print
	}
	if prints[loader.Files] != prints[loader.Tar] || prints[loader.Files] == prints[loader.Raw] {
		t.Errorf("fingerprints %v: files and shards hold the same, tensors something else", prints)
	}
}

func TestSpecCheck(t *testing.T) {
	grey, huge := small, small
	grey.Channels, huge.Images = 1, 1<<20
	for want, s := range map[string]Spec{
		"unknown store":   {Form: Form{Store: "zip"}, Images: 1},
		"at least one":    {Form: Form{Store: loader.Files}},
		"pictures have 3": {Form: Form{Store: loader.Raw, Batch: grey}, Images: 1},
		"unknown layout":  {Form: Form{Store: loader.Raw, Batch: small, Layout: "hwcn"}, Images: 1},
		"unknown type": {Form: Form{Store: loader.Raw, Batch: theory.Batch{Images: 1, Height: 1, Width: 1, Channels: 3}},
			Images: 1},
		"1 GiB": {Form: Form{Store: loader.Tensor, Batch: huge}, Images: 1 << 20},
	} {
		refused(t, s.Check(), want)
	}
	dir := filepath.Join(t.TempDir(), "set")
	_, err := Make(t.Context(), dir, Spec{Form: Form{Store: loader.Tensor, Batch: small}, Images: 3}, nil)
	refused(t, err, "no whole batch of 4")
}

// TestInterrupted stops in the middle and looks for what is left, parents included.
func TestInterrupted(t *testing.T) {
	src, _ := mustMake(t, loader.Files, 40)
	for _, store := range loader.Stores {
		for name, do := range map[string]func(ctx context.Context, dir string, p Progress) error{
			"make": func(ctx context.Context, dir string, p Progress) error {
				_, err := Make(ctx, dir, Spec{Form: Form{Store: store, Batch: small}, Images: 40}, p)
				return err
			},
			"pack": func(ctx context.Context, dir string, p Progress) error {
				_, err := Pack(ctx, src, dir, PackOptions{Form: Form{Store: store, Batch: small}, Progress: p})
				return err
			},
		} {
			root := t.TempDir()
			ctx, cancel := context.WithCancel(t.Context())
			last := 0
			err := do(ctx, filepath.Join(root, "a", "b"), func(done, total int) {
				if last = done; done == 5 {
					cancel()
				}
			})
			if !errors.Is(err, context.Canceled) || last > 6 {
				t.Errorf("%s %s: %v after %d images", name, store, err, last)
			}
			if left, _ := os.ReadDir(root); len(left) > 0 {
				t.Errorf("%s %s left %v", name, store, left)
			}
			cancel()
		}
	}
}

func TestEnsureDefault(t *testing.T) {
	cache := t.TempDir()
	spec, stores := Spec{Form: Form{Batch: small}, Images: 6, Seed: 1}, loader.Stores
	ensure := func(wantMade bool) map[string]string {
		t.Helper()
		dirs, made, err := EnsureDefault(t.Context(), cache, spec, stores, nil)
		if err != nil || made != wantMade {
			t.Fatalf("made %v, %v", made, err)
		}
		for store, dir := range dirs {
			if set, err := loader.Open(dir, ""); err != nil || set.Store != store {
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
		loader.Files: func() error {
			return os.Remove(filepath.Join(dirs[loader.Files], "class-0001",
				"00000001.jpg"))
		},
		loader.Tar: func() error { return os.Remove(filepath.Join(dirs[loader.Tar], loader.InfoName)) },
		loader.Raw: func() error { return os.Truncate(filepath.Join(dirs[loader.Raw], "data.raw"), 100) },
		loader.Tensor: func() error {
			return os.WriteFile(filepath.Join(dirs[loader.Tensor], loader.InfoName), []byte("{"), 0o644)
		},
	}
	for store, do := range damage {
		stale := filepath.Join(dirs[store], ".tmp-0badcafe") // left by a process that was killed
		must(t, errors.Join(do(), os.Mkdir(stale, 0o755)))
		ensure(true)
		if _, err := os.Stat(stale); err == nil {
			t.Errorf("%s is still there", stale)
		}
		ensure(false)
	}
	// What files do not depend on does not make them anew.
	stores, spec.Batch.DType = []string{loader.Files}, "uint8"
	ensure(false)
	spec.Seed = 2
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
			if _, made[i], err = EnsureDefault(t.Context(), cache, Spec{Images: 12}, []string{loader.Tar},
				nil); err != nil {
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
	ensure := func() (bool, error) {
		_, made, err := EnsureDefault(ctx, cache, Spec{Form: Form{Batch: small}, Images: 30},
			[]string{loader.Files, loader.Raw}, func(done, _ int) {
				if done == 3 {
					cancel()
				}
			})
		return made, err
	}
	if made, err := ensure(); made || !errors.Is(err, context.Canceled) {
		t.Errorf("made %v, %v", made, err)
	}
	if files, _, err := usage(cache); files > 1 || err != nil { // the lock
		t.Errorf("left %d files, %v", files, err)
	}
	// While another process holds the lock, an interrupt still ends the wait.
	unlock, err := wait(t.Context(), filepath.Join(cache, "dlbench"))
	must(t, err)
	defer unlock()
	if _, err := ensure(); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting: %v", err)
	}
}

func TestNothingIsOverwritten(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(root, "file")
	full := filepath.Join(root, "full")
	must(t, os.WriteFile(file, []byte("x"), 0o644))
	must(t, os.MkdirAll(filepath.Join(full, "sub"), 0o755))
	spec := Spec{Form: Form{Store: loader.Files}, Images: 2}
	for dir, why := range map[string]string{full: "not empty", file: "not a directory", filepath.Join(file, "below"): "",
		"": ""} {
		_, err := Make(t.Context(), dir, spec, nil)
		refused(t, err, why)
	}
	entries, _ := os.ReadDir(root)
	if data, err := os.ReadFile(file); err != nil || string(data) != "x" || len(entries) != 2 {
		t.Errorf("%v, %q: %v", err, data, entries)
	}
}

// TestEmptyFolder makes a set in a folder that is there but empty, and through a
// link to one.
func TestEmptyFolder(t *testing.T) {
	root := t.TempDir()
	dir, link := filepath.Join(root, "empty"), filepath.Join(root, "link")
	must(t, os.Mkdir(dir, 0o755))
	target := dir
	if err := os.Symlink("empty", link); err == nil {
		target = link
	}
	if err := os.Mkdir(filepath.Join(dir, staged+"left"), 0o755); err != nil { // by a process that was killed
		t.Fatal(err)
	}
	if _, err := Make(t.Context(), target, Spec{Form: Form{Store: loader.Tar}, Images: 2}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := loader.Open(dir, ""); err != nil {
		t.Error(err)
	}
}

// TestWholeOrNotAtAll cannot move the second folder of a set: what a process left that was
// killed has its name.
func TestWholeOrNotAtAll(t *testing.T) {
	dir, classes := t.TempDir(), []string{".a", staged + "b", "c"}
	must(t, os.MkdirAll(filepath.Join(dir, classes[1], "left"), 0o755))
	b := new(build)
	set := &target{info: Info{Store: loader.Files}, class: func(label int) string { return classes[label] }}
	must(t, b.add(set, dir, len(classes), 1))
	for i := range classes {
		must(t, set.take(i, &sample{label: i, image: []byte{1}, ext: ".jpg"}))
	}
	if err := set.commit(); err == nil {
		t.Error("a folder was overwritten")
	}
	must(t, b.discard())
	if left, err := os.ReadDir(dir); len(left) != 1 || err != nil {
		t.Errorf("left %v, %v", left, err)
	}
}

// TestFullDisk asks for more than there is: 10 records of 4096 bytes, and a block for each.
func TestFullDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	spec := Spec{Form: Form{Store: loader.Raw, Batch: small, Free: 81919}, Images: 10}
	_, err := Make(t.Context(), dir, spec, nil)
	refused(t, err, "not enough room: about 81.9 kB needed, 81.9 kB available")
	spec.Free++
	_, err = Make(t.Context(), dir, spec, nil)
	must(t, err)
}
