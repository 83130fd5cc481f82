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
	if by, why := countNodes([]int32{0, 1, 1, -int32(syscall.ENOENT)}); why != "" || !reflect.DeepEqual(by, map[int]int{0: 1, 1: 2}) {
		t.Errorf("%v, %s", by, why)
	}
	if by, why := countNodes([]int32{-int32(syscall.EFAULT)}); by != nil || !strings.Contains(why, "bad address") { // mapped by a driver
		t.Errorf("%v, %s", by, why)
	}
}
