package encode

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"dlbench/results"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// golden compares got with the file of that name in testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want = bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n")) // a checkout on Windows
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -update rewrites it); have:\n%s", path, got)
	}
}

// sampleReport is the report of package results' tests.
func sampleReport() *results.Report {
	r, err := results.ReadFile(filepath.Join("..", "testdata", "report.json"))
	if err != nil {
		panic(err)
	}
	return r
}

func newResult(suite string, p results.Params) results.Result {
	return results.Result{Suite: suite, Name: p.Name(suite), Params: p, Status: results.OK}
}
