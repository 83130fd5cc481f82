package decode

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/png"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Pictures that do not fit together wait for each other in the order in which they came, one
// that fits beside a picture does not, and one that does not fit alone is refused.
func TestMemoryBoundsAllRooms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const mb = 1 << 20
		m := NewMemory(8*mb, "this cgroup (memory.high)") // 7 for pictures, 1 to keep
		var order []int
		var mutex sync.Mutex // of what is counted
		most, now := int64(0), int64(0)
		count := func(bytes int64) {
			mutex.Lock()
			defer mutex.Unlock()
			now += bytes
			most = max(most, now)
		}
		use := func(i int, bytes int64, lasts time.Duration) {
			r := &room{memory: m}
			if err := r.take(bytes, &Info{}); err != nil {
				t.Error(err)
			}
			count(bytes)
			mutex.Lock()
			order = append(order, i)
			mutex.Unlock()
			time.Sleep(lasts)
			count(-bytes)
			r.Release()
		}
		for i, bytes := range []int64{5 * mb, 2 * mb, 6 * mb, 2 * mb, 3 * mb} {
			go use(i, bytes, time.Duration(2+i)*time.Second)
			synctest.Wait()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if !slices.Equal(order[:3], []int{0, 1, 2}) || len(order) != 5 || most > 7*mb || m.taken != 0 {
			t.Errorf("order %v, %d bytes at once, %d in the end", order, most, m.taken)
		}
		err := (&room{memory: m}).take(7*mb+1, &Info{Width: 12000, Height: 12000})
		if !errors.Is(err, ErrMemory) || !strings.Contains(err.Error(), "this cgroup (memory.high)") {
			t.Errorf("%v", err)
		}
	})
}

// What a decoder keeps for pictures of usual size makes none wait and is given back at the
// end; waiting is told while it lasts.
func TestMemoryKeepsAndTellsWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory(800, "this host") // 700 and 100
		a, b := &room{memory: m}, &room{memory: m}
		for _, r := range []*room{a, b} {
			for _, bytes := range []int64{40, 50, 30} {
				if err := r.take(bytes, &Info{}); err != nil || r.taken != 0 {
					t.Errorf("%v, %+v", err, r)
				}
				r.pixels = make([]byte, bytes)
				if r.Release(); r.pixels == nil {
					t.Error("forgot what it may keep")
				}
			}
		}
		info := &Info{}
		if n := testing.AllocsPerRun(100, func() {
			a.take(40, info)
			a.Release()
		}); n != 0 {
			t.Errorf("%v allocations a picture", n)
		}
		if err := a.take(700, &Info{}); err != nil {
			t.Error(err)
		}
		done := make(chan error)
		go func() { done <- b.take(60, &Info{}) }()
		time.Sleep(3 * time.Second)
		if w := b.Waited(); w != 3*time.Second {
			t.Errorf("waited %v", w)
		}
		time.Sleep(time.Second)
		a.Release()
		if err, w := <-done, b.Waited(); err != nil || w != time.Second || a.pixels != nil {
			t.Errorf("%v, waited %v, %d bytes of pixels", err, w, len(a.pixels))
		}
		if another := m.Another(); another.Bytes() != m.Bytes() || another.kept != 0 || m.kept == 0 {
			t.Errorf("another of %d bytes has %d kept", another.Bytes(), another.kept)
		}
		must(t, errors.Join(a.Close(), b.Close()))
		if m.taken != 0 || m.kept != 0 {
			t.Errorf("%d taken, %d kept in the end", m.taken, m.kept)
		}
	})
}

// Both decoders refuse what does not fit before they allocate it, and decode it where it does.
func TestDecodersHeedMemory(t *testing.T) {
	var file bytes.Buffer
	img := image.NewGray(image.Rect(0, 0, 1000, 1000))
	img.SetGray(5, 5, color.Gray{9})
	if err := png.Encode(&file, img); err != nil {
		t.Fatal(err)
	}
	info, err := Probe(file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for bytes, fits := range map[int64]bool{1e6: false, 5e6: false, 6e6: true, 64e6: true} {
		for _, kind := range []string{Go, Auto} {
			d, err := NewMemory(bytes, "this host").New(kind)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				_, err = d.Decode(file.Bytes(), &info, image.Rect(0, 0, 1000, 1000))
				d.Release()
				if fits != (err == nil) || !fits && !errors.Is(err, ErrMemory) {
					t.Errorf("%s in %d bytes: %v", kind, bytes, err)
				}
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
