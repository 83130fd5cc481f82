package loader

// Kinds of pages that a buffer can have.
const (
	PagesBase    = "base"    // of the machine's page size
	PagesTHP     = "thp"     // transparent huge pages
	PagesHugeTLB = "hugetlb" // reserved huge pages
)

// AlignedBuffer returns n bytes outside the Go heap, aligned to at least BlockSize
// and touched by the calling thread, so that they lie on its memory node. With huge
// it tries for huge pages; kind, one of the Pages constants, is what it got: reads
// of 18.5 MiB into huge pages were 2 to 3.5 times as fast. The buffer is gone after
// free, which may be called again.
func AlignedBuffer(n int, huge bool) (buf []byte, kind string, free func() error, err error) {
	return alignedBuffer(max(n, 1), huge)
}
