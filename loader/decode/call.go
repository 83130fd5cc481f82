//go:build (linux || darwin || windows) && (amd64 || arm64)

package decode

import (
	"unsafe"

	"github.com/ebitengine/purego"
)

// call makes a call of the library with the first n of t.args. These lie in t, because
// arguments that purego is given one by one are allocated for each call. The Go memory
// that they point to is t's own or held by t, which keeps it from the stack.
func (t *turbo) call(f function, n int) uintptr {
	r, _, _ := purego.SyscallN(t.lib.addr[f], t.args[:n]...)
	return r
}

// text is a C string that a call gave, in C's memory.
func text(p uintptr) []byte {
	if p == 0 {
		return nil
	}
	s := *(**byte)(unsafe.Pointer(&p)) // C's memory, which Go's collector does not move
	n := 0
	for n < maxText && *(*byte)(unsafe.Add(unsafe.Pointer(s), n)) != 0 {
		n++
	}
	return unsafe.Slice(s, n)
}

// maxText is above JMSG_LENGTH_MAX of libjpeg, 200 bytes.
const maxText = 1024
