package pcie

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// nodesOf are the NUMA nodes of pages of buf, or errors below 0: move_pages(2) without nodes
// to move to says where pages are.
func nodesOf(buf []byte) ([]int32, error) {
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
		return nil, errno
	}
	return status, nil
}
