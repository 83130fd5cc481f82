package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// folder writes files in an order of their own; those that end in ! can be run.
func folder(t *testing.T, names ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "dlbench-1")
	for _, n := range names {
		path := filepath.Join(dir, n)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o600)
		if n[len(n)-1] == '!' {
			mode = 0o700
		}
		if err := os.WriteFile(path, []byte("content of "+n), mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// entries lists an archive: mode, name, time and content.
func entries(t *testing.T, path string) (list []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	note := func(mode os.FileMode, name string, at time.Time, r io.Reader) {
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprintf("%v %s %d %s", mode, name, at.Unix(), content))
	}
	if filepath.Ext(path) == ".zip" {
		z, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			note(f.Mode(), f.Name, f.Modified, r)
		}
		return list
	}
	gz, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(gz); ; {
		h, err := r.Next()
		if err == io.EOF {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		note(h.FileInfo().Mode(), h.Name, h.ModTime, r)
	}
}

func TestPack(t *testing.T) {
	const at = 1_700_000_000
	want := []string{
		"-rw-r--r-- dlbench-1/LICENSE 1700000000 content of LICENSE",
		"-rw-r--r-- dlbench-1/completions/_dlbench 1700000000 content of completions/_dlbench",
		"-rwxr-xr-x dlbench-1/dlbench! 1700000000 content of dlbench!",
	}
	for _, name := range []string{"a.tar.gz", "a.zip"} {
		var made [2][]byte
		for i, names := range [][]string{{"LICENSE", "dlbench!", "completions/_dlbench"},
			{"completions/_dlbench", "dlbench!", "LICENSE"}} {
			path := filepath.Join(t.TempDir(), name)
			if err := pack(path, folder(t, names...), time.Unix(at, 0).UTC()); err != nil {
				t.Fatal(err)
			}
			if got := entries(t, path); !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
			made[i], _ = os.ReadFile(path)
		}
		if !bytes.Equal(made[0], made[1]) {
			t.Errorf("%s: the same files gave other bytes", name)
		}
	}
}

func TestPackRefuses(t *testing.T) {
	dir := folder(t, "file")
	if err := os.Symlink("file", filepath.Join(dir, "link")); err != nil {
		t.Skip("no symbolic links here")
	}
	if err := pack(filepath.Join(t.TempDir(), "a.zip"), dir, time.Time{}); err == nil {
		t.Error("a link was packed")
	}
	if err := pack(filepath.Join(t.TempDir(), "a.rar"), folder(t, "file"), time.Time{}); err == nil {
		t.Error("an unknown format is no error")
	}
}
