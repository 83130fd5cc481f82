package pcie

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"dlbench/results"
)

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
