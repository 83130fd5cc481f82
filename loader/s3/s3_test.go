package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/minio/minio-go/v7"

	"dlbench/loader"
	"dlbench/loader/s3/s3test"
)

func open(t *testing.T, place string, most int64) *Bucket {
	t.Helper()
	b, err := Open(place, most)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// noise is n bytes that differ from place to place.
func noise(n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(i*7 ^ i>>8*13 ^ i>>16)
	}
	return p
}

func TestListAndRead(t *testing.T) {
	dir := s3test.Gateway(t)
	want := noise(300_000)
	s3test.Put(t, dir, "bucket/train/b/2.jpg", want)
	s3test.Put(t, dir, "bucket/train/a/1.jpg", want[:10])
	s3test.Put(t, dir, "bucket/trainer/x.jpg", want[:10]) // another prefix
	b := open(t, "s3://bucket/train", 0)
	files, err := b.List(t.Context())
	if err != nil || len(files) != 2 || files[0].Path != "a/1.jpg" || files[1].Path != "b/2.jpg" ||
		files[1].Size != 300_000 {
		t.Fatalf("%v, %+v", err, files)
	}
	for _, stream := range []bool{false, true} {
		r := b.Reader(t.Context(), stream)
		before := b.Stats()
		for _, span := range [][2]int{{0, 100}, {100, 1000}, {5000, 60_000}, {250_000, 50_000}, {0, 300_000}} {
			got := make([]byte, span[1])
			n, _, err := r.ReadAt(files[1], got, int64(span[0]))
			if err != nil || n != span[1] || !bytes.Equal(got, want[span[0]:span[0]+span[1]]) {
				t.Errorf("stream %v, %v: %d bytes, %v", stream, span, n, err)
			}
		}
		r.Close()
		// A stream goes on over gaps: it asks anew for the beginning alone.
		if n := b.Stats().Requests - before.Requests; n != map[bool]int64{false: 5, true: 2}[stream] {
			t.Errorf("stream %v: %d requests", stream, n)
		}
	}
	if s := b.Stats(); s.Retries != 0 || s.Throttled != 0 {
		t.Errorf("%+v without a fault", s)
	}
}

// What the network and a store do to an answer is mended by another request, and counted.
func TestFaults(t *testing.T) {
	dir := s3test.Gateway(t)
	want := noise(500_000)
	s3test.Put(t, dir, "bucket/a/1.jpg", want)
	for name, c := range map[string]struct {
		fault     func(w http.ResponseWriter, r *http.Request)
		throttled int64
	}{
		"slow down": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, "<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>")
		}, 2},
		"cut off": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "500000")
			w.Header().Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
			w.Write(want[:200_000])
			panic(http.ErrAbortHandler)
		}, 0},
		"no answer": {func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var faults atomic.Int64
			s3test.Between(t, func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasSuffix(r.URL.Path, ".jpg") || r.Header.Get("Range") != "" || faults.Add(1) > 2 {
					return false
				}
				c.fault(w, r)
				return true
			})
			b := open(t, "s3://bucket", 0)
			files, err := b.List(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got := make([]byte, len(want))
			n, _, err := b.Reader(t.Context(), false).ReadAt(files[0], got, 0)
			s := b.Stats()
			if err != nil || n != len(want) || !bytes.Equal(got, want) || s.Throttled != c.throttled || faults.Load() < 1 {
				t.Errorf("%d bytes, %v, %+v after %d faults", n, err, s, faults.Load())
			}
		})
	}
}

// Each way in which a store refuses is a line that says what to do, and holds no secret.
func TestRefused(t *testing.T) {
	dir := s3test.Gateway(t)
	s3test.Put(t, dir, "bucket/a/1.jpg", noise(1000))
	endpoint := os.Getenv("AWS_ENDPOINT_URL")
	refuse := func(status int, code, extra string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(status)
			fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s %s</Message>%s</Error>", code, s3test.Secret, s3test.Key, extra)
			return true
		}
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	secure.Config.ErrorLog = nil
	env := func(name, value string) func(t *testing.T) {
		return func(t *testing.T) { t.Setenv(name, value) }
	}
	answers := func(status int, code, extra string) func(t *testing.T) {
		return func(t *testing.T) { s3test.Between(t, refuse(status, code, extra)) }
	}
	const region = "<Region>eu-west-1</Region>"
	for name, c := range map[string]struct {
		place string
		set   func(t *testing.T)
		want  string
	}{
		"no bucket":       {"s3://gone/x", nil, "there is no bucket gone"},
		"no place":        {"s3://", nil, "want s3://BUCKET/PREFIX"},
		"wrong secret":    {"s3://bucket", env("AWS_SECRET_ACCESS_KEY", s3test.Secret[1:]), "credentials are refused"},
		"wrong key":       {"s3://bucket", env("AWS_ACCESS_KEY_ID", s3test.Key[1:]), "credentials are refused"},
		"anonymous":       {"s3://bucket", env("AWS_ACCESS_KEY_ID", ""), "set AWS_ACCESS_KEY_ID"},
		"nobody listens":  {"s3://bucket", env("AWS_ENDPOINT_URL", "http://"+closed.Addr().String()), "connection refused"},
		"no such host":    {"s3://bucket", env("AWS_ENDPOINT_URL", "http://no-such-host.invalid"), "no-such-host.invalid"},
		"no URL":          {"s3://bucket", env("AWS_ENDPOINT_URL", "localhost:1"), "want http://HOST:PORT"},
		"password in URL": {"s3://bucket", env("AWS_ENDPOINT_URL", "http://u:"+s3test.Secret+"@h"), "want http://HOST"},
		"TLS":             {"s3://bucket", env("AWS_ENDPOINT_URL", secure.URL), "certificate"},
		"clock":           {"s3://bucket", answers(403, "RequestTimeTooSkewed", ""), "set the clock"},
		"region":          {"s3://bucket", answers(400, "AuthorizationHeaderMalformed", region), "AWS_REGION=eu-west-1"},
		"redirect":        {"s3://bucket", answers(301, "PermanentRedirect", ""), "set AWS_REGION"},
		"unknown":         {"s3://bucket", answers(400, "Strange", ""), "***"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("AWS_ENDPOINT_URL", endpoint)
			if c.set != nil {
				c.set(t)
			}
			b, err := Open(c.place, 0)
			if err == nil {
				_, err = b.List(t.Context())
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%v; want one line with %q", err, c.want)
			}
			for _, secret := range []string{s3test.Secret, s3test.Secret[1:], s3test.Key} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("a secret in %q", err)
				}
			}
		})
	}
}

