package loader

import (
	"errors"
	"io"
)

// headers reads a shard for tar.Reader, which seeks over what members hold and
// reads their headers. It reads a page at a time, which mostly holds the end of one
// member and the header of the next, and knows where the tar.Reader stands.
type headers struct {
	r    io.ReaderAt
	size int64
	pos  int64
	page [4096]byte
	at   int64 // of page in the file
	n    int   // bytes in page
}

func (h *headers) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if h.pos < 0 || h.pos >= h.size {
		return 0, io.EOF
	}
	if h.pos < h.at || h.pos >= h.at+int64(h.n) {
		n, err := h.r.ReadAt(h.page[:min(int64(len(h.page)), h.size-h.pos)], h.pos)
		if n == 0 {
			h.n = 0
			if err == nil {
				err = io.ErrNoProgress
			}
			return 0, err
		}
		h.at, h.n = h.pos, n
	}
	n := copy(p, h.page[h.pos-h.at:h.n])
	h.pos += int64(n)
	return n, nil
}

// ReadAt reads from the page what lies in it: labels mostly do.
func (h *headers) ReadAt(p []byte, off int64) (int, error) {
	if off >= h.at && off+int64(len(p)) <= h.at+int64(h.n) {
		return copy(p, h.page[off-h.at:h.n]), nil
	}
	return h.r.ReadAt(p, off)
}

// Seek moves relative to where it stands, which is all that tar.Reader does.
func (h *headers) Seek(offset int64, whence int) (int64, error) {
	if whence != io.SeekCurrent || offset < 0 {
		return 0, errors.ErrUnsupported
	}
	if offset > h.size-h.pos {
		return 0, io.ErrUnexpectedEOF
	}
	h.pos += offset
	return h.pos, nil
}
