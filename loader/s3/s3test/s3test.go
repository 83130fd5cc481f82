// Package s3test has an object store for tests: versitygw over a folder, and faults between it and
// whoever reads.
package s3test

import (
	"bytes"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// The credentials of the store, which nothing may print.
const (
	Key    = "AKIATESTTESTTESTTEST"
	Secret = "0123456789abcdefSECRETfedcba9876543210"
)

// Gateway starts versitygw over a folder, a bucket each folder in it, and sets the environment as a
// user of it has it. It is skipped where there is no versitygw.
func Gateway(t testing.TB) (dir string) {
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
	server.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+Key, "ROOT_SECRET_KEY="+Secret)
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
			User(t, "http://"+address)
			return dir
		}
		time.Sleep(20 * time.Millisecond) // until it listens
	}
	t.Fatalf("versitygw does not listen: %s", log.String())
	return ""
}

// User sets the environment of somebody who uses a store at url.
func User(t testing.TB, url string) {
	none := filepath.Join(t.TempDir(), "none")
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": url, "AWS_ENDPOINT_URL_S3": "", "AWS_REGION": "us-east-1",
		"AWS_ACCESS_KEY_ID": Key, "AWS_SECRET_ACCESS_KEY": Secret, "AWS_SESSION_TOKEN": "", "AWS_PROFILE": "",
		"AWS_CONFIG_FILE": none, "AWS_SHARED_CREDENTIALS_FILE": none,
		"MINIO_ACCESS_KEY": "", "MINIO_ROOT_USER": ""} {
		t.Setenv(name, value)
	}
}

// Between puts a server in front of the store, whose answers fault may spoil; it returns true where it
// has answered itself.
func Between(t testing.TB, fault func(w http.ResponseWriter, r *http.Request) bool) {
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

// Put writes an object as the store has it, key with its bucket.
func Put(t testing.TB, dir, key string, data []byte) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(key))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
