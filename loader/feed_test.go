package loader

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dlbench/bench/pace"
)

// feed reads a plan once, unless o has another number of batches.
func feed(t testing.TB, ctx context.Context, s *Set, p *Plan, o FeedOptions) *Feed {
	t.Helper()
	o.Batches = cmp.Or(o.Batches, p.Len())
	f, err := NewFeed(ctx, s, p, o)
	must(t, err)
	t.Cleanup(f.Close)
	return f
}

var shapes = []FeedOptions{{}, {Readers: 1, Depth: 3}, {Readers: 3, Depth: 2}, {Readers: 4, Depth: 8}, {Depth: 100},
	{Readers: 3, Depth: 1, Part: 1}, {Readers: 4, Depth: 2, Part: 2}, {Readers: 2, Depth: 2, Part: 100}}

// drain takes n batches of a feed and releases each; between them it calls each.
func drain(t testing.TB, f *Feed, n int, each func(batch int, stats Stats)) {
	t.Helper()
	for b := range n {
		stats, err := f.Next()
		if err != nil {
			t.Fatalf("batch %d: %v", b, err)
		}
		if each != nil {
			each(b, stats)
		}
		f.Release()
	}
}

// untilError takes and releases batches until there is an error.
func untilError(f *Feed) (batches int, err error) {
	for ; ; batches++ {
		if _, err := f.Next(); err != nil {
			return batches, err
		}
		f.Release()
	}
}

// A feed gives the batches of the plan in order, from the start again where it ends,
// each sample once and whole, however many readers and batches ahead there are; a slot
// is used by one batch at a time.
func TestFeed(t *testing.T) {
	const batch = 3
	for _, kind := range Stores {
		s := store(t, kind, 20, 5000)
		p := s.Plan(Order{Shuffle: true, Seed: 3}, batch)
		for i, o := range shapes {
			batches := p.Len()
			if i%2 == 1 {
				batches += 2 // of the next epoch
				o.Batches = batches
			}
			depth := max(1, o.Depth)
			var mu sync.Mutex
			got := map[int][]int32{}
			slots := map[int]int{}
			o.Work = func(reader int, at Place, data []byte) error {
				mu.Lock()
				defer mu.Unlock()
				b, i := at.Batch, at.Sample
				if got[b] == nil {
					got[b] = make([]int32, len(p.Batch(0)))
				}
				got[b][at.At] = i
				if !bytes.Equal(data, content(int(i), int(s.Samples[i].Len))) {
					t.Errorf("sample %d is wrong", i)
				}
				if other, taken := slots[b%depth]; taken && other != b {
					t.Errorf("batch %d works into the slot of %d", b, other)
				}
				slots[b%depth] = b
				if reader < 0 || reader >= max(1, o.Readers) || at.Epoch != b/p.Len() {
					t.Errorf("reader %d of %d at %+v", reader, o.Readers, at)
				}
				return nil
			}
			f := feed(t, t.Context(), s, p, o)
			drain(t, f, batches, func(b int, stats Stats) {
				mu.Lock()
				defer mu.Unlock()
				if want := p.Batch(b % p.Len()); !slices.Equal(got[b], want) || stats.Samples != len(want) {
					t.Errorf("%s %+v: batch %d: %+v, worked on %v", kind, o.Depth, b, stats, got[b])
				}
				delete(slots, b%depth)
			})
			for range 2 {
				if _, err := f.Next(); err != io.EOF {
					t.Errorf("after the last batch: %v", err)
				}
			}
		}
	}
	s := store(t, Files, 8, 10)
	f := feed(t, t.Context(), s, s.Plan(Order{}, 9), FeedOptions{Batches: 3, Depth: 2})
	if _, err := f.Next(); err != io.EOF {
		t.Errorf("a plan without a batch gives %v", err)
	}
}

// counted is Work that counts samples.
func counted(n *atomic.Int64) func(int, Place, []byte) error {
	return func(int, Place, []byte) error {
		n.Add(1)
		return nil
	}
}

