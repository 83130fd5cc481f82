package loader

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// A sample that cannot be read costs itself alone where Missing allows it: the others
// of its batch are visited in their places.
func TestFeedMissing(t *testing.T) {
	for _, kind := range []string{Files, Tar} {
		s := store(t, kind, 12, 100)
		gone := []int32{0, 5}
		if kind == Files {
			for _, i := range gone {
				if err := os.Remove(filepath.Join(s.Root, filepath.FromSlash(s.Files[s.Samples[i].File].Path))); err != nil {
					t.Fatal(err)
				}
			}
		} else { // the second shard vanishes whole
			gone = nil
			for i, x := range s.Samples {
				if x.File == 1 {
					gone = append(gone, int32(i))
				}
			}
			if err := os.Remove(filepath.Join(s.Root, s.Files[1].Path)); err != nil {
				t.Fatal(err)
			}
		}
		p := s.Plan(Order{}, 4)
		for _, o := range shapes {
			var mu sync.Mutex
			var seen, missed []int32
			o.Work = func(_ int, at Place, _ []byte) error {
				mu.Lock()
				defer mu.Unlock()
				if p.Batch(at.Batch)[at.At] != at.Sample {
					t.Errorf("sample %d at %+v", at.Sample, at)
				}
				seen = append(seen, at.Sample)
				return nil
			}
			o.Missing = func(_ int, at Place, err error) bool {
				mu.Lock()
				defer mu.Unlock()
				if p.Batch(at.Batch)[at.At] != at.Sample || !errors.Is(err, os.ErrNotExist) {
					t.Errorf("missing %+v: %v", at, err)
				}
				missed = append(missed, at.Sample)
				return true
			}
			f := feed(t, t.Context(), s, p, o)
			for range p.Len() {
				if _, err := f.Next(); err != nil {
					t.Fatal(err)
				}
				f.Release()
			}
			closeFeed(t, f)
			slices.Sort(missed)
			if !slices.Equal(missed, gone) || len(seen) != 12-len(gone) {
				t.Errorf("%s %+v: missed %v of %v, %d seen", kind, o.Depth, missed, gone, len(seen))
			}
		}
	}
}
