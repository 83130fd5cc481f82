// Package hostmem is memory for copies and for direct reads: outside the Go heap on Linux, in
// huge pages where there are any.
package hostmem

// Block is what buffers are aligned to at least, so that direct I/O, which wants the logical
// block size of the device, 512 or 4096, can read into them.
const Block = 4096

// Kinds of pages that a buffer can have.
const (
	Base = "base" // of the machine's page size
	THP  = "thp"  // transparent huge pages
)

func touch(buf []byte) {
	for i := 0; i < len(buf); i += Block {
		buf[i] = 1
	}
}
