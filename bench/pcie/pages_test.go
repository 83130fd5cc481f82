package pcie

import (
	"encoding/json"
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
	type nodes = results.OrUnknown[map[string]int]
	unknown, some := results.OrUnknown[float64]{Why: "unknown"}, &nodes{Value: map[string]int{"0": 10, "1": 3}}
	for _, c := range []struct {
		name  string
		pages pages
		want  int // node
		proof string
		warn  string
	}{
		{"one node", pages{huge: results.OrUnknown[float64]{Value: 0.9}}, -1, `{"huge_pages":0.9}`, ""},
		{"where they should be", pages{unknown, some}, 0, `{"huge_pages":"unknown","pages_by_node":{"0":10,"1":3}}`, ""},
		{"elsewhere", pages{unknown, some}, 1, `{"huge_pages":"unknown","pages_by_node":{"0":10,"1":3}}`, "10 of 13 pages"},
		{"wherever", pages{unknown, some}, -1, `{"huge_pages":"unknown","pages_by_node":{"0":10,"1":3}}`, ""},
		{"not permitted", pages{unknown, &nodes{Why: "unknown: EPERM"}}, 0, `{"huge_pages":"unknown","pages_by_node":"unknown: EPERM"}`, ""},
	} {
		var r results.Result
		var proof results.PCIeProof
		c.pages.report(&r, &proof, c.want)
		if have, _ := json.Marshal(proof); string(have) != c.proof {
			t.Errorf("%s: %s, want %s", c.name, have, c.proof)
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
	if p.huge.Why != "" || !(p.huge.Value >= 0 && p.huge.Value <= 1) {
		t.Errorf("huge pages %v", p.huge)
	}
	n := 0
	for _, x := range p.byNode.Value {
		n += x
	}
	if p.byNode.Why == "" && n != mostPagesOf(8<<20) {
		t.Errorf("%d pages by node: %v", n, p.byNode)
	}
	if q := pagesOf(b.Host, 1); q.byNode != nil {
		t.Errorf("with one node: %+v", q)
	}
	if q := pagesOf(nil, 2); q.huge.Why != "unknown" || q.byNode != nil {
		t.Errorf("of nothing: %+v", q)
	}
}
