//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// ptxKernel is a kernel of a PTX text, of which the tests interpret as much as
// kernels.ptx uses: what no machine without a GPU runs otherwise.
type ptxKernel struct {
	params []string
	code   []ptxLine
	labels map[string]int
}

type ptxLine struct {
	guard, op string // guard: a predicate, or ""
	args      []string
}

var (
	ptxComment = regexp.MustCompile(`//[^\n]*`)
	ptxParam   = regexp.MustCompile(`\.param\s+\.\w+\s+(\w+)`)
	ptxSplit   = regexp.MustCompile(`[\s,;]+`)
)

func parsePTX(t *testing.T, text, name string) *ptxKernel {
	t.Helper()
	_, rest, found := strings.Cut(ptxComment.ReplaceAllString(text, ""), ".entry "+name+"(")
	head, body, ok := strings.Cut(rest, "{")
	body, _, end := strings.Cut(body, "}")
	if !found || !ok || !end {
		t.Fatalf("no kernel %s", name)
	}
	k := &ptxKernel{labels: map[string]int{}}
	for _, m := range ptxParam.FindAllStringSubmatch(head, -1) {
		k.params = append(k.params, m[1])
	}
	for line := range strings.Lines(body) {
		f := ptxSplit.Split(strings.Trim(line, " \t\n;"), -1)
		switch {
		case f[0] == "" || f[0] == ".reg":
		case strings.HasSuffix(f[0], ":"):
			k.labels[strings.TrimSuffix(f[0], ":")] = len(k.code)
		case f[0][0] == '@':
			k.code = append(k.code, ptxLine{f[0][1:], f[1], f[2:]})
		default:
			k.code = append(k.code, ptxLine{"", f[0], f[1:]})
		}
	}
	return k
}

// ptxThread is one thread: its parameters, special registers (each read calls the
// function) and global memory by the address where it begins. Access elsewhere is an
// error.
type ptxThread struct {
	params  []uint64
	special map[string]func() uint64
	memory  map[uint64][]byte
	reg     map[string]uint64
	fault   error
}

// at returns n bytes of memory at an operand such as [%rd7+2].
func (t *ptxThread) at(operand string, n int) []byte {
	name, offset, _ := strings.Cut(strings.Trim(operand, "[]"), "+")
	plus, _ := strconv.Atoi(offset)
	addr := t.reg[name] + uint64(plus)
	for base, bytes := range t.memory {
		if addr >= base && addr+uint64(n) <= base+uint64(len(bytes)) {
			return bytes[addr-base:][:n]
		}
	}
	t.fault = fmt.Errorf("access to %d bytes at %#x", n, addr)
	return make([]byte, n)
}

func (t *ptxThread) value(operand string) uint64 {
	if f := t.special[operand]; f != nil {
		return f()
	}
	if v, ok := t.reg[operand]; ok {
		return v
	}
	v, err := strconv.ParseUint(operand, 10, 64)
	if err != nil {
		t.fault = fmt.Errorf("%s was never written", operand)
	}
	return v
}

// run interprets k for at most steps instructions.
func (k *ptxKernel) run(t *ptxThread, steps int) error {
	t.reg = map[string]uint64{}
	for pc := 0; steps > 0; steps-- {
		if pc >= len(k.code) {
			return fmt.Errorf("ran out of the kernel")
		}
		l := k.code[pc]
		pc++
		if l.guard != "" && t.value(l.guard) == 0 {
			continue
		}
		switch l.op {
		case "ret":
			return t.fault
		case "bra":
			to, ok := k.labels[l.args[0]]
			if !ok {
				return fmt.Errorf("no label %s", l.args[0])
			}
			pc = to
		case "st.global.f32":
			binary.NativeEndian.PutUint32(t.at(l.args[0], 4), uint32(t.value(l.args[1])))
		case "ld.global.u8":
			t.reg[l.args[0]] = uint64(t.at(l.args[1], 1)[0])
		case "ld.param.u64", "ld.param.u32", "ld.param.f32":
			t.reg[l.args[0]] = t.params[slices.Index(k.params, strings.Trim(l.args[1], "[]"))]
		default:
			v, err := t.compute(l)
			if err != nil {
				return err
			}
			t.reg[l.args[0]] = v
		}
		if t.fault != nil {
			return fmt.Errorf("%s %v: %w", l.op, l.args, t.fault)
		}
	}
	return fmt.Errorf("it does not end")
}

