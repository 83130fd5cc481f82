package cuda

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"
)

func testBytes(t *testing.T, p promise, devices []Device) {
	for _, k := range []Kind{Pageable, Pinned, Registered} {
		for _, n := range []int{1, 4095, 64 << 10, 64<<10 + 1, 32 * 225 * 225 * 3 * 4} {
			t.Run(fmt.Sprintf("%s/%d", k, n), func(t *testing.T) {
				r := newRig(t, devices[0])
				src, dev := r.random(k, n, 1), r.alloc(OnDevice, n)
				dst := r.alloc(k, n+64)
				for i := range dst.Host {
					dst.Host[i] = 0xa5
				}
				r.must(r.Copy(dev, src, r.s))
				r.must(r.Copy(dst, dev, r.s))
				r.must(r.SyncStream(r.s))
				r.sameBytes(dst, src.Host)
				if tail := dst.Host[n:]; !bytes.Equal(tail, bytes.Repeat([]byte{0xa5}, 64)) {
					t.Errorf("the copy wrote beyond its %d bytes: % x", n, tail)
				}
				if locked := k != Pageable; !r.Info().Assumed && (src.PinTime > 0) != locked {
					t.Errorf("page-locking took %v", src.PinTime)
				}
			})
		}
	}
}

// testBlocking: a pageable copy waits for what is queued before it. testWait sees that
// others do not.
func testBlocking(t *testing.T, p promise, devices []Device) {
	r := newRig(t, devices[0])
	dev, host, e := r.alloc(OnDevice, 1<<20), r.random(Pageable, 1<<20, 4), r.event()
	for _, c := range [][2]*Buffer{{dev, host}, {host, dev}} {
		r.must(r.Step(10*time.Millisecond, r.s))
		r.must(r.Record(e, r.s))
		r.must(r.Copy(c[0], c[1], r.s))
		if !r.reached(e) {
			t.Errorf("a copy from %s to %s memory did not hold its caller", c[1].Kind, c[0].Kind)
		}
	}
}

func testRefused(t *testing.T, p promise, devices []Device) {
	r := newRig(t, devices[0])
	host, small := r.alloc(Pinned, 4096), r.alloc(Pageable, 4095)
	dev, smallDev := r.alloc(OnDevice, 4096), r.alloc(OnDevice, 4095)
	freed, freedDev := r.alloc(Pinned, 4096), r.alloc(OnDevice, 4096)
	r.must(freed.Free())
	r.must(freedDev.Free())
	for _, c := range []struct {
		why      string
		dst, src *Buffer
	}{
		{"host to host", host, small}, {"device to device", dev, smallDev},
		{"too small a host buffer", small, dev}, {"too small a device buffer", smallDev, host},
		{"from freed memory", dev, freed}, {"to freed memory", freed, dev}, {"to freed device memory", freedDev, host},
	} {
		if err := r.Copy(c.dst, c.src, r.s); !errors.Is(err, InvalidValue) {
			t.Errorf("%s: %v, want %v", c.why, err, InvalidValue)
		}
	}
}