// No more than depth batches are read ahead of what was released, and those are.
func TestFeedReadsAheadByDepth(t *testing.T) {
	s := store(t, Files, 40, 10)
	p := s.Plan(Order{}, 2)
	for _, depth := range []int{1, 2, 5} {
		synctest.Test(t, func(t *testing.T) {
			var begun atomic.Int64
			f := feed(t, t.Context(), s, p, FeedOptions{Readers: 3, Depth: depth, Work: counted(&begun)})
			for b := range 6 {
				synctest.Wait()
				if got, want := begun.Load(), int64(2*min(b+depth, p.Len())); got != want {
					t.Errorf("depth %d: %d samples read after %d batches were released, want %d", depth, got, b, want)
				}
				must(t, f.NextAll(make([]Stats, 1)))
				synctest.Wait()
				if got, want := begun.Load(), int64(2*min(b+depth, p.Len())); got != want {
					t.Errorf("depth %d: a batch that is not released makes room", depth)
				}
				f.Release()
				f.Release() // there is none to release
			}
			must(t, f.NextAll(make([]Stats, depth)))
		})
	}
}

// A feed reads what was granted and not more.
func TestFeedGrants(t *testing.T) {
	s := store(t, Files, 40, 10)
	p := s.Plan(Order{}, 2)
	for _, depth := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			var begun atomic.Int64
			f, err := NewFeed(t.Context(), s, p, FeedOptions{Readers: 2, Depth: depth, Part: 1, Work: counted(&begun)})
			must(t, err)
			defer f.Close()
			for _, n := range []int{2, 1, 5} {
				synctest.Wait()
				before := begun.Load()
				f.Grant(n)
				drain(t, f, n, nil)
				synctest.Wait()
				if got := begun.Load() - before; got != int64(2*n) {
					t.Errorf("depth %d: %d samples read of %d batches that were granted", depth, got, n)
				}
			}
		})
	}
}

// All batches that were granted come at once, and the first error in the plan's order.
func TestFeedNextAll(t *testing.T) {
	s := store(t, Files, 40, 10)
	p := s.Plan(Order{}, 2)
	failing := errors.New("a bad sample")
	f, err := NewFeed(t.Context(), s, p, FeedOptions{Readers: 3, Depth: 8,
		Work: func(_ int, at Place, _ []byte) error {
			if at.Batch == 31 || at.Batch == 29 {
				return fmt.Errorf("%w in %d", failing, at.Batch)
			}
			return nil
		}})
	must(t, err)
	stats := make([]Stats, 8)
	for range 3 {
		f.Grant(8)
		must(t, f.NextAll(stats))
		for i, st := range stats {
			if st.Samples != 2 || st.Bytes < 20 {
				t.Errorf("batch %d: %+v", i, st)
			}
			f.Release()
		}
	}
	f.Grant(8)
	for range 2 {
		if err := f.NextAll(stats); !errors.Is(err, failing) || !strings.Contains(err.Error(), "in 29") {
			t.Errorf("after an error: %v", err)
		}
	}
	f.Close()
}

// Each reader's thread is prepared before and restored after, once, also when the readers
// cannot start.
func TestFeedThreads(t *testing.T) {
	s := store(t, Files, 8, 10)
	for _, bad := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) { // fails on goroutines that stay
			var begun, ended atomic.Int64
			o := FeedOptions{Readers: 3, Depth: 3, Thread: func(reader int) func() {
				begun.Add(1 << (8 * reader))
				return func() { ended.Add(1 << (8 * reader)) }
			}}
			if bad {
				o.Read = ReadOptions{Direct: true, Disk: &pace.Disk{Rate: 1}}
			}
			f, err := NewFeed(t.Context(), s, s.Plan(Order{}, 2), o)
			if bad != (err != nil) {
				t.Fatal(err)
			}
			f.Close()
			if begun.Load() != 0x010101 || ended.Load() != 0x010101 {
				t.Errorf("bad %v: begun %x, ended %x", bad, begun.Load(), ended.Load())
			}
		})
	}
}

