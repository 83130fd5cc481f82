package loader

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestShardWriter(t *testing.T) {
	write5 := func(dir string) *ShardWriter {
		w, err := CreateShards(dir, 2)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 5 {
			if err := w.Append([]string{"jpg", "png"}[i%2], content(i, 100), int32(i)-1); err != nil {
				t.Fatal(err)
			}
		}
		return w
	}
	dir, again := t.TempDir(), t.TempDir()
	for _, d := range []string{dir, again} {
		if err := write5(d).Close(); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range [][]string{{"=-1", "=0"}, {"=1", "=2"}, {"=3"}} {
		name := fmt.Sprintf("%06d.tar", i)
		a, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		b, _ := os.ReadFile(filepath.Join(again, name))
		if !slices.Equal(a, b) {
			t.Errorf("%s: the same samples gave other bytes", name)
		}
		for k := range want {
			want[k] = string(content(2*i+k, 100)) + want[k]
		}
		if got, _ := indexed(a); !slices.Equal(got, want) {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
	w := write5(t.TempDir())
	w.Abort()
	if got, _ := filepath.Glob(filepath.Join(w.dir, "*")); len(got) != 2 || w.Close() == nil || w.Append("jpg", nil, 0) == nil {
		t.Errorf("after Abort: %q", got)
	}
	if _, err := CreateShards(dir, 0); err == nil {
		t.Error("shards of no samples")
	}
	if w = write5(t.TempDir()); w.Append("txt", nil, 0) == nil {
		t.Error("a text was taken for an image")
	}
	w.Abort()
	if w, _ = CreateShards(filepath.Join(dir, "none"), 1); w.Append("jpg", []byte("x"), 0) == nil || w.Close() == nil {
		t.Error("a folder that is not there was written to")
	}
}
