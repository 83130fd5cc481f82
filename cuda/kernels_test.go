//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func kernel(t *testing.T, name string) *ptxKernel {
	t.Helper()
	k, err := parsePTX(kernelsPTX, name)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestNormaliseKernel interprets the PTX itself, every thread of grids smaller, as
// large as, and larger than the images.
func TestNormaliseKernel(t *testing.T) {
	k := kernel(t, "dlb_normalise")
	const in, out = 0x7000_0000_0101, 0x7fff_0000_0200 // levels may begin anywhere
	for _, n := range []Normalisation{imageNet(1, 1, 1, true), imageNet(3, 4, 5, false), imageNet(3, 4, 5, true)} {
		for _, grid := range []struct{ x, y, block int }{{1, 1, 1}, {2, 2, 4}, {1, 3, 32}, {3, 5, 16}} {
			src, dst, want := make([]byte, n.SourceBytes()), make([]byte, n.ResultBytes()), make([]byte, n.ResultBytes())
			rand.NewChaCha8([32]byte{7}).Read(src)
			n.Apply(want, src)
			step, plane := n.strides()
			params := []uint64{out, in, uint64(n.Images), uint64(n.area()), uint64(step), uint64(plane)}
			scale, bias := n.factors()
			for _, f := range append(scale[:], bias[:]...) {
				params = append(params, uint64(math.Float32bits(f)))
			}
			for i := range grid.x * grid.y * grid.block {
				thread := &ptxThread{params: params, memory: []ptxMemory{{in, src}, {out, dst}}, special: map[string]func() uint64{}}
				for name, v := range map[string]int{"%tid.x": i % grid.block, "%ctaid.x": i / grid.block % grid.x, "%ctaid.y": i / grid.block / grid.x,
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

// TestSpinKernel interprets the step: it ends by the timer, or by the clock where the
// timer stands still.
func TestSpinKernel(t *testing.T) {
	k := kernel(t, "dlb_spin")
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

// TestPTXInterpreter sees that the interpreter itself finds what is wrong.
func TestPTXInterpreter(t *testing.T) {
	for body, want := range map[string]string{
		"mov.u64 %rd1, %rd2;\nret;": "%rd2 was never written",
		"mov.u64 %rd1, 5;":          "ran out of the kernel",
		"$a:\nbra $a;":              "it does not end",
		"mov.u64 %rd1, 64;\nld.global.u8 %r1, [%rd1+1];\nret;": "access to 1 bytes at 0x41",
		"vadd %r1, 1;\nret;": "does not know vadd",
	} {
		k, err := parsePTX(".visible .entry k(\n)\n{\n"+body+"\n}\n", "k")
		if err != nil {
			t.Fatal(err)
		}
		if err := k.run(&ptxThread{memory: []ptxMemory{{64, []byte{1}}}}, 100); err == nil || !bytes.Contains(fmt.Append(nil, err), []byte(want)) {
			t.Errorf("%q: %v, want %q", body, err, want)
		}
	}
}
