package pcie

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"dlbench/bench"
	"dlbench/cuda"
	"dlbench/results"
)

func TestHugeBytes(t *testing.T) {
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
		huge       uint64
		known      bool
	}{
		{0x7f0000000000, 0x7f0000600000, 4 << 20, true},
		{0x7f0000000000, 0x7f0000100000, 1 << 20, true}, // no more than there is
		{0x7f0001000000, 0x7f0001200000, 0, true},
		{0x7f0002000000, 0x7f0002200000, 0, false},
	} {
		if huge, known := hugeBytes(smaps, c.start, c.end); huge != c.huge || known != c.known {
			t.Errorf("%x-%x: %d, %t; want %d, %t", c.start, c.end, huge, known, c.huge, c.known)
		}
	}
	for _, s := range []string{"", "garbage\nAnonHugePages:\n", "1-2 \nAnonHugePages: x kB\n"} {
		if huge, _ := hugeBytes(s, 1, 2); huge != 0 {
			t.Errorf("%q: %d", s, huge)
		}
	}
}

func TestPagesAreReported(t *testing.T) {
	for _, c := range []struct {
		name  string
		pages pageReport
		want  int // node
		proof map[string]any
		warn  string
	}{
		{"one node", pageReport{huge: 0.9, hugeKnown: true}, -1, map[string]any{"huge_pages": 0.9}, ""},
		{"where they should be", pageReport{nodes: map[int]int{0: 10, 1: 3}}, 0, map[string]any{"huge_pages": "unknown", "pages_by_node": map[string]int{"0": 10, "1": 3}}, ""},
		{"elsewhere", pageReport{nodes: map[int]int{0: 10, 1: 3}}, 1, map[string]any{"huge_pages": "unknown", "pages_by_node": map[string]int{"0": 10, "1": 3}}, "10 of 13 pages"},
		{"wherever", pageReport{nodes: map[int]int{1: 3}}, -1, map[string]any{"huge_pages": "unknown", "pages_by_node": map[string]int{"1": 3}}, ""},
		{"not permitted", pageReport{noNodes: "move_pages: operation not permitted"}, 0, map[string]any{"huge_pages": "unknown", "pages_by_node": "unknown: move_pages: operation not permitted"}, ""},
	} {
		var r results.Result
		var proof results.PCIeProof
		c.pages.report(&r, &proof, c.want)
		have, _ := json.Marshal(proof)
		if want, _ := json.Marshal(c.proof); !bytes.Equal(have, want) {
			t.Errorf("%s: %s, want %s", c.name, have, want)
		}
		if w := strings.Join(r.Warnings, ";"); !strings.Contains(w, c.warn) || (w == "") != (c.warn == "") {
			t.Errorf("%s: warnings %q", c.name, w)
		}
	}
}

// The kernel must be able to tell of memory that was just touched, unless it is not
// allowed to.
func TestPagesOfABuffer(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("pages are known on Linux")
	}
	b, err := cuda.AllocHost(8 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Free()
	bench.Randomize(b.Host, 1)
	p := pagesOf(b.Host, 2)
	if !p.hugeKnown || p.huge < 0 || p.huge > 1 || math.IsNaN(p.huge) {
		t.Errorf("huge pages %v, known %t", p.huge, p.hugeKnown)
	}
	n := 0
	for _, x := range p.nodes {
		n += x
	}
	if p.noNodes == "" && n != mostPagesOf(8<<20) {
		t.Errorf("%d pages by node: %v", n, p.nodes)
	}
	if q := pagesOf(b.Host, 1); q.nodes != nil || q.noNodes != "" {
		t.Errorf("with one node: %+v", q)
	}
	if q := pagesOf(nil, 2); !reflect.DeepEqual(q, pageReport{}) {
		t.Errorf("of nothing: %+v", q)
	}
	t.Logf("%.2f in huge pages, by node %v %s", p.huge, p.nodes, p.noNodes)
}