// The first error in the plan's order ends the feed and names the sample; batches
// before it come.
func TestFeedErrors(t *testing.T) {
	failure := errors.New("not an image")
	for _, o := range shapes {
		s := store(t, Files, 20, 10)
		remove(t, s, 17)
		p := s.Plan(Order{}, 2)
		for _, tt := range []struct {
			bad   int32 // sample that Work refuses
			want  error
			batch int
		}{{9, failure, 4}, {0, failure, 0}, {-1, os.ErrNotExist, 8}} {
			o.Work = func(_ int, at Place, _ []byte) error {
				i := at.Sample
				if i == tt.bad || i > tt.bad && tt.bad >= 0 && i%2 == 1 { // and later ones
					return failure
				}
				return nil
			}
			f := feed(t, t.Context(), s, p, o)
			n, err := untilError(f)
			named := func(i int32) bool { return strings.Contains(err.Error(), s.Name(int(i))) }
			if n != tt.batch || !errors.Is(err, tt.want) || !slices.ContainsFunc(p.Batch(tt.batch), named) {
				t.Errorf("depth %d: after %d batches: %v", o.Depth, n, err)
			}
			if _, again := f.Next(); again != err {
				t.Errorf("then: %v", again)
			}
		}
	}
}

// A sample that cannot be read costs itself alone where Missing allows it: the others
// of its batch are visited in their places.
func TestFeedMissing(t *testing.T) {
	for kind, gone := range map[string][]int32{Files: {0, 5}, Tar: {4, 5, 6, 7}, Raw: {6, 7, 8, 9, 10, 11}} {
		s := store(t, kind, 12, 100)
		switch kind {
		case Files:
			remove(t, s, 0)
			remove(t, s, 5)
		case Tar: // the second shard vanishes whole
			remove(t, s, 4)
		case Raw: // the file loses its end
			must(t, os.Truncate(filepath.Join(s.Root, s.Files[0].Path), s.Samples[6].Off+1))
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
				if p.Batch(at.Batch)[at.At] != at.Sample || !errors.Is(err, os.ErrNotExist) && err != errTruncated {
					t.Errorf("missing %+v: %v", at, err)
				}
				missed = append(missed, at.Sample)
				return true
			}
			f := feed(t, t.Context(), s, p, o)
			drain(t, f, p.Len(), nil)
			slices.Sort(missed)
			if !slices.Equal(missed, gone) || len(seen) != 12-len(gone) {
				t.Errorf("%s %+v: missed %v of %v, %d seen", kind, o.Depth, missed, gone, len(seen))
			}
		}
	}
}

// Whatever a feed is at, ending its context ends it, and Close leaves no goroutine.
// synctest fails on goroutines that stay.
func TestFeedIsCancelled(t *testing.T) {
	s := store(t, Files, 40, 10)
	p := s.Plan(Order{}, 4)
	reason := errors.New("the user has had enough")
	for _, o := range shapes {
		for after := range 3 {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				o.Work = func(_ int, at Place, _ []byte) error {
					if at.Batch == after {
						<-ctx.Done() // a reader is in the middle of a batch
						return context.Cause(ctx)
					}
					return nil
				}
				f := feed(t, ctx, s, p, o)
				go func() {
					time.Sleep(time.Second) // until everything else waits
					cancel(reason)
				}()
				if n, err := untilError(f); n != after || !errors.Is(err, reason) {
					t.Errorf("depth %d: after %d batches: %v", o.Depth, n, err)
				}
				f.Close()
				if _, err := f.Next(); !errors.Is(err, reason) {
					t.Errorf("after Close: %v", err)
				}
			})
		}
	}
}

func TestFeedClosedEarly(t *testing.T) {
	s := store(t, Tar, 40, 10)
	p := s.Plan(Order{}, 4)
	for _, o := range shapes {
		for batches := range 4 {
			synctest.Test(t, func(t *testing.T) { // fails on goroutines that stay
				f := feed(t, context.Background(), s, p, o)
				drain(t, f, batches, nil)
				f.Close()
				f.Close()
				if _, err := f.Next(); err == nil {
					t.Error("a closed feed goes on")
				}
				f.Release()
			})
		}
	}
}
