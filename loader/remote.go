package loader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// ErrMostBytes says that as many bytes were read from a remote store as may be.
var ErrMostBytes = errors.New("as many bytes were read as --max-bytes allows")

// Remote is a store of objects that are read over a network, such as a bucket of S3.
type Remote interface {
	// Reader is for one goroutine. With stream it reads on to the end of an object where it is asked for
	// a part: fewer requests, and perhaps bytes in vain.
	Reader(ctx context.Context, stream bool) RemoteReader
	Stats() RemoteStats
	Charge(bytes int64) // that another process read for this one
	String() string     // s3://BUCKET/PREFIX
}

// RemoteReader reads objects.
type RemoteReader interface {
	// ReadAt fills p from off of f; first is how long the first byte took where a request was made.
	ReadAt(f File, p []byte, off int64) (n int, first time.Duration, err error)
	Close()
}

// RemoteStats counts what was asked of a remote store.
type RemoteStats struct {
	Requests  int64 // with those that were repeated
	Retries   int64
	Throttled int64 // answers 503 and 429
	Bytes     int64 // that were received of objects
}

// Since is what was asked after before.
func (s RemoteStats) Since(before RemoteStats) RemoteStats {
	return RemoteStats{s.Requests - before.Requests, s.Retries - before.Retries, s.Throttled - before.Throttled,
		s.Bytes - before.Bytes}
}

// mostIndexed bounds the bytes of shards that are read when a remote set is opened: their headers lie
// between what their members hold, and all of it comes over the network.
const mostIndexed = 256 << 20

// OpenRemote finds the samples among the objects of a remote store, as Open does below a folder: shards
// where there are any, else images by their names, whose classes are the first folders of their keys. With
// part it reads of shards the first mostIndexed bytes, whole shards and one at least.
func OpenRemote(ctx context.Context, r Remote, objects []File, part bool) (*Set, error) {
	s := &Set{Store: Files, Root: r.String(), Remote: r}
	objects = slices.SortedFunc(slices.Values(objects), func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	others := 0
	var shards, images []File
	for _, o := range objects {
		switch {
		case slices.ContainsFunc(strings.Split(o.Path, "/"), hidden) || o.Path == InfoName:
		case isShard(o.Path):
			shards = append(shards, o)
		case isImage(o.Path):
			images = append(images, o)
		default:
			others++
		}
	}
	if len(shards) > 0 {
		others += len(images)
		s.addObjectShards(ctx, shards, part)
	} else {
		for _, o := range images {
			label := -1
			if class, _, inside := strings.Cut(o.Path, "/"); inside {
				if label = len(s.Classes) - 1; label < 0 || s.Classes[label] != class {
					s.Classes, label = append(s.Classes, class), label+1
				}
			}
			s.addImages([]File{o}, int32(label))
		}
	}
	if others > 0 {
		s.Skipped = append(s.Skipped, Fault{Path: ".", Reason: fmt.Sprintf("%d objects passed over", others)})
	}
	if err := cmp.Or(ctx.Err(), s.limits()); err != nil {
		return nil, err
	}
	if len(objects) == 0 {
		return nil, &PathError{s.Root, "no objects: there is no such folder in the bucket", ErrNoSamples}
	}
	return s, s.refused(s.Root)
}

// TotalSize is how many bytes files have together.
func TotalSize(files []File) (n int64) {
	for _, f := range files {
		n += f.Size
	}
	return n
}

// addObjectShards indexes shards by reading them, or with part the first of them.
func (s *Set) addObjectShards(ctx context.Context, objects []File, part bool) {
	n, bytes := 0, int64(0)
	for n < len(objects) && (n == 0 || !part || bytes+objects[n].Size <= mostIndexed) {
		bytes += objects[n].Size
		n++
	}
	s.addShards(objects[:n], func(f *File) (io.ReaderAt, func(), error) {
		r := s.Remote.Reader(ctx, true)
		return objectAt{r, *f}, r.Close, nil
	})
	if rest := len(objects) - n; rest > 0 {
		s.Skipped = append(s.Skipped, Fault{Path: objects[n].Path,
			Reason: fmt.Sprintf("this shard and %d after it are not read, to spare the network", rest-1)})
	}
}

// objectAt is an object as an io.ReaderAt.
type objectAt struct {
	r RemoteReader
	f File
}

func (a objectAt) ReadAt(p []byte, off int64) (int, error) {
	n, _, err := a.r.ReadAt(a.f, p, off)
	return n, err
}

// fetch is fill of a remote store.
func (r *Reader) fetch(u run) (at int64, err error) {
	began := r.o.Clock.Now()
	n, first, err := r.remote.ReadAt(r.set.Files[u.file], r.buf[:u.need-u.start], u.start)
	took := r.o.Clock.Now() - began
	r.stats.BytesRead += int64(n)
	r.stats.Nanos += int64(took)
	r.countRead(took)
	if r.o.First != nil && first > 0 {
		r.o.First(first)
	}
	return u.start + int64(n), err
}
