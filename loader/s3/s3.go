// Package s3 reads and writes the objects of a bucket: of AWS, or of any server that speaks
// its protocol. It counts what the store makes a reader wait for: requests that had to be
// repeated, those that were throttled, and the bytes that came over the network.
package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7"

	"dlbench/loader"
)

// tries is how often a request is made before it fails, by minio-go and where an answer broke off.
const tries = 5

// Bucket is the part of a bucket below a prefix.
type Bucket struct {
	core           *minio.Core
	config         config
	bucket, prefix string
	most           int64 // bytes that may be read in all; 0 for any number

	stats struct{ requests, calls, throttled, read atomic.Int64 }
	asked atomic.Int64 // bytes that readers were asked for, of most
}

// Open connects to the store that holds place, s3://BUCKET/PREFIX, and reads at most so many bytes
// from it; 0 is any number. Endpoint, region and credentials come from where the AWS tools have
// them; without credentials requests are anonymous.
func Open(place string, most int64) (*Bucket, error) {
	bucket, prefix, err := split(place)
	if err != nil {
		return nil, err
	}
	b := &Bucket{bucket: bucket, prefix: prefix, most: most}
	if b.config, err = configOf(); err != nil {
		return nil, err
	}
	transport, err := minio.DefaultTransport(b.config.secure)
	if err != nil {
		return nil, err
	}
	transport.MaxIdleConnsPerHost = mostConnections
	transport.MaxIdleConns = mostConnections
	transport.ResponseHeaderTimeout = 30 * time.Second
	lookup := minio.BucketLookupAuto
	if b.config.given {
		lookup = minio.BucketLookupPath
	}
	b.core, err = minio.NewCore(b.config.endpoint, &minio.Options{Creds: b.config.chain, Secure: b.config.secure,
		Region: b.config.region, Transport: counting{transport, b}, BucketLookup: lookup, MaxRetries: tries})
	if err != nil {
		return nil, b.explain(err)
	}
	return b, nil
}

// mostConnections is how many connections stay open between requests: one a reader.
const mostConnections = 256

func (b *Bucket) String() string { return Prefix + b.bucket + "/" + strings.TrimSuffix(b.prefix, "/") }

// counting counts requests and throttling; minio-go repeats what failed on its own.
type counting struct {
	http.RoundTripper
	b *Bucket
}

func (c counting) RoundTrip(r *http.Request) (*http.Response, error) {
	c.b.stats.requests.Add(1)
	answer, err := c.RoundTripper.RoundTrip(r)
	throttled := []int{http.StatusServiceUnavailable, http.StatusTooManyRequests}
	if err == nil && slices.Contains(throttled, answer.StatusCode) {
		c.b.stats.throttled.Add(1)
	}
	return answer, err
}

// Stats are the counts since the store was opened.
func (b *Bucket) Stats() loader.RemoteStats {
	s := loader.RemoteStats{Requests: b.stats.requests.Load(), Throttled: b.stats.throttled.Load(),
		Bytes: b.stats.read.Load()}
	s.Retries = max(0, s.Requests-b.stats.calls.Load())
	return s
}

// Charge counts bytes that another process read.
func (b *Bucket) Charge(bytes int64) {
	b.stats.read.Add(bytes)
	b.asked.Add(bytes)
}

// List returns all objects below the prefix, in the order of their keys.
func (b *Bucket) List(ctx context.Context) ([]loader.File, error) { return b.list(ctx, math.MaxInt) }

// Empty is nil if there is no object below the prefix.
func (b *Bucket) Empty(ctx context.Context) error {
	found, err := b.list(ctx, 1)
	if err == nil && len(found) > 0 {
		err = fmt.Errorf("%s is not empty: name a prefix below which there is nothing", b)
	}
	return err
}

// list returns at most so many objects.
func (b *Bucket) list(ctx context.Context, most int) (all []loader.File, err error) {
	before := b.stats.requests.Load()
	defer func() { b.stats.calls.Add(b.stats.requests.Load() - before) }() // pages are no retries
	below := minio.ListObjectsOptions{Prefix: b.prefix, Recursive: true}
	for o := range b.core.Client.ListObjectsIter(ctx, b.bucket, below) {
		if o.Err != nil {
			return nil, b.explain(o.Err)
		}
		if !strings.HasSuffix(o.Key, "/") { // a folder, as some tools make them
			all = append(all, loader.File{Path: strings.TrimPrefix(o.Key, b.prefix), Size: o.Size, ETag: o.ETag})
		}
		if len(all) == most {
			break
		}
	}
	return all, nil
}

