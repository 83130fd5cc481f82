//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// loadedFake is the first device of a fake driver of its own behind a loaded link.
func loadedFake(tb testing.TB, text string, settings ...string) *Loaded {
	tb.Helper()
	return newLoaded(fakeDevice(tb, settings...), specs(tb, text)[0]).(*Loaded)
}

// TestConformanceLoaded: what is not loaded is as on any device.
func TestConformanceLoaded(t *testing.T) {
	c := fakeCalls(t, "FAKE_CUDA_DEVICES=2", "FAKE_CUDA_MEMORY=1000000000")
	conformance(t, promise{twoWay: true, open: func(t *testing.T) []Device {
		devices := devicesIn(t, c)
		for i := range devices {
			devices[i] = newLoaded(devices[i], specs(t, "cuda:0:link=gen3x4", "cuda:1:link=gen3x4")[i])
		}
		return devices
	}})
}

const articleBytes = 19_440_000

func TestLoadedCopiesTakeTheirTime(t *testing.T) {
	for _, c := range []struct {
		spec, settings string
		kind           Kind
		want           time.Duration
		copies         int
	}{
		// 0.80 of 7.877 GB/s, the real one has 16
		{"cuda:0:link=gen3x8", "FAKE_CUDA_LATENCY_US=0", Pinned, 3_085_000, 2},
		{"cuda:0:link=gen3x8", "FAKE_CUDA_LATENCY_US=30", Registered, 3_085_000, 2},    // 1.245 ms each
		{"cuda:0:link=gen3x4:gbps=2", "FAKE_CUDA_LATENCY_US=30", Pinned, 9_720_000, 7}, // 7.8 of them
		// hardly more than the real one
		{"cuda:0:link=gen4x16:gbps=15.9", "FAKE_CUDA_LATENCY_US=0", Pinned, 1_222_642, 1},
		{"cuda:0:link=gen4x16:gbps=16", "FAKE_CUDA_LATENCY_US=0", Pinned, 1_215_000, 1},               // as much
		{"cuda:0:link=gen3x16:gbps=8:pageable-gbps=1", "FAKE_CUDA_D2H_GBPS=12", Pinned, 2_430_000, 2}, // exactly two
	} {
		t.Run(c.spec+" "+c.settings, func(t *testing.T) {
			d := loadedFake(t, c.spec, c.settings)
			r := newRig(t, d)
			src, dev, dst := r.random(c.kind, articleBytes, 1), r.alloc(OnDevice, articleBytes),
				r.alloc(c.kind, articleBytes)
			l, err := d.Load(dev, src)
			r.must(err)
			if l.Copies != c.copies || l.Target.Round(time.Microsecond) != c.want.Round(time.Microsecond) ||
				l.Bytes(articleBytes) < articleBytes {
				t.Errorf("%+v, want %d copies for %v", l, c.copies, c.want)
			}
			both := r.timed(func() {
				r.must(r.Copy(dev, src, r.s))
				r.must(r.Copy(dev, src, r.s))
			})
			achieved := d.Achieved()
			if len(achieved) < 2 {
				t.Fatalf("%d times were kept", len(achieved))
			}
			for _, got := range append(achieved, both/2) {
				if got < c.want*99/100 || got > c.want*101/100 {
					t.Errorf("a copy takes %v, want %v within 1 %%", got, c.want)
				}
			}
			if again := d.Achieved(); len(again) != 0 {
				t.Errorf("%d times were given twice", len(again))
			}
			r.must(r.Copy(dst, dev, r.s)) // not loaded in this direction
			r.must(r.SyncStream(r.s))
			r.sameBytes(dst, src.Host)
			if len(d.Achieved()) != 0 {
				t.Error("a copy back was loaded, too")
			}
		})
	}
}

// A pageable copy holds its caller until the time is over, and brings the bytes.
func TestLoadedPageableCopiesHoldTheirCaller(t *testing.T) {
	d := loadedFake(t, "cuda:0:link=gen3x8:pageable-gbps=1")
	r := newRig(t, d)
	const n = 2_000_000 // 0.33 ms at the fake's 6 GB/s, 2 ms at 1
	src, dev, dst := r.random(Pageable, n, 1), r.alloc(OnDevice, n), r.alloc(Pageable, n)
	for _, c := range [][2]*Buffer{{dev, src}, {dst, dev}} {
		l, err := d.Load(c[0], c[1])
		r.must(err)
		if l.Target != 2*time.Millisecond || l.Real < 300*time.Microsecond {
			t.Errorf("%+v, want 2 ms for what takes 0.33 ms at least", l)
		}
		start := time.Now()
		r.must(r.Copy(c[0], c[1], r.s))
		if held := time.Since(start); held < l.Target {
			t.Errorf("the copy held its caller for %v, want %v at least", held, l.Target)
		}
		if a := d.Achieved(); len(a) != 1 || a[0] < l.Target {
			t.Errorf("achieved %v", a)
		}
	}
	r.sameBytes(dst, src.Host)
}

func TestLoadRefuses(t *testing.T) {
	for spec, want := range map[string]string{
		"cuda:0:link=gen4x16":           "the real link is slower than the link asked for",
		"cuda:0:link=gen3x16:gbps=0.01": "at most 512 can be queued",
	} {
		t.Run(spec, func(t *testing.T) { // a driver at a time
			d := loadedFake(t, spec)
			r := newRig(t, d)
			src, dev := r.random(Pinned, articleBytes, 1), r.alloc(OnDevice, articleBytes)
			_, err := d.Load(dev, src)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", spec, err, want)
			}
			if got := r.timed(func() { r.must(r.Copy(dev, src, r.s)) }); got > 1_300*time.Microsecond {
				t.Errorf("%s: a copy takes %v after it could not be loaded", spec, got)
			}
		})
	}
}

// What fails in the driver must come out, and leave nothing loaded.
func TestLoadFails(t *testing.T) {
	d := loadedFake(t, "cuda:0:link=gen3x8", "FAKE_CUDA_FAIL=cuMemcpyHtoDAsync:719:9")
	r := newRig(t, d)
	src, dev := r.alloc(Pinned, articleBytes), r.alloc(OnDevice, articleBytes)
	if _, err := d.Load(dev, src); !errors.Is(err, ErrLost) {
		t.Errorf("%v, want a lost device", err)
	}
	if len(d.loads) != 0 {
		t.Error("the copy is loaded all the same")
	}
}

// A loaded copy allocates nothing but what asking for its time does.
func TestLoadedCopiesAllocateNothing(t *testing.T) {
	if raceDetector {
		t.Skip("allocations under the race detector are others")
	}
	d := loadedFake(t, "cuda:0:link=gen3x4:gbps=1.03")
	r := newRig(t, d)
	const n = 205_000
	src, dev := r.random(Pinned, n, 1), r.alloc(OnDevice, n)
	l, err := d.Load(dev, src)
	r.must(err)
	if l.Rest == 0 {
		t.Fatalf("%+v: no copy is cut short", l)
	}
	for range 2 * loadRing { // makes the events
		r.must(r.Copy(dev, src, r.s))
		r.must(r.SyncStream(r.s))
	}
	d.Achieved()
	d.achieved = make([]time.Duration, 0, 4096)
	if got := testing.AllocsPerRun(100, func() {
		r.must(r.Copy(dev, src, r.s))
		r.must(r.SyncStream(r.s))
	}); got > 1 {
		t.Errorf("%v allocations for a copy", got)
	}
}
