package loader

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"dlbench/bench/pace"
	"golang.org/x/sys/unix"
)

func TestNoDirect(t *testing.T) {
	s := store(t, Files, 2, 100)
	if _, err := NewReader(s, ReadOptions{Direct: true, Disk: &pace.Disk{Rate: 1e9}}); err == nil {
		t.Error("an emulated disk with direct I/O")
	}
	// /proc has files without direct I/O wherever this runs.
	s = &Set{Store: Files, Root: "/proc/self", Files: []File{{"status", 100}}, Samples: []Sample{{Len: 100}}}
	_, err := NewReader(s, ReadOptions{Direct: true})
	if !errors.Is(err, ErrNoDirect) || !strings.Contains(err.Error(), "status") {
		t.Errorf("direct I/O from /proc: %v", err)
	}
}

func TestTooManyOpen(t *testing.T) {
	s := store(t, Tar, 6, 100)
	r := reader(t, s, ReadOptions{})
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	probe, err := os.Open(s.Root)
	if err != nil {
		t.Fatal(err)
	}
	lowest := uint64(probe.Fd())
	probe.Close()
	limit := func(n uint64) {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: n, Max: before.Max}); err != nil {
			t.Fatal(err)
		}
	}
	defer limit(before.Cur)
	limit(lowest) // none more
	_, err = r.Read(count(6), nil)
	if !errors.Is(err, ErrTooManyOpen) || !strings.Contains(err.Error(), "ulimit -n") || !strings.Contains(err.Error(), "000000.tar") {
		t.Errorf("no file may be opened: %v", err)
	}
	limit(lowest + 1) // one more: the reader makes do with it
	if _, err := r.Read(count(6), nil); err != nil {
		t.Errorf("one file may be opened: %v", err)
	}
}

// A file may want another alignment than the first one did.
func TestRealign(t *testing.T) {
	for _, kind := range Stores {
		s := store(t, kind, 6, 9000)
		r := reader(t, s, ReadOptions{Direct: true})
		align := r.align
		r.align = 1 // as if the first file could be read anywhere
		_, err := r.Read([]int32{5, 1, 2}, func(i int32, data []byte) error {
			if !bytes.Equal(data, content(int(i), int(s.Samples[i].Len))) {
				t.Errorf("%s: sample %d is wrong", kind, i)
			}
			return nil
		})
		if err != nil || r.align != align && r.align != 1 { // 1 where a file system reads buffered instead
			t.Errorf("%s: alignment %d, want %d: %v", kind, r.align, align, err)
		}
	}
}
