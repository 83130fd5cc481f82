//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"encoding/binary"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
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

func parsePTX(text, name string) (*ptxKernel, error) {
	_, rest, found := strings.Cut(ptxComment.ReplaceAllString(text, ""), ".entry "+name+"(")
	head, body, ok := strings.Cut(rest, "{")
	body, _, end := strings.Cut(body, "}")
	if !found || !ok || !end {
		return nil, fmt.Errorf("no kernel %s", name)
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
	return k, nil
}

// ptxMemory is global memory from an address on. Access elsewhere is an error.
type ptxMemory struct {
	base  uint64
	bytes []byte
}

// ptxThread is one thread: its parameters, special registers (each read calls the
// function) and memory.
type ptxThread struct {
	params  []uint64
	special map[string]func() uint64
	memory  []ptxMemory
	reg     map[string]uint64
	fault   error
}

// at returns n bytes of memory at an operand such as [%rd7+2].
func (t *ptxThread) at(operand string, n int) []byte {
	name, offset, _ := strings.Cut(strings.Trim(operand, "[]"), "+")
	plus, _ := strconv.Atoi(offset)
	addr := t.reg[name] + uint64(plus)
	for _, m := range t.memory {
		if addr >= m.base && addr+uint64(n) <= m.base+uint64(len(m.bytes)) {
			return m.bytes[addr-m.base:][:n]
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
			for i, p := range k.params {
				if l.args[1] == "["+p+"]" {
					t.reg[l.args[0]] = t.params[i]
				}
			}
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
