package cuda

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func testInfo(t *testing.T, p promise, devices []Device) {
	for i, d := range devices {
		info := d.Info()
		if info.Spec == "" || info.Name == "" || info.Backend == "" {
			t.Errorf("device %d: %+v", i, info)
		}
		if info.Assumed {
			continue
		}
		if spec, _, _ := strings.Cut(info.Spec, ":link="); spec != fmt.Sprintf("cuda:%d", i) || info.Loaded != (spec != info.Spec) || info.Index != i || info.Memory <= 0 || info.Driver == "" {
			t.Errorf("device %d: %+v", i, info)
		}
		newRig(t, d)
		if info = d.Info(); info.Free <= 0 || info.Free > info.Memory {
			t.Errorf("device %d: %d of %d bytes free", i, info.Free, info.Memory)
		}
	}
}

func testFree(t *testing.T, p promise, devices []Device) {
	r := newRig(t, devices[0])
	for _, k := range []Kind{Pageable, Pinned, Registered, OnDevice} {
		b := r.alloc(k, 100_000)
		if (b.Dev != 0) != (k == OnDevice) || (b.Host != nil) != (k != OnDevice) || b.Size != 100_000 || b.Kind != k {
			t.Errorf("%s: %+v", k, b)
		}
		for range 2 {
			if err := b.Free(); err != nil {
				t.Errorf("free %s memory: %v", k, err)
			}
		}
		if b.Host != nil || b.Dev != 0 {
			t.Errorf("%s memory is still there after Free", k)
		}
	}
	if err := (*Buffer)(nil).Free(); err != nil {
		t.Error(err)
	}
}

func testMemory(t *testing.T, p promise, devices []Device) {
	if !p.limited {
		t.Skip("memory is not limited")
	}
	r := newRig(t, devices[0])
	b, err := r.Alloc(OnDevice, int(r.Info().Memory)+1<<20)
	if !errors.Is(err, OutOfMemory) || errors.Is(err, ErrLost) || b != nil {
		t.Errorf("more than all memory: %v, %v", b, err)
	}
	r.alloc(OnDevice, 1<<20) // goes on
}

func testHandles(t *testing.T, p promise, devices []Device) {
	if !p.owned {
		t.Skip("handles are not checked")
	}
	r := newRig(t, devices[0])
	s, e, other := r.stream(), r.event(), r.event()
	r.must(r.CloseStream(s))
	r.must(r.CloseEvent(e))
	_, queryErr := r.Reached(e)
	_, elapsedErr := r.Elapsed(e, e)
	for i, err := range []error{
		r.CloseStream(s), r.CloseEvent(e), r.SyncStream(s), r.SyncEvent(e), r.Record(other, s), r.Record(e, r.s),
		r.WaitEvent(r.s, e), r.WaitEvent(s, other), r.Step(time.Millisecond, s), queryErr, elapsedErr,
	} {
		if !errors.Is(err, InvalidValue) {
			t.Errorf("use %d of something closed: %v", i, err)
		}
	}
	r.must(r.CloseStream(0))
	r.must(r.CloseEvent(0))
}

func testBind(t *testing.T, p promise, devices []Device) {
	r := newRig(t, devices[0])
	for _, d := range devices { // within the rig's own binding
		unbind, err := d.Bind()
		r.must(err)
		b, err := d.Alloc(OnDevice, 4096)
		r.must(err)
		r.must(b.Free())
		unbind()
		unbind()
	}
	r.alloc(OnDevice, 4096) // the rig's device is current again
}

func testReopen(t *testing.T, p promise, devices []Device) {
	d := devices[0]
	var held []*Buffer
	t.Run("hold", func(t *testing.T) {
		unbind, err := d.Bind()
		if err != nil {
			t.Fatal(err)
		}
		defer unbind()
		for _, k := range []Kind{Pageable, Pinned, Registered, OnDevice} {
			b, err := d.Alloc(k, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, b)
		}
	})
	for range 2 {
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if p.owned && slices.ContainsFunc(held, func(b *Buffer) bool { return b.Host != nil || b.Dev != 0 }) {
		t.Error("Close did not free all buffers")
	}
	for _, b := range held {
		if err := b.Free(); err != nil {
			t.Errorf("free after Close: %v", err)
		}
	}
	again := p.open(t)[0]
	defer again.Close()
	if err := roundTrips(again, 9, p.ordered); err != nil {
		t.Errorf("after a second open: %v", err)
	}
}
