package main

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"dlbench/loader/s3/s3test"
	"dlbench/results"
)

// TestObjectStore makes, packs, checks and measures data sets in a bucket, without faults and with some
// between, and looks for the credentials in all that the program wrote.
func TestObjectStore(t *testing.T) {
	bucket := filepath.Join(s3test.Gateway(t), "bucket")
	if err := os.Mkdir(bucket, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	t.Setenv("TMPDIR", t.TempDir())
	var said strings.Builder
	run := func(code int, line string, words ...string) {
		t.Helper()
		got, stdout, stderr := in(t, strings.Fields(line)...)
		fmt.Fprintln(&said, stdout, stderr)
		for _, w := range words {
			if !strings.Contains(stdout+stderr, w) {
				t.Errorf("%s: lacks %q", line, w)
			}
		}
		if got != code {
			t.Fatalf("%s: code %d, want %d: %s%s", line, got, code, stdout, stderr)
		}
	}
	const small = " --batch 4 --shape 32x32x3"
	run(0, "dataset make s3://bucket/made --images 24", "s3://bucket/made: files, 24 images")
	run(1, "dataset make s3://bucket/made --images 4", "is not empty")
	run(0, "dataset pack s3://bucket/made s3://bucket/shards --store tar", "24 images", "read over the network: ")
	run(0, "dataset check s3://bucket/shards --strict", "24 good",
		"reads from s3://bucket/shards over the network: 2 objects")
	run(0, "dataset pack s3://bucket/shards batches --store tensor"+small, "24 images")
	run(1, "dataset check s3://bucket/made --max-bytes 100KB", "--max-bytes allows")
	run(2, "run s3://bucket/made --max-bytes 100KB --suite preprocess"+small,
		"--max-bytes 100 kB: want more, to check the images")
	run(2, "run s3://bucket/gone", "there is no such folder in the bucket")
	self, err := os.Executable() // it is dlbench where a loader is started
	if err != nil {
		t.Fatal(err)
	}
	const settings = `{"Batch":{"images":4,"height":32,"width":32,"channels":3,"dtype":"float32"},"Workers":1,"Epochs":1}`
	mine := fmt.Sprintf("DLBENCH_SETTINGS='%s' exec %s feed\n", settings, self)
	if err := os.WriteFile("mine", []byte(mine), 0o755); err != nil {
		t.Fatal(err)
	}
	const quick = small + " --quick --count 2 --full --suite "
	run(0, "run s3://bucket/made -o files/out --loader torchvision --loader mine=./mine -a workers=1"+
		quick+"external,pipeline", "24 images from s3", "over the network", "this loader is given folders alone",
		"read over the network: ")
	run(0, "run s3://bucket/shards -o shards/out"+quick+"disk,preprocess", "first_byte", "throttled")
	n := savedRun(t, "shards").Dataset.Network
	if n == nil || n.Bytes == 0 || n.Requests == 0 || n.Retries+n.Throttled != 0 {
		t.Errorf("%+v without faults", n)
	}
	run(1, "run s3://bucket/made -o bounded/out --max-bytes 600KB"+quick+"disk",
		"--max-bytes 600 kB did not do", "nothing of the suite disk")

	t.Run("faults", func(t *testing.T) {
		var asked atomic.Int64
		s3test.Between(t, func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodGet || !strings.Contains(r.URL.Path, ".") {
				return false
			}
			switch asked.Add(1) % 10 {
			case 3:
				w.WriteHeader(http.StatusServiceUnavailable)
				fmt.Fprintf(w, "<Error><Code>SlowDown</Code><Message>%s</Message></Error>", r.Header.Get("Authorization"))
				return true
			case 7:
				panic(http.ErrAbortHandler)
			}
			return false
		})
		run(0, "run s3://bucket/made -o faults/out"+quick+"disk -a readers=4", "of them repeated", "throttled (503 or 429)")
		n := savedRun(t, "faults").Dataset.Network
		proof := results.As[results.DiskProof](savedRun(t, "faults").Results[0].Proof)
		if n.Retries == 0 || n.Throttled == 0 || proof.Retries == 0 || proof.Throttled == 0 || proof.Requests > n.Requests {
			t.Errorf("%+v, a case %+v", n, proof)
		}
		run(0, "dataset check s3://bucket/made", "24 good")
	})
	t.Run("refused", func(t *testing.T) {
		s3test.Between(t, func(w http.ResponseWriter, r *http.Request) bool {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, "<Error><Code>Odd</Code><Message>%s %s %s</Message></Error>", s3test.Key, s3test.Secret,
				r.Header.Get("Authorization"))
			return true
		})
		run(2, "run s3://bucket/made")
		run(1, "dataset check s3://bucket/made")
		run(1, "dataset pack s3://bucket/made x --store tar")
		run(1, "dataset make s3://bucket/more --images 4")
	})
	noSecrets(t, "what was printed", said.String())
	err = filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		noSecrets(t, path, string(text))
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

func noSecrets(t *testing.T, where, text string) {
	t.Helper()
	for _, secret := range []string{s3test.Key, s3test.Secret} {
		if strings.Contains(text, secret) {
			t.Errorf("%s: has a secret", where)
		}
	}
}