// compute is the result of an instruction on registers.
func (t *ptxThread) compute(l ptxLine) (uint64, error) {
	f := ptxOps[l.op]
	if f == nil {
		return 0, fmt.Errorf("the interpreter does not know %s", l.op)
	}
	var v [3]uint64
	for i, operand := range l.args[1:] {
		v[i] = t.value(operand)
	}
	return f(v[0], v[1], v[2]), nil
}

var ptxOps = map[string]func(a, b, c uint64) uint64{
	"mov.u32":            func(a, _, _ uint64) uint64 { return a },
	"mov.u64":            func(a, _, _ uint64) uint64 { return a },
	"cvta.to.global.u64": func(a, _, _ uint64) uint64 { return a },
	"add.s64":            func(a, b, _ uint64) uint64 { return a + b },
	"sub.s64":            func(a, b, _ uint64) uint64 { return a - b },
	"add.u32":            func(a, b, _ uint64) uint64 { return uint64(uint32(a) + uint32(b)) },
	"mul.lo.u32":         func(a, b, _ uint64) uint64 { return uint64(uint32(a) * uint32(b)) },
	"mad.lo.u32":         func(a, b, c uint64) uint64 { return uint64(uint32(a)*uint32(b) + uint32(c)) },
	"mul.wide.u32":       func(a, b, _ uint64) uint64 { return uint64(uint32(a)) * uint64(uint32(b)) },
	"shl.b64":            func(a, b, _ uint64) uint64 { return a << b },
	"setp.ge.u32":        func(a, b, _ uint64) uint64 { return ptxTruth(uint32(a) >= uint32(b)) },
	"setp.ge.u64":        func(a, b, _ uint64) uint64 { return ptxTruth(a >= b) },
	"setp.lt.u64":        func(a, b, _ uint64) uint64 { return ptxTruth(a < b) },
	"cvt.rn.f32.u32":     func(a, _, _ uint64) uint64 { return uint64(math.Float32bits(float32(uint32(a)))) },
	"fma.rn.f32": func(a, b, c uint64) uint64 {
		x, y, z := math.Float32frombits(uint32(a)), math.Float32frombits(uint32(b)), math.Float32frombits(uint32(c))
		return uint64(math.Float32bits(float32(math.FMA(float64(x), float64(y), float64(z)))))
	},
}

func ptxTruth(yes bool) uint64 {
	if yes {
		return 1
	}
	return 0
}

// TestNormaliseKernel interprets the PTX itself, every thread of grids smaller, as
// large as, and larger than the images.
func TestNormaliseKernel(t *testing.T) {
	k := parsePTX(t, kernelsPTX, "dlb_normalise")
	const in, out = 0x7000_0000_0101, 0x7fff_0000_0200 // levels may begin anywhere
	for _, n := range []Normalisation{imageNet(1, 1, 1), imageNet(3, 4, 5)} {
		for _, grid := range []struct{ x, y, block int }{{1, 1, 1}, {2, 2, 4}, {1, 3, 32}, {3, 5, 16}} {
			src, dst, want := make([]byte, n.SourceBytes()), make([]byte, n.ResultBytes()),
				make([]byte, n.ResultBytes())
			rand.NewChaCha8([32]byte{7}).Read(src)
			n.Apply(want, src)
			params := []uint64{out, in, uint64(n.Images), uint64(n.area())}
			scale, bias := n.factors()
			for _, f := range append(scale[:], bias[:]...) {
				params = append(params, uint64(math.Float32bits(f)))
			}
			for i := range grid.x * grid.y * grid.block {
				thread := &ptxThread{params: params, memory: map[uint64][]byte{in: src, out: dst},
					special: map[string]func() uint64{}}
				column, row := i/grid.block%grid.x, i/grid.block/grid.x
				for name, v := range map[string]int{"%tid.x": i % grid.block, "%ctaid.x": column, "%ctaid.y": row,
					"%ntid.x": grid.block, "%nctaid.x": grid.x, "%nctaid.y": grid.y} {
					thread.special[name] = func() uint64 { return uint64(v) }
				}
				if err := k.run(thread, 100_000); err != nil {
					t.Fatalf("%+v, grid %+v, thread %d: %v", n, grid, i, err)
				}
			}
			if !bytes.Equal(dst, want) {
				t.Errorf("%+v, grid %+v: other values than on the host", n, grid)
			}
		}
	}
}

