package benchtest

import (
	"bytes"
	"os"
	"testing"
	"time"
)

// Marked are the processes that have a mark in their environment or among their arguments.
func Marked(t *testing.T, mark string) (pids []string) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		environ, _ := os.ReadFile("/proc/" + e.Name() + "/environ")
		arguments, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if bytes.Contains(append(environ, arguments...), []byte(mark)) {
			pids = append(pids, e.Name())
		}
	}
	return pids
}

// NoneLeft wants no process with a mark, soon: one that was killed takes a moment to end.
func NoneLeft(t *testing.T, mark string) {
	t.Helper()
	left := Marked(t, mark)
	for began := time.Now(); len(left) > 0 && time.Since(began) < 10*time.Second; left = Marked(t, mark) {
		time.Sleep(10 * time.Millisecond)
	}
	if len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
}