// cleanLimit is how long what was written may take to be removed.
const cleanLimit = time.Minute

// Upload writes the files of a folder as objects below the prefix. After an error, or when ctx ends, it
// removes those that it wrote.
func (b *Bucket) Upload(ctx context.Context, dir string, progress func(done, total int)) error {
	var files []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		return err
	}
	var mutex sync.Mutex
	done := 0
	err = each(ctx, files, func(ctx context.Context, file string) error {
		ctx = context.WithoutCancel(ctx) // cut off, it might be written all the same, after it was removed here
		_, err := b.core.Client.FPutObject(ctx, b.bucket, b.prefix+file, filepath.Join(dir, file), minio.PutObjectOptions{})
		if err != nil {
			return b.explain(err)
		}
		mutex.Lock()
		defer mutex.Unlock()
		done++
		progress(done, len(files))
		return nil
	})
	if err == nil {
		return nil
	}
	clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanLimit)
	defer cancel()
	left := each(clean, files, func(ctx context.Context, file string) error {
		return b.explain(b.core.Client.RemoveObject(ctx, b.bucket, b.prefix+file, minio.RemoveObjectOptions{}))
	})
	if left != nil {
		return errors.Join(err, fmt.Errorf("objects below %s may be left: %w", b, left))
	}
	return err
}

// each calls do with the files, several at once, until one fails.
func each(ctx context.Context, files []string, do func(ctx context.Context, file string) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	loader.Parallel(len(files), func(i int) {
		if ctx.Err() != nil {
			return
		}
		if err := do(ctx, files[i]); err != nil {
			cancel(err)
		}
	})
	return context.Cause(ctx)
}

// Reader reads objects, for one goroutine. A stream that is read on from where it stopped needs no
// new request.
func (b *Bucket) Reader(ctx context.Context, stream bool) loader.RemoteReader {
	return &reader{b: b, ctx: ctx, stream: stream}
}

type reader struct {
	b      *Bucket
	ctx    context.Context
	stream bool

	body io.ReadCloser
	path string
	at   int64
}

// mostSkip is how many bytes of a stream are read and dropped rather than asked for anew.
const mostSkip = 4 << 20

// ReadAt fills p with the bytes of a file from off on, and returns how long the first of them took
// where a request was made. It takes up again where a connection broke.
func (r *reader) ReadAt(f loader.File, p []byte, off int64) (n int, first time.Duration, err error) {
	if all := r.b.asked.Add(int64(len(p))); r.b.most > 0 && all > r.b.most {
		r.b.asked.Add(-int64(len(p)))
		return 0, 0, loader.ErrMostBytes
	}
	for try := 1; ; try++ {
		var took time.Duration
		took, err = r.seek(f, off+int64(n), len(p)-n)
		first += took
		if err == nil {
			var got int
			got, err = io.ReadFull(r.body, p[n:])
			r.b.stats.read.Add(int64(got))
			n += got
			r.at += int64(got)
		}
		_, answered := errors.AsType[minio.ErrorResponse](err)
		if err == nil || r.ctx.Err() != nil || try == tries || answered {
			break
		}
		r.Close()
	}
	if err == io.ErrUnexpectedEOF || err == io.EOF {
		err = fmt.Errorf("the object is shorter than the %d bytes that the store lists", f.Size)
	}
	if err != nil || r.at == f.Size {
		r.Close()
	}
	return n, first, err
}

// seek has the body go on at off of f, and returns how long a new request took to its first byte.
func (r *reader) seek(f loader.File, off int64, n int) (time.Duration, error) {
	if skip := off - r.at; r.body != nil && r.path == f.Path && skip >= 0 && skip <= mostSkip {
		got, err := io.CopyN(io.Discard, r.body, skip)
		r.b.Charge(got)
		r.at += got
		return 0, err
	}
	r.Close()
	var o minio.GetObjectOptions
	if f.ETag != "" {
		o.SetMatchETag(f.ETag)
	}
	end := off + int64(n) - 1
	if r.stream {
		end = f.Size - 1
	}
	if off > 0 || end < f.Size-1 {
		o.SetRange(off, end)
	}
	r.b.stats.calls.Add(1)
	began := time.Now()
	body, _, _, err := r.b.core.GetObject(r.ctx, r.b.bucket, r.b.prefix+f.Path, o)
	if err != nil {
		return 0, r.b.explain(err)
	}
	r.body, r.path, r.at = body, f.Path, off
	return time.Since(began), nil
}

// Close ends the stream.
func (r *reader) Close() {
	if r.body != nil {
		r.body.Close()
		r.body = nil
	}
}
