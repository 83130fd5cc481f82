package s3

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"

	"dlbench/loader"
	"dlbench/loader/s3/s3test"
)

// BenchmarkRead reads objects of the size of photographs through the loader, and in a plain loop over
// minio-go, in turn, from the same store by as many readers. The ratio is that of the rates, the median over
// the operations, each of which reads the objects once by either.
func BenchmarkRead(b *testing.B) {
	dir := s3test.Gateway(b)
	const objects, size = 256, 110_000
	for i := range objects {
		s3test.Put(b, dir, fmt.Sprintf("bucket/%03d.jpg", i), noise(size))
	}
	bucket, err := Open("s3://bucket", 0)
	if err != nil {
		b.Fatal(err)
	}
	files, err := bucket.List(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	set, err := loader.OpenRemote(b.Context(), bucket, files, false)
	if err != nil {
		b.Fatal(err)
	}
	plan := set.Plan(loader.Order{}, 1)
	for _, readers := range []int{1, 16} {
		b.Run(fmt.Sprintf("readers=%d", readers), func(b *testing.B) {
			b.SetBytes(2 * objects * size)
			f, err := loader.NewFeed(b.Context(), set, plan,
				loader.FeedOptions{Readers: readers, Depth: 4 * readers})
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			var ratios []float64
			for range b.N {
				began := time.Now()
				f.Grant(objects)
				for range objects {
					if _, err := f.Next(); err != nil {
						b.Fatal(err)
					}
					f.Release()
				}
				own := time.Since(began)
				began = time.Now()
				if err := plainly(b, bucket.core.Client, files, readers); err != nil {
					b.Fatal(err)
				}
				ratios = append(ratios, time.Since(began).Seconds()/own.Seconds())
			}
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], "ratio")
		})
	}
}

// plainly reads objects by so many readers.
func plainly(b *testing.B, client *minio.Client, files []loader.File, readers int) error {
	var next atomic.Int64
	failed := make(chan error, readers)
	for range readers {
		go func() {
			var err error
			buf := make([]byte, files[0].Size)
			for i := next.Add(1) - 1; i < int64(len(files)) && err == nil; i = next.Add(1) - 1 {
				err = plain(b, client, files[i].Path, buf)
			}
			failed <- err
		}()
	}
	var err error
	for range readers {
		err = errors.Join(err, <-failed)
	}
	return err
}

func plain(b *testing.B, client *minio.Client, key string, buf []byte) error {
	o, err := client.GetObject(b.Context(), "bucket", key, minio.GetObjectOptions{})
	if err != nil {
		return err
	}
	defer o.Close()
	_, err = io.ReadFull(o, buf)
	return err
}
