package pcie

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dlbench/bench/benchtest"
	"dlbench/bench/host"
	"dlbench/cuda"
	"dlbench/results"
)

// nodes is a machine whose NUMA nodes have these CPUs.
func nodes(t *testing.T, distance string, cpus ...string) string {
	t.Helper()
	root := t.TempDir()
	node := filepath.Join(root, "sys/devices/system/node")
	files := map[string]string{"online": "0-" + strconv.Itoa(len(cpus)-1)}
	for i, list := range cpus {
		files["node"+strconv.Itoa(i)+"/cpulist"] = list
		files["node"+strconv.Itoa(i)+"/distance"] = distance
	}
	for name, text := range files {
		path := filepath.Join(node, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestPlacement(t *testing.T) {
	mine := strconv.Itoa(host.UsableCPUs()[0])
	const others = "60000" // no CPU of this process
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
		{"the farthest is not ours", "10 12 32 21", []string{mine, mine, others, mine}, &zero, cuda.Info{}, true, 3, ""},
		{"the first of those as far", "10 21 21 21 21 21 21 21", []string{mine, others, mine, mine, mine, mine, mine, mine}, &zero, cuda.Info{}, true, 2, ""},
		{"memory without CPUs", "10 80", []string{mine, ""}, &zero, cuda.Info{}, true, -1, ""},
		{"the GPU's node is not ours", "10 21", []string{others, mine}, &zero, cuda.Info{}, false, -1, "may not use the CPUs"},
		{"unknown node", "10 21", []string{mine, mine}, nil, cuda.Info{}, false, -1, "NUMA node is unknown"},
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
		if (near.cpus != nil) != c.near || !strings.Contains(near.warning, c.warn) || (near.warning == "") != (c.warn == "") {
			t.Errorf("%s: near %+v", c.name, near)
		}
		far, ok := placeFar(env, c.info)
		if ok != (c.far >= 0) || ok && (far.from != c.far || far.runsOn() != c.far || far.node != 0 || !slices.Equal(far.cpus, host.UsableCPUs()[:1])) {
			t.Errorf("%s: far %+v, %t", c.name, far, ok)
		}
		if want := map[bool]int{true: 0, false: -1}[c.near]; near.runsOn() != want {
			t.Errorf("%s: the thread stands on %d, want %d", c.name, near.runsOn(), want)
		}
	}
}
