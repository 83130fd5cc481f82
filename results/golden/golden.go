// Package golden compares what tests make with files that hold what is expected. With -update
// the files are written anew.
package golden

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Check compares got with the file at path, whatever its lines end in, and shows where they
// begin to differ.
func Check(t testing.TB, path string, got []byte) {
	t.Helper()
	CheckLines(t, path, got, func(have, want string) bool { return have == want })
}

// CheckLines is Check where lines are alike that are not equal.
func CheckLines(t testing.TB, path string, got []byte, alike func(have, want string) bool) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	have := strings.Split(string(got), "\n")
	want := strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n") // a checkout on Windows
	for i := range max(len(have), len(want)) {
		if i >= len(have) || i >= len(want) || !alike(have[i], want[i]) {
			t.Errorf("%s differs from line %d on (look at it, then run go test -update); have\n%s\nwant\n%s",
				path, i+1, around(have, i), around(want, i))
			return
		}
	}
}

// around is the lines from ten before the i-th to two after it.
func around(lines []string, i int) string {
	return strings.Join(lines[min(len(lines), max(0, i-10)):min(len(lines), i+3)], "\n")
}
