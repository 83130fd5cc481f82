package pcie

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mostPages is how many pages of a buffer are asked for, evenly spread.
const mostPages = 1024

// pagesOf says where the pages of buf lie, which is touched. Nodes are asked for where
// there are several.
func pagesOf(buf []byte, nodes int) (p pageReport) {
	if len(buf) == 0 {
		return p
	}
	start := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(buf))))
	if text, err := os.ReadFile("/proc/self/smaps"); err == nil {
		var huge uint64
		if huge, p.hugeKnown = hugeBytes(string(text), start, start+uint64(len(buf))); p.hugeKnown {
			p.huge = float64(huge) / float64(len(buf))
		}
	}
	if nodes > 1 {
		p.nodes, p.noNodes = nodesOf(buf)
	}
	return p
}

// nodesOf counts pages of buf by NUMA node: move_pages(2) without nodes to move to
// tells where pages are.
func nodesOf(buf []byte) (map[int]int, string) {
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
		return nil, "move_pages: " + errno.Error()
	}
	return countNodes(status)
}

// countNodes reads what move_pages says of each page: a node, or an error below 0.
func countNodes(status []int32) (map[int]int, string) {
	by := map[int]int{}
	var last int32
	for _, s := range status {
		if s >= 0 {
			by[int(s)]++
		} else {
			last = s
		}
	}
	if len(by) == 0 {
		return nil, fmt.Sprintf("the kernel does not tell where these pages are (%v)", syscall.Errno(-last))
	}
	return by, ""
}
