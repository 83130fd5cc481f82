package loader

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestRecords(t *testing.T) {
	dir := t.TempDir()
	writeRecords(t, filepath.Join(dir, "b.raw"), Raw, small(1), 3)
	writeRecords(t, filepath.Join(dir, "a.raw"), Raw, small(1), 2)
	other := small(1)
	other.Width = 10
	writeRecords(t, filepath.Join(dir, "c.raw"), Raw, other, 2)
	writeRecords(t, filepath.Join(dir, "d.tensor"), Tensor, small(4), 2)
	write(t, []byte("a camera's"), dir, "photo.raw")
	s := open(t, dir, "")
	if s.Store != Raw || len(s.Samples) != 5 || len(s.Files) != 2 || s.Record.Stride() != BlockSize ||
		s.Record.Bytes() != 216 {
		t.Fatalf("%+v", s)
	}
	if want := (Sample{File: 1, Label: 2, Off: 3 * BlockSize, Len: 216}); s.Samples[4] != want {
		t.Errorf("last sample %+v, want %+v", s.Samples[4], want)
	}
	skippedAs(t, s, map[string]string{"c.raw": "shape", "d.tensor": "tensor records",
		"photo.raw": "not a file of records"})
	tensor := open(t, dir, Tensor)
	if len(tensor.Samples) != 2 || !slices.Equal(tensor.Labels, []int32{0, 1, 2, 3, 4, 5, 6, 7}) ||
		tensor.Samples[1].Len != 4*216 {
		t.Errorf("%+v", tensor)
	}
}

// A file of records cut anywhere yields the records whose bytes are all there.
func TestTruncatedRecords(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.raw")
	writeRecords(t, path, Raw, small(1), 3)
	whole, err := os.ReadFile(path)
	must(t, err)
	if len(whole) != 4*BlockSize+12 {
		t.Fatalf("%d bytes", len(whole))
	}
	for _, tt := range []struct{ size, records, labels int }{
		{len(whole), 3, 3}, {len(whole) - 1, 3, 2}, {4 * BlockSize, 3, 0}, {3*BlockSize + 216, 3, 0},
		{3*BlockSize + 215, 2, 0}, {2 * BlockSize, 1, 0}, {BlockSize, 0, 0}, {BlockSize - 1, 0, 0}, {10, 0, 0},
		{0, 0, 0},
	} {
		write(t, whole[:tt.size], path)
		s, err := Open(dir, Raw)
		if tt.records == 0 {
			if !errors.Is(err, ErrNoSamples) {
				t.Errorf("%d bytes: %v", tt.size, err)
			}
			continue
		}
		must(t, err)
		if len(s.Samples) != tt.records {
			t.Errorf("%d bytes: %d records, want %d", tt.size, len(s.Samples), tt.records)
		}
		labels := 0
		for i, sample := range s.Samples {
			if sample.Label == int32(i) {
				labels++
			}
		}
		if labels != tt.labels {
			t.Errorf("%d bytes: %d labels, want %d", tt.size, labels, tt.labels)
		}
		if tt.records < 3 && !hasSkipped(s, "a.raw", int64(BlockSize*(1+tt.records)), "missing") {
			t.Errorf("%d bytes: nothing was said: %v", tt.size, s.Skipped)
		}
	}
}

func TestRecordWriterRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.raw")
	bad := small(1)
	bad.Layout = "hwc"
	for _, tt := range []struct {
		kind string
		r    Record
		why  string
	}{
		{Raw, small(2), "raw record of 2 images"}, {Raw, bad, "hwc"}, {"jpeg", small(1), "jpeg"},
		{Tensor, Record{}, "at least 1"},
		{Tensor, small(1 << 30), "1 GiB"},
	} {
		if _, err := CreateRecords(path, tt.kind, tt.r); err == nil || !strings.Contains(err.Error(), tt.why) {
			t.Errorf("%s %+v: %v, want %q", tt.kind, tt.r, err, tt.why)
		}
	}
	w, err := CreateRecords(path, Raw, small(1))
	must(t, err)
	w.out.file.Close() // what it wrote is lost
	if w.Close() == nil || w.Close() == nil || w.Append(make([]byte, 216), []int32{1}) == nil {
		t.Error("a writer that failed goes on")
	}
}

// FuzzRecordHeader holds that a header that is accepted describes records that lie
// within the file, however large it says they are, and survives encoding.
func FuzzRecordHeader(f *testing.F) {
	f.Add(recordHeader{Raw, 3, small(1), 0}.encode(), int64(4*BlockSize+12))
	f.Add([]byte(recordMagic+`{"kind":"tensor","count":9223372036854775807,"images":1,"height":1,"width":1,`+
		`"channels":1,"dtype":"uint8","layout":"nchw","stride":4096}`), int64(1)<<62)
	f.Fuzz(func(t *testing.T, block []byte, size int64) {
		h, err := parseRecordHeader(block)
		if err != nil {
			return
		}
		records, labels := h.layout(size)
		if records < 0 || labels < 0 || records > h.Count || labels > h.Count*int64(h.Images) {
			t.Fatalf("%+v of %d bytes: %d records, %d labels", h, size, records, labels)
		}
		if records > 0 && BlockSize+(records-1)*h.Stride()+h.Bytes() > size {
			t.Errorf("%+v: record %d ends behind %d bytes", h, records-1, size)
		}
		if labels > 0 && BlockSize+h.Count*h.Stride()+4*labels > size {
			t.Errorf("%+v: label %d ends behind %d bytes", h, labels-1, size)
		}
		if back, err := parseRecordHeader(h.encode()); err != nil || back != h {
			t.Errorf("%+v became %+v: %v", h, back, err)
		}
	})
}

func TestRecordHeaderIgnoresWhatItDoesNotKnow(t *testing.T) {
	h, err := parseRecordHeader([]byte(recordMagic + `{"kind":"raw","count":1,"images":1,"height":8,"width":9,` +
		`"channels":3,"dtype":"uint8","layout":"nhwc","stride":4096,"seed":7}` + strings.Repeat("\x00", 100)))
	if err != nil || h.Record != small(1) {
		t.Errorf("%+v: %v", h, err)
	}
}
