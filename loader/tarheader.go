package loader

import (
	"archive/tar"
	"bytes"
	"io"
	"strconv"
	"strings"
)

const blockSize = 512 // of a tar archive

func tarHeader(r io.ReaderAt, at int64) bool {
	var b [blockSize]byte
	_, err := r.ReadAt(b[:], at)
	return err == nil && validHeader(b[:])
}

// extent is a member, as far as its headers say what it is.
type extent struct {
	name string
	end  int64 // with what fills the last block
}

// next is where the member behind one starts, whose headers are at start and whose data at at.
func next(r io.ReaderAt, h *tar.Header, start, at, size int64) int64 {
	if sparse(h) {
		m, _ := extentOf(r, start, size)
		return max(at, m.end)
	}
	if headerOnly(h.Typeflag) {
		return at
	}
	return roundUp(at, blockSize) + roundUp(h.Size, blockSize)
}

// headerOnly is whether members of a kind have no data, whatever size they give.
func headerOnly(kind byte) bool { return kind >= tar.TypeLink && kind <= tar.TypeFifo }

// extentOf reads no more than the headers of the member at start: those that hold a long name
// or other properties of the one that follows, too, of which a size, of 8 GiB and more, does
// not count. ok is false where they are damaged, or the member is not wholly there.
func extentOf(r io.ReaderAt, start, size int64) (m extent, ok bool) {
	var b [blockSize]byte
	for at := start; at+blockSize <= size; {
		if _, err := r.ReadAt(b[:], at); err != nil || !validHeader(b[:]) {
			return m, false
		}
		length, ok := tarNumber(b[124:136])
		if !ok || length > size-at {
			return m, false
		}
		kind := b[156]
		at += blockSize
		switch kind {
		case tar.TypeXHeader, tar.TypeGNULongName, tar.TypeGNULongLink:
		default:
			for more := b[482]; kind == tar.TypeGNUSparse && more != 0; more = b[504] { // of the map
				if _, err := r.ReadAt(b[:], at); err != nil {
					return m, false
				}
				at += blockSize
			}
			if headerOnly(kind) {
				length = 0
			}
			m.end = at + roundUp(length, blockSize)
			name, _, _ := bytes.Cut(b[:100], []byte{0})
			m.name = string(name)
			return m, m.end <= size
		}
		at += roundUp(length, blockSize)
	}
	return m, false
}

// validHeader is whether the checksum of a header is right, which is that of its bytes with
// blanks in its own place.
func validHeader(b []byte) bool {
	sum := int64(8 * ' ')
	for i, v := range b[:blockSize] {
		if i < 148 || i >= 156 {
			sum += int64(v)
		}
	}
	want, ok := tarNumber(b[148:156])
	return ok && want == sum
}

// tarNumber is a number of a header in octal, up to 8 GiB.
func tarNumber(field []byte) (n int64, ok bool) {
	text := strings.Trim(string(field), " \x00")
	if text == "" {
		return 0, true
	}
	n, err := strconv.ParseInt(text, 8, 64)
	return n, err == nil && n >= 0
}

func isFile(h *tar.Header) bool {
	return h.Typeflag == tar.TypeReg || h.Typeflag == tar.TypeGNUSparse || h.Typeflag == tar.TypeCont
}

// sparse says whether a member's bytes do not lie in the shard as they are.
func sparse(h *tar.Header) bool {
	if h.Typeflag == tar.TypeGNUSparse {
		return true
	}
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}
