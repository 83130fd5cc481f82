package loader

import (
	"context"
	"errors"
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
	String() string // s3://BUCKET/PREFIX
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
