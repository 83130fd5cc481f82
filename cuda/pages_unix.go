//go:build unix && !linux

package cuda

import (
	"golang.org/x/sys/unix"
)

// mapPages maps n bytes of private memory outside the Go heap, untouched, so that
// neither the collector nor its page placement has a part in a copy.
func mapPages(n int) (mem []byte, unmap func() error, err error) {
	mem, err = unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, nil, err
	}
	return mem, func() error { return unix.Munmap(mem) }, nil
}