// TestWorkKernel interprets the rounds of the first and the last thread of a block: they
// come to what the host computes, which stays within bounds and does not settle.
func TestWorkKernel(t *testing.T) {
	k := parsePTX(t, kernelsPTX, "dlb_work")
	const out, rounds = 0x7fff_0000_0200, 1000
	next := func(x float64) float64 { return float64(float32(math.FMA(x, x, float64(float32(workShift))))) }
	for _, tid := range []int{0, workThreads - 1} {
		dst := make([]byte, WorkBytes)
		thread := &ptxThread{memory: map[uint64][]byte{out: dst},
			params:  []uint64{out, rounds, uint64(math.Float32bits(workScale)), uint64(math.Float32bits(workShift))},
			special: map[string]func() uint64{"%tid.x": func() uint64 { return uint64(tid) }}}
		if err := k.run(thread, 100_000); err != nil {
			t.Fatal(err)
		}
		var x [4]float64
		x[0] = float64(float32(math.FMA(float64(tid), float64(float32(workScale)), float64(float32(workShift)))))
		for i := range x[1:] {
			x[i+1] = next(x[i])
		}
		seen := map[float64]bool{}
		for range 2 * rounds {
			for i := range x {
				x[i] = next(x[i])
			}
			if seen[x[0]] = true; !(math.Abs(x[0]) <= 2) {
				t.Fatalf("thread %d: a chain leaves its bounds: %v", tid, x)
			}
		}
		want := float32(math.FMA(float64(float32(math.FMA(x[0], x[1], x[2]))), x[3], float64(float32(workShift))))
		if got := math.Float32frombits(binary.NativeEndian.Uint32(dst[4*tid:])); got != want {
			t.Errorf("thread %d: %v, want %v", tid, got, want)
		}
		if len(seen) < rounds {
			t.Errorf("thread %d: a chain settles after %d of %d values", tid, len(seen), 2*rounds)
		}
	}
}

// TestSpinKernel interprets the step: it ends by the timer, or by the clock where the
// timer stands still.
func TestSpinKernel(t *testing.T) {
	k := parsePTX(t, kernelsPTX, "dlb_spin")
	for _, c := range []struct{ ns, cycles, tick, reads uint64 }{
		{1000, 4000, 10, 101}, // 100 ticks of 10 ns after the first read
		{1000, 4000, 1024, 2},
		{1000, 4000, 0, 1 + 4000/5}, // 5 cycles a read
	} {
		reads, clock := uint64(0), uint64(1<<40)
		thread := &ptxThread{params: []uint64{c.ns, c.cycles}, special: map[string]func() uint64{
			"%globaltimer": func() uint64 { reads++; return 1<<50 + reads*c.tick },
			"%clock64":     func() uint64 { clock += 5; return clock },
		}}
		if err := k.run(thread, 100_000); err != nil {
			t.Fatal(err)
		}
		if reads != c.reads {
			t.Errorf("%+v: the timer was read %d times", c, reads)
		}
	}
}
