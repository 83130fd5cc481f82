package hostmem

import (
	"strings"
	"testing"
)

func TestHuge(t *testing.T) {
	const smaps = `7f0000000000-7f0000200000 rw-p 00000000 00:00 0
Size:               2048 kB
AnonHugePages:      2048 kB
VmFlags: rd wr mr mw me ac sd
7f0000200000-7f0000600000 rw-p 00000000 00:00 0                          [anon: x]
AnonHugePages:      2048 kB
7f0001000000-7f0001200000 r--p 00000000 08:01 4-2                        /a file: 7f0000000000-7f0000600000
AnonHugePages:         0 kB
`
	for _, c := range []struct {
		start, end uint64
		huge       int
		known      bool
	}{
		{0x7f0000000000, 0x7f0000600000, 4 << 20, true},
		{0x7f0000000000, 0x7f0000100000, 1 << 20, true}, // no more than there is
		{0x7f0001000000, 0x7f0001200000, 0, true},
		{0x7f0002000000, 0x7f0002200000, 0, false},
	} {
		if huge, known := hugeIn(strings.NewReader(smaps), c.start, c.end); huge != c.huge || known != c.known {
			t.Errorf("%x-%x: %d, %t; want %d, %t", c.start, c.end, huge, known, c.huge, c.known)
		}
	}
	for _, s := range []string{"", "garbage\nAnonHugePages:\n", "1-2 \nAnonHugePages: x kB\n"} {
		if huge, _ := hugeIn(strings.NewReader(s), 1, 2); huge != 0 {
			t.Errorf("%q: %d", s, huge)
		}
	}
}
