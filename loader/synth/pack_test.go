package synth

import (
	"bytes"
	"errors"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"dlbench/loader"
)

func mustPack(t *testing.T, src, store string, strict bool) (string, Packing) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), store)
	p, err := Pack(t.Context(), src, dir, PackOptions{Form: Form{Store: store, Batch: small}, Strict: strict})
	must(t, err)
	return dir, p
}

// TestPackRoundTrip goes from files to shards and back: every byte and label stays.
func TestPackRoundTrip(t *testing.T) {
	files, made := mustMake(t, loader.Files, 10)
	shards, p := mustPack(t, files, loader.Tar, true)
	if p.Info.Fingerprint != made.Fingerprint || len(p.Skipped) > 0 || p.Info.Made != nil {
		t.Errorf("shards: %+v", p)
	}
	back, p := mustPack(t, shards, loader.Files, true)
	if p.Info.Fingerprint != made.Fingerprint || p.Info.Classes != 3 {
		t.Errorf("back: %+v", p)
	}
	set, print, labels := reread(t, back)
	if print != made.Fingerprint || !slices.Equal(labels, []int32{0, 0, 0, 0, 1, 1, 1, 2, 2, 2}) ||
		!slices.Equal(set.Classes, []string{"class-0000", "class-0001", "class-0002"}) {
		t.Errorf("%v, labels %v of %v", print, labels, set.Classes)
	}
	again, p := mustPack(t, back, loader.Files, true)
	if set, _, _ := reread(t, again); p.Info.Fingerprint != made.Fingerprint || set.Classes[2] != "class-0002" {
		t.Errorf("again: %+v", p)
	}
	for _, store := range []string{loader.Raw, loader.Tensor} {
		a, p := mustPack(t, shards, store, true)
		if _, print, _ := reread(t, a); print != p.Info.Fingerprint || p.Info.LeftOver != 10-p.Info.Images {
			t.Errorf("%s: %+v", store, p)
		}
		_, err := Pack(t.Context(), a, filepath.Join(t.TempDir(), "x"), PackOptions{Form: Form{Store: loader.Tar}})
		refused(t, err, "holds tensors")
	}
}

// TestPackSkips packs a folder that holds more than good images.
func TestPackSkips(t *testing.T) {
	var gray bytes.Buffer
	must(t, png.Encode(&gray, image.NewGray16(image.Rect(0, 0, 9, 5))))
	good := files(1, 1)[0]
	huge := bytes.Clone(gray.Bytes())
	copy(huge[16:], "\x00\x0f\xff\xff\x00\x0f\xff\xff") // a million pixels wide and high; the checksum is wrong too
	src := t.TempDir()
	for name, data := range map[string][]byte{
		"a/good.JPEG": good, "a/png.jpg": gray.Bytes(), "a/short.jpg": good[:len(good)/2], "b/empty.jpg": {},
		"b/text.jpg": []byte("hello"),
		"b/huge.png": huge, "b/web.webp": []byte("RIFF\x00\x00\x00\x00WEBPVP8 "), "notes.txt": []byte("x"),
	} {
		path := filepath.Join(src, name)
		must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o644)))
	}
	_, p := mustPack(t, src, loader.Raw, false)
	var names []string
	for _, s := range p.Skipped {
		names = append(names, s.Path)
	}
	slices.Sort(names)
	if want := []string{".", "a/short.jpg", "b/empty.jpg", "b/huge.png", "b/text.jpg",
		"b/web.webp"}; p.Info.Images != 2 || !slices.Equal(names, want) {
		t.Errorf("skipped %v, %+v", p.Skipped, p.Info)
	}
	// Shards keep what they need not understand, under the extension of what it is.
	dir, p := mustPack(t, src, loader.Tar, false)
	data, err := os.ReadFile(filepath.Join(dir, "000000.tar"))
	if err != nil || p.Info.Images != 6 || !bytes.Contains(data, []byte("000001.png")) ||
		!bytes.Contains(data, []byte(".webp")) {
		t.Errorf("shards: %+v, %v", p, err)
	}
	dir = filepath.Join(t.TempDir(), "strict")
	strict := PackOptions{Form: Form{Store: loader.Raw, Batch: small}, Strict: true}
	_, err = Pack(t.Context(), src, dir, strict)
	refused(t, err, ": not a sample: ")
	os.RemoveAll(filepath.Join(src, "b"))
	os.Remove(filepath.Join(src, "notes.txt"))
	_, err = Pack(t.Context(), src, dir, strict)
	refused(t, err, "a/short.jpg: not a sample: ")
	if left, _ := os.ReadDir(filepath.Dir(dir)); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

func TestPackWithoutClasses(t *testing.T) {
	src := t.TempDir()
	for _, name := range []string{"a.jpg", "b.jpg"} {
		must(t, os.WriteFile(filepath.Join(src, name), files(2, 1)[0], 0o644))
	}
	shards, _ := mustPack(t, src, loader.Tar, true)
	back, p := mustPack(t, shards, loader.Files, true)
	if _, _, labels := reread(t, back); p.Info.Classes != 0 || !slices.Equal(labels, []int32{-1, -1}) {
		t.Errorf("%v, %+v", labels, p)
	}
	// A single shard may have its result beside it.
	if _, err := Pack(t.Context(), filepath.Join(shards, "000000.tar"), filepath.Join(shards, "beside"),
		PackOptions{Form: Form{Store: loader.Files}}); err != nil {
		t.Error(err)
	}
}

func TestPackInsideItsSource(t *testing.T) {
	src, _ := mustMake(t, loader.Files, 3)
	link := filepath.Join(t.TempDir(), "link")
	dirs := []string{src, filepath.Join(src, "x"), filepath.Join(src, "x", "y"), filepath.Join(src, "class-0000", "..",
		"x")}
	if os.Symlink(src, link) == nil {
		dirs = append(dirs, filepath.Join(link, "x"))
	}
	before, _, _ := usage(src)
	for _, dir := range dirs {
		_, err := Pack(t.Context(), src, dir, PackOptions{Form: Form{Store: loader.Tar}})
		refused(t, err, "only read")
	}
	if after, _, _ := usage(src); after != before {
		t.Errorf("%d files became %d", before, after)
	}
	if _, err := Pack(t.Context(), src, src+"-tar", PackOptions{Form: Form{Store: loader.Tar}}); err != nil {
		t.Errorf("beside it: %v", err)
	}
}
