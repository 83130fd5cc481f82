package s3

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dlbench/loader"
)

const (
	testKey    = "AKIATESTTESTTESTTEST"
	testSecret = "0123456789abcdefSECRETfedcba9876543210"
)

// gateway starts versitygw over a folder, a bucket each folder in it, and sets the environment as a
// user of it has it. It is skipped where there is no versitygw.
func gateway(t *testing.T) (dir string) {
	t.Helper()
	program, err := exec.LookPath("versitygw")
	if err != nil {
		t.Skip("no versitygw on the PATH: go install github.com/versity/versitygw/cmd/versitygw@v1.8.0")
	}
	dir = t.TempDir()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	server := exec.Command(program, "--port", address, "posix", dir)
	server.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+testKey, "ROOT_SECRET_KEY="+testSecret)
	var log bytes.Buffer
	server.Stdout, server.Stderr = &log, &log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Process.Kill(); server.Wait() })
	for range 500 {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
			user(t, "http://"+address)
			return dir
		}
		time.Sleep(20 * time.Millisecond) // until it listens
	}
	t.Fatalf("versitygw does not listen: %s", log.String())
	return ""
}

// user sets the environment of somebody who uses a store at url.
func user(t *testing.T, url string) {
	for name, value := range map[string]string{"AWS_ENDPOINT_URL": url, "AWS_ENDPOINT_URL_S3": "", "AWS_REGION": "us-east-1",
		"AWS_ACCESS_KEY_ID": testKey, "AWS_SECRET_ACCESS_KEY": testSecret, "AWS_SESSION_TOKEN": "", "AWS_PROFILE": "",
		"AWS_CONFIG_FILE": filepath.Join(t.TempDir(), "none"), "AWS_SHARED_CREDENTIALS_FILE": filepath.Join(t.TempDir(), "none"),
		"MINIO_ACCESS_KEY": "", "MINIO_ROOT_USER": ""} {
		t.Setenv(name, value)
	}
}

// between puts a server in front of the store, whose answers fault may spoil; it returns true where it
// has answered itself.
func between(t *testing.T, fault func(w http.ResponseWriter, r *http.Request) bool) {
	t.Helper()
	to, err := url.Parse(os.Getenv("AWS_ENDPOINT_URL"))
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Host = r.In.Host }}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !fault(w, r) {
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	t.Setenv("AWS_ENDPOINT_URL", s.URL)
}

func put(t *testing.T, dir, key string, data []byte) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(key))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

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
	dir := gateway(t)
	want := noise(300_000)
	put(t, dir, "bucket/train/b/2.jpg", want)
	put(t, dir, "bucket/train/a/1.jpg", want[:10])
	put(t, dir, "bucket/trainer/x.jpg", want[:10]) // another prefix
	b := open(t, "s3://bucket/train", 0)
	files, err := b.List(t.Context())
	if err != nil || len(files) != 2 || files[0].Path != "a/1.jpg" || files[1].Path != "b/2.jpg" || files[1].Size != 300_000 {
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
		// A stream goes on over small gaps: it asks anew for what is far ahead, and for the beginning.
		if n := b.Stats().Requests - before.Requests; n != map[bool]int64{false: 5, true: 3}[stream] {
			t.Errorf("stream %v: %d requests", stream, n)
		}
	}
	if s := b.Stats(); s.Retries != 0 || s.Throttled != 0 {
		t.Errorf("%+v without a fault", s)
	}
}

