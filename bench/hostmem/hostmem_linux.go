package hostmem

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mostHuge is the largest huge page worth rounding a buffer up to. With base pages
// of 64 KiB, arm64 has huge ones of 512 MiB.
const mostHuge = 32 << 20

// hugePage is the size of transparent huge pages, in bytes; 0 where they are too large.
var hugePage = sync.OnceValue(func() int {
	text, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size")
	n, bad := strconv.Atoi(strings.TrimSpace(string(text)))
	switch {
	case err != nil || bad != nil || n < Block || n&(n-1) != 0:
		return 2 << 20
	case n > mostHuge:
		return 0
	}
	return n
})

// Map maps n bytes of private memory outside the Go heap, untouched, so that neither the
// collector nor its page placement has a part in a copy. Of memory that is large enough
// the kernel is asked for huge pages, which it gives when the memory is first touched, or
// does not. The memory is gone after free, which may be called again.
func Map(n int) (mem []byte, free func() error, err error) {
	huge := hugePage()
	if huge == 0 || n < huge {
		return mapped(n)
	}
	whole, free, err := mapped(n + huge) // a page more, to start at the boundary of one
	if err != nil {
		return nil, nil, err
	}
	skip := -int(uintptr(unsafe.Pointer(&whole[0]))) & (huge - 1)
	unix.Madvise(whole[skip:], unix.MADV_HUGEPAGE) // the outcome counts, not the answer
	return whole[skip : skip+n : skip+n], free, nil
}

func mapped(n int) (mem []byte, free func() error, err error) {
	mem, err = unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, nil, fmt.Errorf("a buffer of %d bytes: %w", n, err)
	}
	whole := mem
	return mem, sync.OnceValue(func() error { return unix.Munmap(whole) }), nil
}

// Buffer is Map for memory that is touched by the calling thread, so that it lies on its
// memory node. It takes whole huge pages where it gets any; kind is what it got.
// Direct reads into huge pages took a third of the time: of 18.5 MiB 7.4 ms instead
// of 24 (medians, one reader, virtio).
func Buffer(n int) (buf []byte, kind string, free func() error, err error) {
	n = max(n, 1)
	length, page := n, hugePage()
	if page > 0 {
		length = (n + page - 1) / page * page
	}
	buf, free, err = Map(length)
	if err != nil {
		return nil, "", nil, err
	}
	touch(buf)
	kind = Base
	if huge, _ := Huge(buf); page > 0 && huge >= length/10*9 {
		kind = THP
	}
	return buf[:n:n], kind, free, nil
}

// Huge is how much of a buffer lies in transparent huge pages, by /proc/self/smaps;
// known is false where that does not tell.
func Huge(buf []byte) (huge int, known bool) {
	f, err := os.Open("/proc/self/smaps")
	if err != nil || len(buf) == 0 {
		return 0, false
	}
	defer f.Close()
	start := uint64(uintptr(unsafe.Pointer(&buf[0])))
	return hugeIn(f, start, start+uint64(len(buf)))
}

// hugeIn is Huge of the memory from start to end.
func hugeIn(smaps io.Reader, start, end uint64) (huge int, known bool) {
	inside := false
	for lines := bufio.NewScanner(smaps); lines.Scan(); {
		var lo, hi uint64
		var kb int
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x ", &lo, &hi); n == 2 {
			inside = lo < end && hi > start
			known = known || inside
		} else if n, _ := fmt.Sscanf(lines.Text(), "AnonHugePages: %d", &kb); n == 1 && inside {
			huge += kb << 10
		}
	}
	return min(huge, int(end-start)), known
}
