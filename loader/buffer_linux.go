package loader

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mostHuge is the largest huge page worth rounding a buffer up to. With base pages
// of 64 KiB, arm64 has huge ones of 512 MiB.
const mostHuge = 32 << 20

func alignedBuffer(n int, huge bool) ([]byte, string, func() error, error) {
	page := hugePageSize()
	if !huge || page > mostHuge {
		return mapped(n, 0, PagesBase, n)
	}
	length := int(roundUp(int64(n), int64(page)))
	// A page more, to start at a huge page's boundary.
	whole, _, free, err := mapped(length+page, unix.MAP_NORESERVE, "", 0)
	if err != nil {
		return nil, "", nil, err
	}
	skip := -int(uintptr(unsafe.Pointer(&whole[0]))) & (page - 1)
	buf := whole[skip : skip+length]
	unix.Madvise(buf, unix.MADV_HUGEPAGE) // the outcome counts, not the answer
	touch(buf)
	if hugeBytes(buf) >= length/10*9 {
		return buf[:n:n], PagesTHP, free, nil
	}
	if b, kind, freeTLB, err := mapped(length, unix.MAP_HUGETLB, PagesHugeTLB, n); err == nil {
		free()
		return b, kind, freeTLB, nil
	}
	return buf[:n:n], PagesBase, free, nil
}

// mapped maps length bytes and returns the first n of them, touched; with n 0, all
// of them, untouched.
func mapped(length, flags int, kind string, n int) ([]byte, string, func() error, error) {
	whole, err := unix.Mmap(-1, 0, length, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|flags)
	if err != nil {
		return nil, "", nil, fmt.Errorf("a buffer of %d bytes: %w", length, err)
	}
	free := func() error {
		if whole == nil {
			return nil
		}
		err := unix.Munmap(whole)
		whole = nil
		return err
	}
	if n == 0 {
		return whole, kind, free, nil
	}
	touch(whole)
	return whole[:n:n], kind, free, nil
}

func touch(buf []byte) {
	for i := 0; i < len(buf); i += BlockSize {
		buf[i] = 1
	}
}

func hugePageSize() int {
	text, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size")
	if n, bad := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && bad == nil && n >= BlockSize && n&(n-1) == 0 {
		return n
	}
	return 2 << 20
}

// hugeBytes is how much of a buffer lies in transparent huge pages, by
// /proc/self/smaps; 0 where it cannot be told.
func hugeBytes(buf []byte) int {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return 0
	}
	defer f.Close()
	start := uint64(uintptr(unsafe.Pointer(&buf[0])))
	end := start + uint64(len(buf))
	inside, huge := false, 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if span, _, ok := strings.Cut(line, " "); ok {
			if lo, hi, ok := strings.Cut(span, "-"); ok {
				a, err1 := strconv.ParseUint(lo, 16, 64)
				b, err2 := strconv.ParseUint(hi, 16, 64)
				inside = err1 == nil && err2 == nil && a < end && b > start
				continue
			}
		}
		if rest, ok := strings.CutPrefix(line, "AnonHugePages:"); ok && inside {
			kb, _ := strconv.Atoi(strings.Fields(rest)[0])
			huge += kb << 10
		}
	}
	return min(huge, len(buf))
}
