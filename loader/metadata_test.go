package loader

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

func TestMeasureMetadata(t *testing.T) {
	for _, c := range []struct{ files, passes int }{{40, 3}, {2*leastLooked - 2, 0}} {
		dir := t.TempDir()
		for i := range c.files {
			write(t, []byte("x"), dir, fmt.Sprintf("%02d.jpg", i))
		}
		s := open(t, dir, "")
		plan := s.Plan(Order{}, 2)
		remove(t, s, 0) // one that vanishes costs no more than itself
		passes, err := s.MeasureMetadata(plan, 3)
		if err != nil || len(passes) != c.passes {
			t.Fatalf("%d files: %v, %v", c.files, passes, err)
		}
		for _, m := range passes {
			if m.Opens <= 0 || m.Stats <= 0 {
				t.Errorf("%+v", passes)
			}
		}
		s.Root = filepath.Join(dir, "gone")
		if _, err := s.MeasureMetadata(plan, 3); err == nil {
			t.Error("no error without a folder")
		}
	}
	if all, err := (&Set{Store: Tar}).MeasureMetadata(&Plan{batch: 1}, 1); all != nil || err != nil {
		t.Errorf("of shards %v, %v", all, err)
	}
}

// A pass ends where its time does.
func TestPassEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(string) { time.Sleep(time.Millisecond) }
		want := int(lookLimit/time.Millisecond) + 1
		if done, rate := pass(make([]string, 1000), slow); len(done) != want || math.Abs(rate-1000) > 1e-6 {
			t.Errorf("%d files, want %d, %g a second", len(done), want, rate)
		}
	})
}
