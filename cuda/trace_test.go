//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite golden files")

// TestTrace holds that each back end makes the same driver calls, in the same
// contexts and with the same results: those in testdata/trace.golden.
func TestTrace(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	devices := fakeDevices(t, "FAKE_CUDA_LOG="+log, "FAKE_CUDA_DEVICES=2", "FAKE_CUDA_MEMORY=10000000",
		"FAKE_CUDA_HOST_LIMIT=10000000",
		"FAKE_CUDA_FAIL=cuModuleGetFunction:500:2,cuMemcpyHtoDAsync:719:3")
	failures := traced(t, devices)
	got, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	// gorgonia.org/cu has called cuInit before the log was there.
	got = []byte(strings.TrimPrefix(string(got), "cuInit - 0\n") + failures)
	golden := "testdata/trace.golden"
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(g), len(w)) {
		if i >= len(g) || i >= len(w) || g[i] != w[i] {
			t.Fatalf("line %d differs: %q, want %q", i+1, g[min(i, len(g)):], w[min(i, len(w)):])
		}
	}
}

// traced makes every driver call there is, some of which fail, and returns the
// errors, a line each. What it does depends on no time.
func traced(t *testing.T, devices []Device) string {
	var failures strings.Builder
	failed := func(err error) {
		t.Helper()
		if err == nil {
			t.Error("no error")
			return
		}
		failures.WriteString(err.Error() + "\n")
	}
	for i, d := range devices {
		unbind, err := d.Bind()
		if err != nil {
			t.Fatal(err)
		}
		r := &rig{TB: t, Device: d}
		stream := func() Stream { s, err := d.NewStream(); r.must(err); return s }
		event := func() Event { e, err := d.NewEvent(); r.must(err); return e }
		alloc := func(k Kind, n int) *Buffer { b, err := d.Alloc(k, n); r.must(err); return b }
		s, other, a, b := stream(), stream(), event(), event()
		var mem [4]*Buffer
		for k := range mem {
			mem[k] = alloc(Kind(k), 100_000)
		}
		for _, k := range []Kind{Pinned, Registered, OnDevice} {
			_, err := d.Alloc(k, 20_000_000)
			failed(err)
		}
		if i == 0 {
			r.must(d.Step(time.Millisecond, s))
			n := imageNet(1, 20, 20)
			tensor := alloc(OnDevice, n.ResultBytes())
			r.must(d.Normalise(tensor, mem[OnDevice], n, s))
			r.must(tensor.Free())
		} else {
			failed(d.Step(time.Millisecond, s)) // cuModuleGetFunction
		}
		r.must(d.Record(a, s))
		r.must(d.WaitEvent(other, a))
		r.must(d.Copy(mem[OnDevice], mem[Pinned], other))
		r.must(d.Copy(mem[Registered], mem[OnDevice], other))
		r.must(d.Record(b, other))
		_, err = d.Elapsed(a, event())
		failed(err) // never recorded
		r.must(d.SyncEvent(b))
		if !r.reached(b) {
			t.Error("not reached after a wait for it")
		}
		if r.elapsed(a, b) <= 0 {
			t.Error("no time passed")
		}
		r.must(d.SyncStream(s))
		r.must(d.CloseStream(s))
		r.must(d.CloseEvent(a))
		if i == 1 {
			r.must(d.Copy(mem[OnDevice], mem[Pinned], other))
			err := d.Copy(mem[OnDevice], mem[Pinned], other)
			failed(err)
			if !errors.Is(err, ErrLost) {
				t.Errorf("not lost: %v", err)
			}
			failed(d.SyncStream(other))
		}
		for k := range mem { // Close would do so in any order
			if err := mem[k].Free(); i == 0 || Kind(k) == Pageable {
				r.must(err)
			} else {
				failed(err)
			}
		}
		unbind()
		r.must(d.Close())
	}
	return failures.String()
}