// What the network and a store do to an answer is mended by another request, and counted.
func TestFaults(t *testing.T) {
	dir := gateway(t)
	want := noise(500_000)
	put(t, dir, "bucket/a/1.jpg", want)
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
			w.Write(want[:200_000])
			panic(http.ErrAbortHandler)
		}, 0},
		"no answer": {func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var faults atomic.Int64
			between(t, func(w http.ResponseWriter, r *http.Request) bool {
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
	dir := gateway(t)
	put(t, dir, "bucket/a/1.jpg", noise(1000))
	endpoint := os.Getenv("AWS_ENDPOINT_URL")
	refuse := func(status int, code, extra string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(status)
			fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s %s</Message>%s</Error>", code, testSecret, testKey, extra)
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
	for name, c := range map[string]struct {
		place string
		set   func(t *testing.T)
		want  string
	}{
		"no bucket":       {"s3://gone/x", nil, "there is no bucket gone"},
		"no place":        {"s3://", nil, "want s3://BUCKET/PREFIX"},
		"wrong secret":    {"s3://bucket", func(t *testing.T) { t.Setenv("AWS_SECRET_ACCESS_KEY", testSecret[1:]) }, "credentials are refused"},
		"wrong key":       {"s3://bucket", func(t *testing.T) { t.Setenv("AWS_ACCESS_KEY_ID", testKey[1:]) }, "credentials are refused"},
		"anonymous":       {"s3://bucket", func(t *testing.T) { t.Setenv("AWS_ACCESS_KEY_ID", "") }, "set AWS_ACCESS_KEY_ID"},
		"nobody listens":  {"s3://bucket", func(t *testing.T) { t.Setenv("AWS_ENDPOINT_URL", "http://"+closed.Addr().String()) }, "connection refused"},
		"no such host":    {"s3://bucket", func(t *testing.T) { t.Setenv("AWS_ENDPOINT_URL", "http://no-such-host.invalid") }, "no-such-host.invalid"},
		"no URL":          {"s3://bucket", func(t *testing.T) { t.Setenv("AWS_ENDPOINT_URL", "localhost:1") }, "want http://HOST:PORT"},
		"password in URL": {"s3://bucket", func(t *testing.T) { t.Setenv("AWS_ENDPOINT_URL", "http://u:"+testSecret+"@h") }, "want http://HOST:PORT"},
		"TLS":             {"s3://bucket", func(t *testing.T) { t.Setenv("AWS_ENDPOINT_URL", secure.URL) }, "certificate"},
		"clock":           {"s3://bucket", func(t *testing.T) { between(t, refuse(403, "RequestTimeTooSkewed", "")) }, "set the clock"},
		"region": {"s3://bucket", func(t *testing.T) {
			between(t, refuse(400, "AuthorizationHeaderMalformed", "<Region>eu-west-1</Region>"))
		},
			"AWS_REGION=eu-west-1"},
		"redirect": {"s3://bucket", func(t *testing.T) { between(t, refuse(301, "PermanentRedirect", "")) }, "set AWS_REGION"},
		"unknown":  {"s3://bucket", func(t *testing.T) { between(t, refuse(400, "Strange", "")) }, "***"},
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
			for _, secret := range []string{testSecret, testSecret[1:], testKey} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("a secret in %q", err)
				}
			}
		})
	}
}

// An object that changes after it was listed is an error, and so is one that is shorter.
func TestChanged(t *testing.T) {
	dir := gateway(t)
	put(t, dir, "bucket/1.jpg", noise(1000))
	b := open(t, "s3://bucket", 0)
	if err := b.Put(t.Context(), "2.jpg", bytes.NewReader(noise(1000)), 1000); err != nil {
		t.Fatal(err)
	}
	files, err := b.List(t.Context())
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	if err := b.Put(t.Context(), "2.jpg", bytes.NewReader(noise(1001)[1:]), 1000); err != nil {
		t.Fatal(err)
	}
	_, _, err = b.Reader(t.Context(), false).ReadAt(files[1], make([]byte, 1000), 0)
	if err == nil || !strings.Contains(err.Error(), "changed after it was listed") {
		t.Errorf("changed: %v", err)
	}
	longer := loader.File{Path: "1.jpg", Size: 2000}
	n, _, err := b.Reader(t.Context(), false).ReadAt(longer, make([]byte, 2000), 0)
	if n != 1000 || err == nil || !strings.Contains(err.Error(), "shorter than the 2000 bytes") {
		t.Errorf("shorter: %d, %v", n, err)
	}
	os.Remove(filepath.Join(dir, "bucket", "1.jpg"))
	if _, _, err = b.Reader(t.Context(), false).ReadAt(files[0], make([]byte, 1000), 0); err == nil ||
		!strings.Contains(err.Error(), "no such object") {
		t.Errorf("gone: %v", err)
	}
}

func TestMostBytes(t *testing.T) {
	dir := gateway(t)
	put(t, dir, "bucket/1.jpg", noise(1000))
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
}
