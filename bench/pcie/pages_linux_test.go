package pcie

import (
	"os"
	"reflect"
	"strings"
	"syscall"
	"testing"
)

// mostPagesOf is how many pages of a buffer are asked for.
func mostPagesOf(bytes int) int { return min(mostPages, bytes/os.Getpagesize()) }

func TestCountNodes(t *testing.T) {
	if by := countNodes([]int32{0, 1, 1, -int32(syscall.ENOENT)}); by.Why != "" || !reflect.DeepEqual(by.Value, map[string]int{"0": 1, "1": 2}) {
		t.Errorf("%v", by)
	}
	if by := countNodes([]int32{-int32(syscall.EFAULT)}); !strings.Contains(by.Why, "bad address") { // mapped by a driver
		t.Errorf("%v", by)
	}
}
