package cuda

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePage is the size to which large buffers are aligned, so that the kernel can use
// huge pages. With base pages of 64 KiB those of arm64 are too large to round up to.
const hugePage = 2 << 20

// mapPages maps n bytes of private memory outside the Go heap, untouched, so that
// neither the collector nor its page placement has a part in a copy. The kernel is
// asked for huge pages, which it gives when the memory is first touched, or does not.
func mapPages(n int) (mem []byte, unmap func() error, err error) {
	length := n
	if n >= hugePage {
		length += hugePage
	}
	whole, err := unix.Mmap(-1, 0, length, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, nil, err
	}
	mem = whole[:n:n]
	if n >= hugePage {
		skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(whole)))) & (hugePage - 1)
		unix.Madvise(whole[skip:], unix.MADV_HUGEPAGE) // what came of it is in /proc/self/smaps
		mem = whole[skip : skip+n : skip+n]
	}
	return mem, func() error { return unix.Munmap(whole) }, nil
}