func testGoroutines(t *testing.T, p promise, devices []Device) {
	var wg sync.WaitGroup
	errs := make([]error, 4*len(devices))
	for i := range errs {
		wg.Go(func() { errs[i] = roundTrips(devices[i%len(devices)], byte(i)) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// roundTrips carries its own bytes to d and back, on a goroutine of its own.
func roundTrips(d Device, seed byte) error {
	unbind, err := d.Bind()
	if err != nil {
		return err
	}
	defer unbind()
	s, err := d.NewStream()
	if err != nil {
		return err
	}
	defer d.CloseStream(s)
	var b [3]*Buffer
	for i, k := range []Kind{Pinned, OnDevice, Registered} {
		if b[i], err = d.Alloc(k, 300_001); err != nil {
			return err
		}
		defer b[i].Free()
	}
	src, dev, dst := b[0], b[1], b[2]
	rng := rand.NewChaCha8([32]byte{seed})
	for i := range 20 {
		rng.Read(src.Host)
		if err := errors.Join(d.Copy(dev, src, s), d.Step(100*time.Microsecond, s), d.Copy(dst, dev, s),
			d.SyncStream(s), d.Settle(dst)); err != nil {
			return err
		}
		if !bytes.Equal(dst.Host, src.Host) {
			return fmt.Errorf("round trip %d of goroutine %d brought other bytes", i, seed)
		}
		runtime.Gosched()
	}
	return nil
}

// imageNet normalises as ImageNet's training scripts do.
func imageNet(images, height, width int) Normalisation {
	return Normalisation{Images: images, Height: height, Width: width,
		Mean: [3]float64{0.485, 0.456, 0.406}, Deviation: [3]float64{0.229, 0.224, 0.225}}
}

func testNormalise(t *testing.T, p promise, devices []Device) {
	if devices[0].Info().Assumed {
		t.Skip("an assumed link has no kernels")
	}
	for _, n := range []Normalisation{
		imageNet(1, 1, 1), imageNet(3, 7, 5), imageNet(32, 225, 225), imageNet(2, 1, 257),
		imageNet(1<<16+1, 1, 2), // more images than a grid has rows
	} {
		t.Run(fmt.Sprintf("%dx%dx%d", n.Images, n.Height, n.Width), func(t *testing.T) {
			r := newRig(t, devices[0])
			size := 4 * 3 * n.Images * n.Height * n.Width
			src, levels := r.random(Pinned, size/4, 5), r.alloc(OnDevice, size/4)
			before, out, dst := r.random(Pinned, size+64, 6), r.alloc(OnDevice, size+64), r.alloc(Pinned, size+64)
			r.must(r.Copy(out, before, r.s))
			r.must(r.Copy(levels, src, r.s))
			r.must(r.Normalise(out, levels, n, r.s))
			r.must(r.Copy(dst, out, r.s))
			r.must(r.SyncStream(r.s))
			sameTensor(t, n, dst.Host[:size], src.Host)
			if string(dst.Host[size:]) != string(before.Host[size:]) {
				t.Error("it wrote beyond its result")
			}
		})
	}
}

// sameTensor compares got with the definition, (level/255 - mean) / deviation, to
// what rounding to float32 leaves.
func sameTensor(t *testing.T, n Normalisation, got, levels []byte) {
	t.Helper()
	area := n.Height * n.Width
	for i, level := range levels {
		image, pixel, c := i/3/area, i/3%area, i%3
		at := (image*3+c)*area + pixel
		want := (float64(level)/255 - n.Mean[c]) / n.Deviation[c]
		v := float64(math.Float32frombits(binary.NativeEndian.Uint32(got[4*at:])))
		if math.Abs(v-want) > 1e-6 || math.IsNaN(v) {
			t.Fatalf("image %d, pixel %d, channel %d: level %d became %v, want %v", image, pixel, c, level, v, want)
		}
	}
}

func testNormaliseRefused(t *testing.T, p promise, devices []Device) {
	if devices[0].Info().Assumed {
		t.Skip("an assumed link has no kernels")
	}
	r := newRig(t, devices[0])
	src, dst, host := r.alloc(OnDevice, 3*6), r.alloc(OnDevice, 4*3*6), r.alloc(Pinned, 4*3*6)
	good := imageNet(1, 2, 3)
	for _, c := range []struct {
		why      string
		dst, src *Buffer
		n        Normalisation
	}{
		{"to the host", host, src, good}, {"from the host", dst, host, good},
		{"too small a result", src, src, good}, {"too few levels", dst, src, imageNet(1, 7, 1)},
		{"more than fits numbers", dst, src, imageNet(1, 1<<31, 1<<33)},
		{"too many images", dst, src, imageNet(1<<25, 1, 1)},
	} {
		if err := r.Normalise(c.dst, c.src, c.n, r.s); !errors.Is(err, InvalidValue) {
			t.Errorf("%s: %v, want %v", c.why, err, InvalidValue)
		}
	}
}
