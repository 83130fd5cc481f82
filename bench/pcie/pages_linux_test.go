package pcie

import (
	"maps"
	"os"
	"strings"
	"syscall"
	"testing"
)

// mostPagesOf is how many pages of a buffer are asked for.
func mostPagesOf(bytes int) int { return min(mostPages, bytes/os.Getpagesize()) }

func TestCountNodes(t *testing.T) {
	by := countNodes([]int32{0, 1, 1, -int32(syscall.ENOENT)})
	if by.Why != "" || !maps.Equal(by.Value, map[string]int{"0": 1, "1": 2}) {
		t.Errorf("%v", by)
	}
	by = countNodes([]int32{-int32(syscall.EFAULT)}) // mapped by a driver
	if !strings.Contains(by.Why, "bad address") {
		t.Errorf("%v", by)
	}
}
