package loader

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func paths(s *Set) []string {
	var p []string
	for _, sample := range s.Samples {
		p = append(p, s.Files[sample.File].Path)
	}
	return p
}

func TestImageFolder(t *testing.T) {
	dir := t.TempDir()
	for _, p := range []string{
		"b/2.JPEG", "b/1.jpg", "b/sub/x.Png", "b/sub-1/y.webp", "b/sub/deep/z.tiff",
		"a/10.ppm", "a/9.bmp", "c/only.txt", "top.jpg", ".hidden/h.jpg", "a/._9.bmp", "a/.DS_Store", "README", InfoName,
		".empty/h.txt",
	} {
		write(t, []byte("x"), dir, filepath.FromSlash(p))
	}
	write(t, nil, dir, "a", "empty.jpg")
	must(t, os.MkdirAll(filepath.Join(dir, "a", "folder.jpg"), 0o755))
	s := open(t, dir, "")
	// torchvision sorts folders by their whole path: "b/sub" < "b/sub-1" < "b/sub/deep".
	want := []string{"a/10.ppm", "a/9.bmp", "b/1.jpg", "b/2.JPEG", "b/sub/x.Png", "b/sub-1/y.webp", "b/sub/deep/z.tiff"}
	if got := paths(s); !slices.Equal(got, want) {
		t.Errorf("samples %q\nwant    %q", got, want)
	}
	for i, sample := range s.Samples {
		label := int32(1)
		if i < 2 {
			label = 0
		}
		if sample.Label != label || sample.Len != 1 || sample.Off != 0 {
			t.Errorf("sample %d: %+v", i, sample)
		}
	}
	if want := []string{"a", "b", "c"}; !slices.Equal(s.Classes, want) {
		t.Errorf("classes %q, want %q: an empty class keeps its number", s.Classes, want)
	}
	skippedAs(t, s, map[string]string{
		".hidden": "hidden", ".empty": "hidden",
		"a/._9.bmp": "hidden", "a/.DS_Store": "hidden", "a/empty.jpg": "empty file",
		"c": "without images", ".": "1 images beside the class folders",
	})
	// README, but not the file that says what the set is.
	skippedAs(t, s, map[string]string{".": "files whose names are not those of images: 1"})
	for _, f := range s.Skipped { // hidden folders are classes to torchvision
		if got := s.stopOf(f) == noImages; got != (f.Path == ".empty" || f.Path == "c" && f.Reason == emptyClass) {
			t.Errorf("%s, %s: a class folder without images: %v", f.Path, f.Reason, got)
		}
	}
	if n := len(s.Skipped); n != 9 { // with the files of other kinds of "." and "c"; a/folder.jpg is a folder
		t.Errorf("%d skipped: %v", n, s.Skipped)
	}
}

func TestFlatFolder(t *testing.T) {
	dir := t.TempDir()
	for i := range 3 {
		write(t, content(i, 5), dir, fmt.Sprintf("%d.jpg", 2-i))
	}
	write(t, []byte("x"), dir, "annotations", "0.xml")
	s := open(t, dir, "")
	if got := paths(s); !slices.Equal(got, []string{"0.jpg", "1.jpg", "2.jpg"}) || s.Classes != nil {
		t.Errorf("%q, classes %q", got, s.Classes)
	}
	for _, sample := range s.Samples {
		if sample.Label != -1 {
			t.Errorf("label %d without classes", sample.Label)
		}
	}
}

