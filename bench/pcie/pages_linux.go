package pcie

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"dlbench/results"
)

// mostPages is how many pages of a buffer are asked for, evenly spread.
const mostPages = 1024

// nodesOf counts pages of buf by NUMA node: move_pages(2) without nodes to move to
// says where pages are.
func nodesOf(buf []byte) *results.OrUnknown[map[string]int] {
	size := os.Getpagesize()
	step := max(size, (len(buf)/mostPages+size-1)/size*size)
	var pages []unsafe.Pointer
	for at := 0; at < len(buf); at += step {
		pages = append(pages, unsafe.Pointer(&buf[at]))
	}
	status := make([]int32, len(pages))
	_, _, errno := unix.Syscall6(unix.SYS_MOVE_PAGES, 0, uintptr(len(pages)),
		uintptr(unsafe.Pointer(unsafe.SliceData(pages))), 0, uintptr(unsafe.Pointer(unsafe.SliceData(status))), 0)
	if errno != 0 {
		return &results.OrUnknown[map[string]int]{Why: "unknown: move_pages: " + errno.Error()}
	}
	return countNodes(status)
}

// countNodes reads what move_pages says of each page: a node, or an error below 0.
func countNodes(status []int32) *results.OrUnknown[map[string]int] {
	by := map[string]int{}
	var last int32
	for _, s := range status {
		if s >= 0 {
			by[strconv.Itoa(int(s))]++
		} else {
			last = s
		}
	}
	if len(by) == 0 {
		why := fmt.Sprintf("unknown: the kernel does not tell where these pages are (%v)", syscall.Errno(-last))
		return &results.OrUnknown[map[string]int]{Why: why}
	}
	return &results.OrUnknown[map[string]int]{Value: by}
}
