package loader

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"dlbench/bench/pace"
)

// readAll reads samples and returns copies of their bytes.
func readAll(t testing.TB, s *Set, o ReadOptions, samples []int32) [][]byte {
	t.Helper()
	r := reader(t, s, o)
	var all [][]byte
	if _, err := r.Read(samples, func(_ int32, data []byte) error {
		all = append(all, bytes.Clone(data))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

func reader(t testing.TB, s *Set, o ReadOptions) *Reader {
	t.Helper()
	r, err := NewReader(s, o)
	if errors.Is(err, ErrNoDirect) {
		t.Skipf("no direct I/O here: %v", err)
	}
	must(t, err)
	t.Cleanup(r.Close)
	return r
}

// Every store gives the bytes of the samples that were asked for, in that order,
// whatever the way of reading and wherever they start and end.
func TestReadGivesTheBytes(t *testing.T) {
	for _, kind := range Stores {
		for _, o := range []ReadOptions{{}, {Direct: true}} {
			t.Run(kind+map[bool]string{true: "/direct"}[o.Direct], func(t *testing.T) {
				for size, n := range map[int]int{1: 12, 4096: 12, 30_001: 12, BlockBytes + 1: 4} {
					s := store(t, kind, n, size)
					for _, order := range [][]int32{count(n), {int32(n) - 1, 0, 2, 1, 3, 3}, {0, 2, 3}} {
						got := readAll(t, s, o, order)
						for k, i := range order {
							want := content(int(i), int(s.Samples[i].Len))
							if !bytes.Equal(got[k], want) {
								t.Fatalf("%d bytes, order %v: sample %d is wrong", size, order, i)
							}
						}
					}
				}
			})
		}
	}
}

func TestNeighboursAreReadTogether(t *testing.T) {
	tests := []struct {
		name    string
		store   string
		size    int
		samples []int32
		reads   int
		read    int64 // bytes
	}{
		{"raw in order", Raw, 4096, count(16), 1, 16 * 4096},
		{"padded raw in order", Raw, 4000, count(16), 1, 15*4096 + 4000},
		{"raw backwards", Raw, 4096, []int32{3, 2, 1}, 3, 3 * 4096},
		{"over a small gap", Raw, 4096, []int32{0, 2, 15}, 1, 16 * 4096},
		{"over a large gap", Raw, 69632, []int32{0, 1, 3}, 2, 3 * 69632},
		{"the same twice", Raw, 4096, []int32{1, 1}, 2, 2 * 4096},
		{"larger than the block", Raw, BlockBytes + 4096, []int32{0, 1, 2}, 3, 3 * (BlockBytes + 4096)},
		{"the block full", Raw, BlockBytes / 4, count(8), 2, 2 * BlockBytes},
		{"files", Files, 100, count(16), 16, 1600 + 120},
	}
	for _, tt := range tests {
		s := store(t, tt.store, 16, tt.size)
		calls := 0
		r := reader(t, s, ReadOptions{Observe: func(d time.Duration) {
			calls++
			if d < 0 {
				t.Errorf("%s: a read of %v", tt.name, d)
			}
		}})
		st, err := r.Read(tt.samples, nil)
		must(t, err)
		var bytes int64
		for _, i := range tt.samples {
			bytes += s.Samples[i].Len
		}
		if st.Reads != tt.reads || st.BytesRead != tt.read || st.Bytes != bytes || st.Samples != len(tt.samples) {
			t.Errorf("%s: %+v, want %d reads, %d bytes read of %d asked", tt.name, st, tt.reads, tt.read, bytes)
		}
		if calls != st.Reads {
			t.Errorf("%s: observed %d reads, stats say %+v", tt.name, calls, st)
		}
	}
}

func TestFilesAreKeptOpen(t *testing.T) {
	s := store(t, Tar, 9, 100)
	r := reader(t, s, ReadOptions{})
	for range 3 {
		if _, err := r.Read(count(9), nil); err != nil {
			t.Fatal(err)
		}
	}
	st, _ := r.Read(count(9), nil)
	if st.Opens != 0 {
		t.Errorf("%d shards were opened again", st.Opens)
	}
	// With room for two of three, in turn, each is gone when its turn comes.
	for i := range r.open.slots {
		r.open.drop(i)
	}
	r.open.slots, r.open.held, r.open.last, r.open.next = r.open.slots[:2], r.open.held[:2], 0, 0
	for range 2 {
		if st, _ = r.Read(count(9), nil); st.Opens != 3 {
			t.Errorf("%d opened of 3 with room for 2", st.Opens)
		}
	}
	if st, _ = r.Read([]int32{8, 8, 4, 5, 8}, nil); st.Opens != 0 {
		t.Errorf("%d opened of the two that were used last", st.Opens)
	}
}

// A file that shrinks while a reader has it is an error that names it, never short
// data.
func TestFileShrinks(t *testing.T) {
	for _, kind := range Stores {
		for _, direct := range []bool{false, true} {
			t.Run(kind, func(t *testing.T) {
				s := store(t, kind, 6, 20_000)
				r := reader(t, s, ReadOptions{Direct: direct})
				last := int32(len(s.Samples) - 1)
				x := s.Samples[last]
				path := s.Files[x.File].Path
				for _, left := range []int64{x.Len - 1, x.Len / 2, 0} {
					must(t, os.Truncate(filepath.Join(s.Root, filepath.FromSlash(path)), x.Off+left))
					visited := int32(-1)
					_, err := r.Read(count(6), func(i int32, data []byte) error {
						visited = i
						if !bytes.Equal(data, content(int(i), int(s.Samples[i].Len))) {
							t.Errorf("sample %d is wrong", i)
						}
						return nil
					})
					place := Fault{Path: path, Offset: x.Off + left}.At()
					if !errors.Is(err, errTruncated) || !strings.HasPrefix(err.Error(), place+": ") || visited != last-1 {
						t.Errorf("%d bytes left: %v after visiting %d, want sample %d at %s", left, err, visited, last, place)
					}
				}
			})
		}
	}
}

func TestReadErrors(t *testing.T) {
	s := store(t, Files, 4, 100)
	r := reader(t, s, ReadOptions{})
	stop := io.ErrClosedPipe
	n := 0
	_, err := r.Read(count(4), func(int32, []byte) error {
		if n++; n == 2 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || !strings.HasPrefix(err.Error(), s.Name(1)) || n != 2 {
		t.Errorf("an error of visit: %v after %d", err, n)
	}
	remove(t, s, 2)
	_, err = r.Read(count(4), nil)
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "c2/000002.jpg") {
		t.Errorf("a file that is gone: %v", err)
	}
}

// Steady reading allocates nothing, of any store and in any way.
func TestReadAllocatesNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("os.Open allocates")
	}
	for _, kind := range Stores {
		for _, o := range []ReadOptions{{}, {Direct: true}} {
			t.Run(kind, func(t *testing.T) {
				s := store(t, kind, 16, 10_000)
				var took time.Duration
				o.Observe = func(d time.Duration) { took += d }
				r := reader(t, s, o)
				some := min(len(r.open.slots), 2) // shards are opened and closed all the time
				r.open.slots, r.open.held = r.open.slots[:some], r.open.held[:some]
				order := count(16)
				slices.Reverse(order)
				sum := 0
				visit := func(_ int32, data []byte) error {
					sum += len(data)
					return nil
				}
				if n := testing.AllocsPerRun(20, func() {
					if _, err := r.Read(order, visit); err != nil {
						t.Fatal(err)
					}
				}); n != 0 {
					t.Errorf("%v allocations a batch", n)
				}
				if sum == 0 || took == 0 {
					t.Error("nothing was read")
				}
			})
		}
	}
}

// lateClock is a manual clock whose waits end late.
type lateClock struct {
	pace.Manual
	late time.Duration
}

func (c *lateClock) Until(t time.Duration) {
	if c.Now() < t {
		c.Manual.Until(t + c.late)
	}
}

func TestEmulatedDisk(t *testing.T) {
	const rate, latency, size, n = 100e6, 10 * time.Millisecond, 100_000, 8
	transfer := pace.Length(size, rate)
	for _, tt := range []struct {
		name    string
		store   string
		latency time.Duration
		seek    bool
		order   []int32
		want    time.Duration
		reads   int
	}{
		{"a stream", Raw, 0, false, []int32{7, 5, 3}, 3 * transfer, 3},
		{"solid state, one reader", Raw, latency, false, []int32{7, 5, 3}, 3 * (latency + transfer), 3},
		{"hard disk, shuffled", Raw, latency, true, []int32{7, 5, 3}, 3 * (latency + transfer), 3},
		{"hard disk, in order", Raw, latency, true, count(n), latency + pace.Length(7*102400+size, rate), 1},
	} {
		s := store(t, tt.store, n, size)
		for _, late := range []time.Duration{0, 50 * time.Microsecond} {
			clock := &lateClock{late: late}
			disk := &pace.Disk{Rate: rate, Latency: tt.latency, Seek: tt.seek}
			var observed time.Duration
			r := reader(t, s, ReadOptions{Disk: disk, Clock: clock,
				Observe: func(d time.Duration) { observed += d }})
			st, err := r.Read(tt.order, nil)
			must(t, err)
			// However late each wait was, only the last one's is left.
			want := tt.want + late
			if got := clock.Now(); got < want-time.Microsecond || got > want+time.Microsecond ||
				st.Nanos != int64(got) {
				t.Errorf("%s, %v late: %v, stats %v, want %v", tt.name, late, got, time.Duration(st.Nanos), want)
			}
			if st.Overruns != 0 || st.Reads != tt.reads {
				t.Errorf("%s: %+v", tt.name, st)
			}
			if d := observed - tt.want; d < -time.Microsecond || d > time.Microsecond {
				t.Errorf("%s, %v late: reads took %v, want %v", tt.name, late, observed, tt.want)
			}
		}
	}
}

// What a file that lost its end still has comes when the disk has it, and its read counts.
func TestEmulatedDiskAndAFileThatShrinks(t *testing.T) {
	const rate, size = 100e6, 100_000
	s := store(t, Raw, 8, size)
	must(t, os.Truncate(filepath.Join(s.Root, s.Files[0].Path), s.Samples[6].Off+1))
	clock := &lateClock{}
	var missing []int32
	r := reader(t, s, ReadOptions{Disk: &pace.Disk{Rate: rate}, Clock: clock,
		Missing: func(sample int32, _ error) bool { missing = append(missing, sample); return true }})
	first := pace.Length(int(s.Samples[7].Off-s.Samples[0].Off)+size, rate)
	st, err := r.Read(count(8), func(i int32, _ []byte) error {
		if now := clock.Now(); now < first-time.Microsecond {
			t.Errorf("sample %d comes after %v, want %v", i, now, first)
		}
		return nil
	})
	must(t, err)
	if st.Samples != 6 || st.Reads != 2 || st.Nanos != int64(clock.Now()) || !slices.Equal(missing, []int32{6, 7}) {
		t.Errorf("%+v after %v, without %v", st, clock.Now(), missing)
	}
}

// What the program does between reads is not the disk's: it is not made up for.
func TestEmulatedDiskWaitsForTheProgram(t *testing.T) {
	const work = time.Millisecond
	s := store(t, Files, 4, 100_000)
	clock := &lateClock{late: 30 * time.Microsecond}
	r := reader(t, s, ReadOptions{Disk: &pace.Disk{Rate: 100e6}, Clock: clock})
	st, err := r.Read(count(4), func(int32, []byte) error {
		clock.Advance(work)
		return nil
	})
	must(t, err)
	want := 4*work + pace.Length(400_006, 100e6) + clock.late
	if got := clock.Now(); got < want-time.Microsecond || got > want+time.Microsecond {
		t.Errorf("%v, want %v", got, want)
	}
	if time.Duration(st.Nanos) > want-4*work+4*clock.late {
		t.Errorf("work counts as reading: %v", time.Duration(st.Nanos))
	}
}

// stepClock moves by itself, as while a read really takes long.
type stepClock struct {
	pace.Manual
	step time.Duration
}

func (c *stepClock) Now() time.Duration {
	c.Advance(c.step)
	return c.Manual.Now()
}

func TestOverrun(t *testing.T) {
	s := store(t, Files, 4, 1000)
	for _, tt := range []struct {
		step time.Duration
		want int
	}{{time.Nanosecond, 0}, {5 * time.Millisecond, 4}} {
		r := reader(t, s, ReadOptions{Disk: &pace.Disk{Rate: 1e6}, Clock: &stepClock{step: tt.step}}) // 1 ms each
		st, err := r.Read(count(4), nil)
		must(t, err)
		if st.Overruns != tt.want {
			t.Errorf("%v a look at the clock: %d overruns, want %d", tt.step, st.Overruns, tt.want)
		}
	}
}
