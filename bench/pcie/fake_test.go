//go:build linux && (amd64 || arm64) && !nocuda

package pcie

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dlbench/bench"
	"dlbench/bench/benchtest"
	"dlbench/bench/theory"
	"dlbench/cuda"
	"dlbench/cuda/fakecuda"
	"dlbench/results"
)

// pciNode is a device of a fixture: an address, and the speed and width of its link.
type pciNode struct{ addr, speed, width string }

// plantPCI makes a path of PCI devices in a tree of fixtures, from a root port down to a
// GPU.
func plantPCI(t *testing.T, root string, path ...pciNode) {
	t.Helper()
	put := func(name, text string) {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	dir, links := filepath.Join(root, "sys/devices/pci0000:00"), filepath.Join(root, "sys/bus/pci/devices")
	if err := os.MkdirAll(links, 0o755); err != nil {
		t.Fatal(err)
	}
	for i, n := range path {
		dir = filepath.Join(dir, n.addr)
		vendor, class := "0x8086", "0x060400"
		if i == len(path)-1 {
			vendor, class = "0x10de", "0x030000"
		}
		for name, text := range map[string]string{"current_link_speed": n.speed, "max_link_speed": n.speed, "current_link_width": n.width,
			"max_link_width": n.width, "numa_node": "0", "vendor": vendor, "device": "0x2684", "class": class} {
			put(filepath.Join(dir, name), text)
		}
		to, err := filepath.Rel(links, dir) // as in /sys
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, filepath.Join(links, n.addr)); err != nil && !errors.Is(err, fs.ErrExist) {
			t.Fatal(err)
		}
	}
}

// pciRoot is a machine with one GPU at the address of the fake driver's first, behind
// a link of that speed and width.
func pciRoot(t *testing.T, speed, width string) string {
	t.Helper()
	root := t.TempDir()
	plantPCI(t, root, pciNode{"0000:64:00.0", speed, width}, pciNode{"0000:65:00.0", speed, width})
	return root
}

// The fake GPU copies at 16 GB/s. Behind Gen4 x16 that is half the line; behind Gen3
// x16, 15.754 GB/s, it is more than the line carries, which must be called an error.
func TestLiveLinkOfAFakeDevice(t *testing.T) {
	t.Setenv("DLBENCH_LIBCUDA", fakecuda.Build(t))
	t.Setenv("FAKE_CUDA_DEVICES", "1")
	t.Setenv("CUDA_VISIBLE_DEVICES", "0")
	for _, c := range []struct{ speed, width, link, status string }{
		{"16.0 GT/s PCIe", "16", "gen4x16", results.OK},
		{"8.0 GT/s PCIe", "16", "gen3x16", results.Failed},
		{"Unknown", "16", "", results.OK},
	} {
		b := theory.ArticleBatch
		b.Images = 4
		rep, err := bench.Run(t.Context(), bench.Options{Suites: []bench.Suite{Suite}, Devices: []cuda.Spec{{Text: "cuda:0"}}, Batch: b,
			Count: 6, MinTime: 1, Quick: true, Axes: map[string][]string{"mem": {"pinned"}, "dir": {"h2d"}, "source": {"warm"}}, Root: pciRoot(t, c.speed, c.width)})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rep.Results {
			if r.Params.Text("device") == results.HostDevice {
				continue
			}
			proof := results.As[results.PCIeProof](r.Proof)
			link := proof.Link
			if r.Status != c.status || link != c.link || (c.status == results.Failed) != strings.Contains(r.Reason, "faster than the line rate") {
				t.Errorf("%s: %s %q, link %q; want %s over %q", c.speed, r.Status, r.Reason, link, c.status, c.link)
			}
			ref := r.Reference("line-rate", "time")
			if (ref != nil) != (c.status == results.OK && c.link != "") {
				t.Errorf("%s: line rate %+v", c.speed, ref)
			}
			if reads := *proof.LinkReads; reads < 1 {
				t.Errorf("%s: the link was read %d times while copying", c.speed, reads)
			}
			if proof.NUMANode.String() != "0" {
				t.Errorf("%s: NUMA node %v, want 0", c.speed, proof.NUMANode)
			}
		}
	}
}

// Where nothing can be page-locked, as in some containers, pageable copies must be
// measured all the same, without the link.
func TestPageableWithoutPageLockedMemory(t *testing.T) {
	r := opened(t, unlocking{benchtest.Sim(t, "sim:gen3x16")}, params{Dir: results.H2D, Mem: "pageable"})
	if err := r.Sample(t.Context(), 1, &bench.Recorder{}); err != nil {
		t.Fatal(err)
	}
	res := results.Result{Status: results.OK}
	r.Report(&res)
	if w := strings.Join(res.Warnings, ";"); !strings.Contains(w, "link unknown") || !strings.Contains(w, "no page-locked memory") {
		t.Errorf("warnings %q", w)
	}
}

// unlocking is a device with a PCI address on a machine that page-locks nothing.
type unlocking struct{ cuda.Device }

func (d unlocking) Info() cuda.Info { return cuda.Info{Spec: "cuda:0", PCI: "0000:65:00.0"} }

func (d unlocking) Alloc(k cuda.Kind, n int) (*cuda.Buffer, error) {
	if k == cuda.Pinned {
		return nil, cuda.OutOfMemory
	}
	return d.Device.Alloc(k, n)
}
