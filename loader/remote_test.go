package loader

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// objects are a Remote in memory, by their paths.
type objects map[string]string

func (o objects) Reader(context.Context, bool) RemoteReader { return o }
func (o objects) Stats() (s RemoteStats)                    { return s }
func (o objects) Charge(int64)                              {}
func (o objects) String() string                            { return "s3://bucket" }
func (o objects) Close()                                    {}

func (o objects) ReadAt(f File, p []byte, off int64) (int, time.Duration, error) {
	data, ok := o[f.Path]
	if !ok {
		return 0, 0, ErrMostBytes
	}
	return copy(p, data[off:]), 0, nil
}

func (o objects) open(ctx context.Context) (*Set, error) {
	var files []File
	for path, data := range o {
		files = append(files, File{Path: path, Size: int64(len(data))})
	}
	return OpenRemote(ctx, o, files, false)
}

// Objects have the labels that files of such names have; shards are indexed in place.
func TestObjects(t *testing.T) {
	s, err := objects{"b/2.jpg": "x", "a/1.jpg": "x", "b/sub/1.jpg": "x", "z.jpg": "x", "0.jpg": "x", "a/0.jpg": "",
		"a/notes": "x", ".hidden/1.jpg": "x", InfoName: "{}"}.open(t.Context())
	must(t, err)
	var labels []int32
	for _, x := range s.Samples {
		labels = append(labels, x.Label)
	}
	if !slices.Equal(paths(s), []string{"0.jpg", "a/1.jpg", "b/2.jpg", "b/sub/1.jpg", "z.jpg"}) ||
		!slices.Equal(labels, []int32{-1, 0, 1, 1, -1}) || !slices.Equal(s.Classes, []string{"a", "b"}) {
		t.Errorf("%q, labels %v, classes %q", paths(s), labels, s.Classes)
	}
	skippedAs(t, s, map[string]string{"a/0.jpg": "empty file", ".": "1 objects passed over"})
	shard := string(shardBytes(t, plain("0.jpg=A", "0.cls=4", "1.jpg=B")...))
	shards := objects{"a.tar": shard, "b.tar": shard[:1100], "other.jpg": "x"}
	if s, err = shards.open(t.Context()); err != nil || s.Store != Tar || len(s.Samples) != 3 || s.Samples[0].Label != 4 {
		t.Errorf("%+v, %v", s, err)
	}
	skippedAs(t, s, map[string]string{"b.tar": "in the middle of a member", ".": "1 objects passed over"})
	if got := readAll(t, s, ReadOptions{}, []int32{1, 0}); string(got[0]) != "B" || string(got[1]) != "A" {
		t.Errorf("%q", got)
	}
	gone := []File{{Path: "a.tar", Size: 2048}}
	if _, err := OpenRemote(t.Context(), objects{}, gone, false); !errors.Is(err, ErrMostBytes) {
		t.Errorf("no more bytes: %v", err)
	}
	if _, err := (objects{}).open(t.Context()); err == nil || !strings.Contains(err.Error(), "there is no such folder") {
		t.Errorf("no objects: %v", err)
	}
}