// An object that changes after it was listed is an error, and so is one that is shorter.
func TestChanged(t *testing.T) {
	dir := s3test.Gateway(t)
	s3test.Put(t, dir, "bucket/1.jpg", noise(1000))
	b := open(t, "s3://bucket", 0)
	put := func(data []byte) {
		to, size := minio.PutObjectOptions{}, int64(len(data))
		if _, err := b.core.Client.PutObject(t.Context(), "bucket", "2.jpg", bytes.NewReader(data), size, to); err != nil {
			t.Fatal(err)
		}
	}
	put(noise(1000))
	files, err := b.List(t.Context())
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	put(noise(1001)[1:])
	_, _, err = b.Reader(t.Context(), false).ReadAt(files[1], make([]byte, 1000), 0)
	if err == nil || !strings.Contains(err.Error(), "changed after it was listed") {
		t.Errorf("changed: %v", err)
	}
	longer := loader.File{Path: "1.jpg", Size: 2000}
	n, _, err := b.Reader(t.Context(), false).ReadAt(longer, make([]byte, 2000), 0)
	if n != 1000 || err == nil || !strings.Contains(err.Error(), "shorter than") {
		t.Errorf("shorter: %d, %v", n, err)
	}
	os.Remove(filepath.Join(dir, "bucket", "1.jpg"))
	if _, _, err = b.Reader(t.Context(), false).ReadAt(files[0], make([]byte, 1000), 0); err == nil ||
		!strings.Contains(err.Error(), "no such object") {
		t.Errorf("gone: %v", err)
	}
}

func TestMostBytes(t *testing.T) {
	dir := s3test.Gateway(t)
	s3test.Put(t, dir, "bucket/1.jpg", noise(1000))
	b := open(t, "s3://bucket", 2500)
	files, err := b.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := b.Reader(t.Context(), false)
	for i := range 3 {
		_, _, err = r.ReadAt(files[0], make([]byte, 1000), 0)
		if (i < 2) != (err == nil) {
			t.Errorf("read %d: %v", i, err)
		}
	}
	if !errors.Is(err, loader.ErrMostBytes) || b.Stats().Bytes > 2500 {
		t.Errorf("%v after %d bytes", err, b.Stats().Bytes)
	}
	b = open(t, "s3://bucket", 2500) // so, too, where many read at once
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() { b.Reader(t.Context(), false).ReadAt(files[0], make([]byte, 1000), 0) })
	}
	group.Wait()
	if n := b.Stats().Bytes; n != 2000 {
		t.Errorf("%d bytes by many readers", n)
	}
}

// A folder becomes objects, all of them or none.
func TestUpload(t *testing.T) {
	dir := s3test.Gateway(t)
	s3test.Put(t, dir, "bucket/other", noise(10))
	folder := t.TempDir()
	for i := range 30 {
		s3test.Put(t, folder, fmt.Sprintf("c/%02d.jpg", i), noise(1000+i))
	}
	b := open(t, "s3://bucket/set", 0)
	if err := b.Empty(t.Context()); err != nil {
		t.Fatal(err)
	}
	done := 0
	if err := b.Upload(t.Context(), folder, func(n, _ int) { done = n }); err != nil || done != 30 {
		t.Fatal(done, err)
	}
	files, err := b.List(t.Context())
	if err != nil || len(files) != 30 || files[29].Path != "c/29.jpg" || files[29].Size != 1029 {
		t.Fatalf("%v, %+v", err, files)
	}
	if err := b.Empty(t.Context()); err == nil || !strings.Contains(err.Error(), "s3://bucket/set is not empty") {
		t.Errorf("not empty: %v", err)
	}
	for name, upload := range map[string]func(b *Bucket) error{
		"interrupted": func(b *Bucket) error {
			ctx, cancel := context.WithCancel(t.Context())
			return b.Upload(ctx, folder, func(n, _ int) {
				if n == 5 {
					cancel()
				}
			})
		},
		"refused": func(b *Bucket) error {
			s3test.Between(t, func(w http.ResponseWriter, r *http.Request) bool {
				refused := r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "17.jpg")
				if refused {
					w.WriteHeader(http.StatusForbidden)
				}
				return refused
			})
			return open(t, b.String(), 0).Upload(t.Context(), folder, func(int, int) {})
		},
	} {
		b := open(t, "s3://bucket/"+name, 0)
		if err := upload(b); err == nil || name == "interrupted" && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		if err := b.Empty(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
