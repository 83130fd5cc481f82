package pcie

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"dlbench/bench"
	"dlbench/bench/benchtest"
	"dlbench/bench/host"
	"dlbench/cuda"
	"dlbench/results"
)

const nodeDir = "sys/devices/system/node"

// plant writes files of one line each into a tree of fixtures.
func plant(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		benchtest.Write(t, filepath.Join(dir, name), text+"\n")
	}
}

// nodes is a machine whose NUMA nodes have these CPUs.
func nodes(t *testing.T, distance string, cpus ...string) string {
	t.Helper()
	root := t.TempDir()
	files := map[string]string{"online": "0-" + strconv.Itoa(len(cpus)-1)}
	for i, list := range cpus {
		files["node"+strconv.Itoa(i)+"/cpulist"] = list
		files["node"+strconv.Itoa(i)+"/distance"] = distance
	}
	plant(t, filepath.Join(root, nodeDir), files)
	return root
}

func TestPlacement(t *testing.T) {
	mine := strconv.Itoa(host.UsableCPUs()[0])
	const other = "60000" // no CPU of this process
	zero := 0
	for _, c := range []struct {
		name     string
		distance string
		cpus     []string // by node
		node     *int     // of the GPU
		info     cuda.Info
		near     bool // the thread is moved to the GPU's node
		far      int  // node farthest away, -1 for none
		warn     string
	}{
		{"one node", "10", []string{mine}, nil, cuda.Info{}, false, -1, ""},
		{"two nodes", "10 21", []string{mine, mine}, &zero, cuda.Info{}, true, 1, ""},
		{"the farthest", "10 12 32 21", []string{mine, mine, mine, mine}, &zero, cuda.Info{}, true, 2, ""},
		{"the farthest is not ours", "10 12 32 21", []string{mine, mine, other, mine}, &zero, cuda.Info{}, true, 3, ""},
		{"the first as far", "10 21 21 21", []string{mine, other, mine, mine}, &zero, cuda.Info{}, true, 2, ""},
		{"memory without CPUs", "10 80", []string{mine, ""}, &zero, cuda.Info{}, true, -1, ""},
		{"the GPU's node is not ours", "10 21", []string{other, mine}, &zero, cuda.Info{}, false, -1,
			"this process may not use the CPUs of the GPU's NUMA node 0: copies come"},
		{"unknown node", "10 21", []string{mine, mine}, nil, cuda.Info{}, false, -1, "NUMA node is unknown: copies may come"},
		{"distances unknown", "10", []string{mine, mine}, &zero, cuda.Info{}, true, -1, ""},
		{"assumed link", "10 21", []string{mine, mine}, nil, cuda.Info{Assumed: true}, false, -1, ""},
		{"loaded link", "10 21", []string{mine, mine}, &zero, cuda.Info{Loaded: true}, true, -1, ""},
	} {
		env := benchtest.Env()
		env.Root = nodes(t, c.distance, c.cpus...)
		env.Host.CPU.NUMANodes = len(c.cpus)
		env.Host.GPUs = []results.GPU{{PCI: "0000:65:00.0", NUMANode: c.node}}
		c.info.PCI = "0000:65:00.0"
		near := placeNear(env, c.info)
		var r results.Result
		near.report(&r, &results.PCIeProof{})
		wantWarning(t, c.name, r, c.warn)
		if (near.cpus != nil) != c.near {
			t.Errorf("%s: near %+v", c.name, near)
		}
		far, ok := placeFar(env, c.info)
		mineAlone := slices.Equal(far.cpus, host.UsableCPUs()[:1])
		if ok != (c.far >= 0) || ok && (far.from != c.far || far.node != 0 || !mineAlone) {
			t.Errorf("%s: far %+v, %t", c.name, far, ok)
		}
		if want := map[bool]int{true: 0, false: -1}[c.near]; near.from != want {
			t.Errorf("%s: the thread is on %d, want %d", c.name, near.from, want)
		}
	}
}

func TestPagesAreReported(t *testing.T) {
	some := &results.OrUnknown[map[string]int]{Value: map[string]int{"0": 10, "1": 3}}
	for _, c := range []struct {
		name  string
		pages *results.OrUnknown[map[string]int]
		from  int // node
		warn  string
	}{
		{"one node", nil, 0, ""},
		{"where they should be", some, 0, ""},
		{"elsewhere", some, 1, "10 of 13 pages"},
		{"wherever", some, -1, ""},
		{"not permitted", &results.OrUnknown[map[string]int]{Why: "unknown: EPERM"}, 0, ""},
	} {
		var r results.Result
		placement{node: c.from, from: c.from}.report(&r, &results.PCIeProof{PagesByNode: c.pages})
		wantWarning(t, c.name, r, c.warn)
	}
}

func TestCountNodes(t *testing.T) {
	by := countNodes([]int32{0, 1, 1, -int32(syscall.ENOENT)}, nil)
	if by.Why != "" || !maps.Equal(by.Value, map[string]int{"0": 1, "1": 2}) {
		t.Errorf("%v", by)
	}
	by = countNodes([]int32{-int32(syscall.EFAULT)}, nil) // mapped by a driver
	if !strings.Contains(by.Why, syscall.EFAULT.Error()) {
		t.Errorf("%v", by)
	}
}

// The kernel must know of memory that was just touched, unless it is not
// allowed to.
func TestPagesOfABuffer(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("pages are known on Linux")
	}
	b, err := cuda.AllocHost(8 << 20)
	benchtest.Must(t, err)
	defer b.Free()
	bench.Randomize(b.Host, 1)
	var p, one results.PCIeProof
	addPages(&p, b.Host, 2)
	if p.HugePages.Why != "" || !(p.HugePages.Value >= 0 && p.HugePages.Value <= 1) {
		t.Errorf("huge pages %v", p.HugePages)
	}
	n := 0
	for _, x := range p.PagesByNode.Value {
		n += x
	}
	if p.PagesByNode.Why == "" && n != min(mostPages, 8<<20/os.Getpagesize()) {
		t.Errorf("%d pages by node: %v", n, p.PagesByNode)
	}
	if addPages(&one, b.Host, 1); one.PagesByNode != nil {
		t.Errorf("with one node: %+v", one)
	}
}