func TestLinks(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	write(t, []byte("x"), dir, "a", "1.jpg")
	write(t, []byte("x"), elsewhere, "2.jpg")
	write(t, []byte("xy"), elsewhere, "data")
	link := func(to, from string) {
		if err := os.Symlink(to, filepath.Join(dir, filepath.FromSlash(from))); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	link(elsewhere, "b") // a class that is a link
	link(elsewhere, "a/more")
	link(filepath.Join(elsewhere, "data"), "a/0.jpg")
	link("nowhere", "a/dangling.jpg")
	link("self.jpg", "a/self.jpg")
	link("..", "a/up") // to the root
	link(".", "a/here")
	s := open(t, dir, "")
	want := []string{"a/0.jpg", "a/1.jpg", "a/more/2.jpg", "b/2.jpg"}
	if got := paths(s); !slices.Equal(got, want) {
		t.Errorf("samples %q, want %q", got, want)
	}
	if s.Samples[0].Len != 2 {
		t.Errorf("size %d is that of the link", s.Samples[0].Len)
	}
	skippedAs(t, s, map[string]string{"a/dangling.jpg": "dangling", "a/self.jpg": "", "a/up": "link to a folder",
		"a/here": "link to a folder"})
}

// Folders that link to each other multiply: n of them have n! paths, none a loop.
func TestLinksThatMultiply(t *testing.T) {
	dir := t.TempDir()
	const n = 9
	for i := range n {
		write(t, []byte("x"), dir, "a", fmt.Sprint(i), "1.jpg")
	}
	for i := range n {
		for k := range n {
			if err := os.Symlink(filepath.Join(dir, "a", fmt.Sprint(k)), filepath.Join(dir, "a", fmt.Sprint(i),
				fmt.Sprint("to", k))); err != nil {
				t.Skipf("no symbolic links here: %v", err)
			}
		}
	}
	s := open(t, dir, "")
	if len(s.Samples) != n+mostLinks {
		t.Errorf("%d samples of %d folders and up to %d links", len(s.Samples), n, mostLinks)
	}
}

func TestNamesNotUTF8(t *testing.T) {
	dir := t.TempDir()
	name := "caf\xe9.jpg"
	must(t, os.Mkdir(filepath.Join(dir, "a"), 0o755))
	if err := os.WriteFile(filepath.Join(dir, "a", name), []byte("latin1"), 0o644); err != nil {
		t.Skipf("no such names here: %v", err)
	}
	s := open(t, dir, "")
	if got := paths(s); !slices.Equal(got, []string{"a/" + name}) {
		t.Fatalf("%q", got)
	}
	if got := readAll(t, s, ReadOptions{}, []int32{0}); string(got[0]) != "latin1" {
		t.Errorf("read %q", got[0])
	}
}

func TestDetect(t *testing.T) {
	for _, kind := range Stores {
		s := store(t, kind, 8, 1000)
		if s.Store != kind || len(s.Samples) != 8 {
			t.Errorf("%s was opened as %s with %d samples", kind, s.Store, len(s.Samples))
		}
		var sum int64
		for _, sample := range s.Samples {
			sum += sample.Len
		}
		if s.Bytes != sum || sum < 8000 {
			t.Errorf("%s: %d bytes, the samples' are %d", kind, s.Bytes, sum)
		}
		// A single file of a store is one, too.
		one := open(t, filepath.Join(s.Root, filepath.FromSlash(s.Files[0].Path)), "")
		if one.Store != kind || one.Files[0].Path != filepath.Base(s.Files[0].Path) {
			t.Errorf("a file of %s was opened as %s: %v", kind, one.Store, one.Files)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	write(t, []byte("text"), dir, "notes.txt")
	write(t, []byte("a camera's"), dir, "photo.raw")
	_, err := Open(dir, "")
	if !errors.Is(err, ErrNoSamples) || !strings.Contains(err.Error(), "files whose names are not those of images: 2") {
		t.Errorf("a folder without images: %v", err)
	}
	for _, kind := range Stores {
		if _, err := Open(dir, kind); !errors.Is(err, ErrNoSamples) {
			t.Errorf("as %s: %v", kind, err)
		}
	}
	if _, err := Open(dir, "zip"); err == nil || !strings.Contains(err.Error(),
		"files, tar, raw, tensor") {
		t.Errorf("an unknown store: %v", err)
	}
	if _, err := Open(filepath.Join(dir, "none"), ""); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing path: %v", err)
	}
}
