//go:build linux && (amd64 || arm64) && !nocuda

package pcie

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dlbench/bench"
	"dlbench/bench/benchtest"
	"dlbench/bench/host"
	"dlbench/bench/theory"
	"dlbench/cuda/fakecuda"
	"dlbench/results"
)

// pciNode is a device of a fixture: an address, and the speed and width of its link.
type pciNode struct{ addr, speed, width string }

// plantPCI makes a path of PCI devices in a tree of fixtures, from a root port down to a
// GPU.
func plantPCI(t *testing.T, root string, path ...pciNode) {
	t.Helper()
	dir, links := filepath.Join(root, "sys/devices/pci0000:00"), filepath.Join(root, "sys/bus/pci/devices")
	benchtest.Must(t, os.MkdirAll(links, 0o755))
	for i, n := range path {
		dir = filepath.Join(dir, n.addr)
		vendor, class := "0x8086", "0x060400"
		if i == len(path)-1 {
			vendor, class = "0x10de", "0x030000"
		}
		plant(t, dir, map[string]string{"current_link_speed": n.speed, "max_link_speed": n.speed,
			"current_link_width": n.width, "max_link_width": n.width, "numa_node": "0",
			"vendor": vendor, "device": "0x2684", "class": class})
		to, err := filepath.Rel(links, dir) // as in /sys
		benchtest.Must(t, err)
		if err := os.Symlink(to, filepath.Join(links, n.addr)); err != nil && !errors.Is(err, fs.ErrExist) {
			t.Fatal(err)
		}
	}
}

func runSuite(t *testing.T, device string, o bench.Options) *results.Report {
	t.Helper()
	o.Suites, o.Devices, o.MinTime = []bench.Suite{Suite}, []theory.Device{benchtest.Spec(t, device)}, 1
	rep, err := bench.Run(t.Context(), o)
	benchtest.Must(t, err)
	return rep
}

// Behind Gen4 x16 the fake GPU's 16 GB/s are half the line; behind Gen3 x16, 15.754 GB/s,
// they are more than the line carries, which must be called an error.
func TestLiveLinkOfAFakeDevice(t *testing.T) {
	if !benchtest.InChild(t, "FAKE_CUDA_DEVICES=1") {
		return
	}
	for _, c := range []struct{ speed, link, status, why string }{
		{"16.0 GT/s PCIe", "gen4x16", results.OK, ""},
		{"8.0 GT/s PCIe", "gen3x16", results.Failed, "faster than the line rate"},
		{"Unknown", "", results.OK, "link unknown"},
	} {
		r := result(t, runFast(t, oneGPU(t, c.speed), true, "cuda:0", "mem=pinned", "dir=h2d"), "device=cuda:0")
		wantResult(t, r, c.status, c.why)
		if ref := r.Reference("line-rate", "time"); (ref != nil) != (c.status == results.OK && c.link != "") {
			t.Errorf("%s: line rate %+v", c.speed, ref)
		}
		proof := results.As[results.PCIeProof](r.Proof)
		if proof.Link != c.link || *proof.LinkReads < 1 || proof.NUMANode.String() != "0" {
			t.Errorf("%s: %v, want a link %q and node 0", c.speed, r.Proof, c.link)
		}
	}
}

// oneGPU is a machine with the first of the fake driver's GPUs, behind 16 lanes.
func oneGPU(t *testing.T, speed string) string {
	t.Helper()
	root := t.TempDir()
	plantPCI(t, root, pciNode{"0000:64:00.0", speed, "16"}, pciNode{"0000:65:00.0", speed, "16"})
	return root
}

// fourGPUs is a machine with four GPUs at the fake driver's addresses: two behind a
// switch in an x8 slot, one in an x16 slot, and one in an x4 slot. All are on the first
// of two NUMA nodes.
func fourGPUs(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	gen4, gen3 := "16.0 GT/s PCIe", "8.0 GT/s PCIe"
	shared := []pciNode{{"0000:00:03.0", gen4, "8"}, {"0000:60:00.0", gen4, "8"}}
	for _, port := range [][2]string{{"0000:61:00.0", "0000:65:00.0"}, {"0000:61:01.0", "0000:66:00.0"}} {
		plantPCI(t, root, append(slices.Clone(shared), pciNode{port[0], gen4, "16"}, pciNode{port[1], gen4, "16"})...)
	}
	plantPCI(t, root, pciNode{"0000:00:04.0", gen4, "16"}, pciNode{"0000:67:00.0", gen4, "16"})
	plantPCI(t, root, pciNode{"0000:00:05.0", gen3, "4"}, pciNode{"0000:68:00.0", gen3, "4"})
	plant(t, filepath.Join(root, nodeDir), map[string]string{"online": "0-1", "has_cpu": "0-1",
		"node0/cpulist": "0", "node1/cpulist": "1", "node0/distance": "10 21", "node1/distance": "21 10"})
	return root
}

// runFast runs the suite with copies that last 2 ms at 1.2 GB/s, which the fake driver's
// own copies keep up with. Each of axes is name=value.
func runFast(t *testing.T, root string, quick bool, device string, axes ...string) *results.Report {
	t.Helper()
	b := theory.ArticleBatch
	b.Images = 4
	given := map[string][]string{}
	for _, axis := range append(axes, fmt.Sprintf("bytes=%d", b.Bytes()), "dtype=float32", "source=warm") {
		name, value, _ := strings.Cut(axis, "=")
		given[name] = []string{value}
	}
	return runSuite(t, device, bench.Options{Batch: b, Count: 4, Quick: quick, Axes: given, Root: root, Seed: 1})
}

// result finds a case by parts of its name.
func result(t *testing.T, rep *results.Report, parts ...string) results.Result {
	t.Helper()
	for _, r := range rep.Results {
		if !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(r.Name+"/", p+"/") }) {
			return r
		}
	}
	t.Fatalf("no case with %q", parts)
	return results.Result{}
}

// Four GPUs of one model, of which two share a slot and one has a slow link: each copies
// alone and while all others do, and the findings say who is slowed down and why.
func TestFourDevices(t *testing.T) {
	if !benchtest.InChild(t, "FAKE_CUDA_DEVICES=4", "FAKE_CUDA_NAME=Fake GPU", "FAKE_CUDA_UPLINK=0,0",
		"FAKE_CUDA_H2D_GBPS=1.2,1.2,1.2,0.3") {
		return
	}
	rep := runFast(t, fourGPUs(t), true, "all", "mem=pinned", "dir=h2d")
	if got := strings.Join(rep.Config.Devices, " "); got != "cuda:0 cuda:1 cuda:2 cuda:3" {
		t.Errorf("devices %s", got)
	}
	kept := map[int]float64{}
	gaps := false
	for i := range 4 {
		device := fmt.Sprintf("device=cuda:%d", i)
		alone := result(t, rep, device, "mem=pinned/bytes=2430000")
		shared := result(t, rep, device, "concurrent="+results.ConcurrentDevices)
		wantResult(t, alone, results.OK)
		if wantResult(t, shared, results.OK); t.Failed() {
			t.FailNow()
		}
		proof := results.As[results.PCIeProof](shared.Proof)
		if others := proof.Background; len(others) != 3 || slices.Contains(others, fmt.Sprintf("cuda:%d h2d", i)) {
			t.Errorf("%s: with %v in the background", device, others)
		}
		if n := *proof.BackgroundCopies; n < 3 {
			t.Errorf("%s: %d copies in the background", device, n)
		}
		gaps = gaps || *proof.SamplesWithGap != 0
		kept[i] = results.MedianOf(&shared, "bandwidth") / results.MedianOf(&alone, "bandwidth")
	}
	if !gaps { // this machine kept all queues filled: then the times are the model's
		for i, want := range []float64{0.5, 0.5, 1, 1} {
			if kept[i] < want-0.05 || kept[i] > want+0.05 {
				t.Errorf("cuda:%d keeps %.3f of its rate, want %g", i, kept[i], want)
			}
		}
	}
	a6 := benchtest.Finding(rep.Findings, "A6")
	verdict := results.Fails // x4 does, for such a small demand
	if gaps {
		verdict = a6.Verdict
	}
	benchtest.WantFinding(t, a6, verdict, "all 4 GPUs", "cuda:0 and cuda:1 share the port 0000:00:03.0 of x8",
		"enough for ResNet-152")
	if a6.Value == nil || *a6.Value > 0.9 {
		t.Errorf("A6: %+v", a6)
	}
	benchtest.WantFinding(t, benchtest.Finding(rep.Findings, "siblings"), results.Fails, "cuda:3 copies at 300", "Gen3 x4")
	wantResult(t, result(t, rep, "device=cuda:3", "mem=pinned/bytes=2430000"), results.OK, "of the same model")
}

// A device that breaks while it copies in another's background ends its own cases, and
// only those in which it should copy.
func TestDeviceThatFailsHalfWay(t *testing.T) {
	if !benchtest.InChild(t, "FAKE_CUDA_DEVICES=3", "FAKE_CUDA_H2D_GBPS=1.2", "FAKE_CUDA_D2H_GBPS=1.2",
		"FAKE_CUDA_FAIL=cuMemcpyHtoDAsync@1:719:30") {
		return
	}
	rep := runFast(t, fourGPUs(t), true, "all", "mem=pinned")
	for _, device := range []string{"device=cuda:0", "device=cuda:2"} {
		wantResult(t, result(t, rep, device, "dir=h2d", "mem=pinned/bytes=2430000"), results.OK)
		wantResult(t, result(t, rep, device, "dir=d2h", "mem=pinned/bytes=2430000"), results.OK)
		wantResult(t, result(t, rep, device, "concurrent="+results.ConcurrentDevices), results.Skipped,
			"cuda:1, which should copy at the same time")
	}
	for _, r := range rep.Results {
		if r.Params.Text("device") == "cuda:1" {
			wantResult(t, r, results.Failed)
		}
	}
	benchtest.WantFinding(t, benchtest.Finding(rep.Findings, "A6"), results.NotMeasured,
		"at the same time were not measured: cuda:1, which should copy at the same time")
}

// Each direction is measured while the other runs; memory far from the GPU is a row of
// its own, and where its pages are is what the kernel says, not what was wanted.
func TestOppositeAndRemote(t *testing.T) {
	if !benchtest.InChild(t, "FAKE_CUDA_DEVICES=1", "FAKE_CUDA_H2D_GBPS=1.2", "FAKE_CUDA_D2H_GBPS=0.6") {
		return
	}
	rep := runFast(t, fourGPUs(t), false, "cuda:0", "mem=pinned")
	for dir, rate := range map[string]float64{results.H2D: 1.2e9, results.D2H: 0.6e9} {
		r := result(t, rep, "device=cuda:0", "dir="+dir, "concurrent="+results.ConcurrentOpposite)
		wantResult(t, r, results.OK)
		if m := r.Metric("bandwidth"); m.Median < 0.98*rate || m.Median > 1.02*rate { // as if the other did not copy
			t.Errorf("%s: %+v", r.Name, m)
		}
		if others := results.As[results.PCIeProof](r.Proof).Background; len(others) != 1 || others[0] == "cuda:0 "+dir {
			t.Errorf("%s: with %v in the background", r.Name, others)
		}
	}
	benchtest.WantFinding(t, benchtest.Finding(rep.Findings, "A6"), results.NotMeasured)
	if !slices.Contains(host.UsableCPUs(), 0) || !slices.Contains(host.UsableCPUs(), 1) {
		t.Skip("this process may not use CPUs 0 and 1")
	}
	r := result(t, rep, "device=cuda:0", "dir=h2d", "numa="+results.NUMARemote)
	wantResult(t, r, results.OK)
	p := results.As[results.PCIeProof](r.Proof)
	if p.NUMANode.String() != "0" || p.CopiedFromNode.String() != "1" || fmt.Sprint(p.CPUs) != "[1]" {
		t.Errorf("%s: %v", r.Name, r.Proof)
	}
	if p.PagesByNode == nil || p.PagesByNode.Value == nil && !strings.HasPrefix(p.PagesByNode.Why, "unknown: ") {
		t.Errorf("pages %v", p.PagesByNode)
	}
	benchtest.WantFinding(t, benchtest.Finding(rep.Findings, "numa"), results.Fails, // the fake has one memory
		"from NUMA node 1, far from the GPU", "its own node 0")
	near := result(t, rep, "device=cuda:0", "dir=h2d", "mem=pinned/bytes=2430000")
	p = results.As[results.PCIeProof](near.Proof)
	if fmt.Sprint(p.CPUs) != "[0]" || p.LinkBefore != "gen4x8" || p.LinkAfter != "gen4x8" {
		t.Errorf("%v", near.Proof)
	}
}

// Copies over a loaded link last as long as over it, and are called assumed.
func TestLoadedLink(t *testing.T) {
	if !benchtest.InChild(t, "FAKE_CUDA_DEVICES=1", "FAKE_CUDA_H2D_GBPS=12", "FAKE_CUDA_PAGEABLE_GBPS=6") {
		return
	}
	rep := runFast(t, fourGPUs(t), true, "cuda:0:link=gen3x4", "mem=pinned")
	r := result(t, rep, "device=cuda:0:link=gen3x4", "dir=h2d", "mem=pinned")
	wantResult(t, r, results.OK)
	const want = 2_430_000 / (0.80 * 3.938e9)
	m := r.Metric("time")
	if m.Median < 0.99*want || m.Median > 1.01*want || m.Lo != nil || !slices.Equal(r.Assumed, []string{"link"}) {
		t.Errorf("assumed %v: %+v, want %g s", r.Assumed, m, want)
	}
	p := results.As[results.PCIeProof](r.Proof)
	if p.TimeLoaded == nil || p.TimeLoaded.Copies != 3 || p.Link != "gen3x4" || p.LinkReal != "gen4x8" ||
		!strings.Contains(p.LinkSource, "link time loaded") || !strings.Contains(p.MemoryReads, "3.8") {
		t.Errorf("proof %v", r.Proof)
	}
	a1 := benchtest.Finding(rep.Findings, "A1")
	benchtest.WantFinding(t, a1, results.NotMeasured, "to cuda:0:link=gen3x4 over Gen3 x4: ")
	if f := benchtest.Finding(rep.Findings, "siblings"); f.Claim != "" || !slices.Equal(a1.Assumed, []string{"link"}) {
		t.Errorf("%+v, %+v", f, a1)
	}
	slow := runFast(t, fourGPUs(t), true, "cuda:0:link=gen4x16", "mem=pinned", "dir=h2d")
	wantResult(t, result(t, slow, "device=cuda:0:link=gen4x16"), results.Failed, "slower than the link asked for")
}

// Under confidential computing registration is refused: a case that cannot run is no failure.
func TestRegistrationIsRefused(t *testing.T) {
	if !benchtest.InChild(t, "FAKE_CUDA_FAIL=cuMemHostRegister:801", "FAKE_CUDA_H2D_GBPS=5") {
		return
	}
	rep := runFast(t, fourGPUs(t), true, "cuda:0", "dir=h2d")
	wantResult(t, result(t, rep, "device=cuda:0", "mem=registered"), results.Skipped, "confidential", "801")
	wantResult(t, result(t, rep, "device=cuda:0", "mem=pinned"), results.OK)
}

// Without /sys there is NVML to ask, and of a GPU that it does not know neither tells.
func TestLinkByNVML(t *testing.T) {
	if !benchtest.InChild(t, "FAKE_CUDA_DEVICES=2", "FAKE_NVML_PCI=0000:65:00.0", "FAKE_NVML_LINK=4,16") {
		return
	}
	t.Setenv("DLBENCH_LIBNVML", fakecuda.BuildNVML(t))
	rep := runFast(t, t.TempDir(), true, "all", "dir=h2d", "mem=pinned", "concurrent=none")
	for device, want := range map[string]struct{ link, warning string }{
		"cuda:0": {"gen4x16", "by NVML"}, "cuda:1": {"", "link unknown"},
	} {
		r := result(t, rep, "device="+device)
		wantResult(t, r, results.OK, want.warning)
		if p := results.As[results.PCIeProof](r.Proof); p.Link != want.link {
			t.Errorf("%s: link %q, want %q", device, p.Link, want.link)
		}
	}
}

// The fake GPU copies at 16 GB/s and works on memory at 1000 GB/s: a uint8 batch takes
// a quarter of the float32 batch's time, and 15/1000 s for 3/16 s more.
func TestNormalisedOnTheDevice(t *testing.T) {
	if !benchtest.InChild(t, "FAKE_CUDA_DEVICES=1") {
		return
	}
	rep := runSuite(t, "cuda:0", bench.Options{Batch: theory.ArticleBatch, Count: 6, Root: oneGPU(t, "16.0 GT/s PCIe"),
		Axes: map[string][]string{"mem": {"pinned"}, "dir": {"h2d"}, "source": {"warm"}, "dtype": theory.DTypes}})
	found := 0
	for _, r := range rep.Results {
		p := results.As[params](r.Params)
		if !p.Undisturbed() {
			continue
		}
		m := r.Metric("normalised")
		want := p.Device == "cuda:0" && p.DType == "uint8" && p.Bytes == theory.ArticleBatch.Bytes()/4
		if (m != nil) != want {
			t.Errorf("%s: normalised %+v", r.Name, m)
		}
		if m == nil {
			continue
		}
		found++
		wantResult(t, r, results.OK)
		const seconds = 4_860_000/16e9 + 5*4_860_000/1e12
		images := results.As[results.PCIeProof](r.Proof).NormalisedImages
		if m.Median < 0.99*seconds || m.Median > 1.01*seconds || images != 32 {
			t.Errorf("%s: %v s, want %v; %d images", r.Name, m.Median, seconds, images)
		}
	}
	if found != 1 {
		t.Errorf("%d cases normalised", found)
	}
	benchtest.WantFinding(t, benchtest.Finding(rep.Findings, "A17"), benchtest.Finding(rep.Findings, "A17").Verdict,
		"normalised on the device, a batch takes 0.27")
}

// Without room for the float32 batch that the device makes, the copy is measured all the same.
func TestNoRoomToNormalise(t *testing.T) {
	if !benchtest.InChild(t, "FAKE_CUDA_DEVICES=1", "FAKE_CUDA_MEMORY=15000000") {
		return
	}
	rep := runSuite(t, "cuda:0", bench.Options{Batch: theory.ArticleBatch, Count: 6, Quick: true,
		Root: oneGPU(t, "16.0 GT/s PCIe"), Axes: map[string][]string{"mem": {"pinned"}, "dir": {"h2d"},
			"source": {"warm"}, "dtype": {"uint8"}, "bytes": {fmt.Sprint(theory.ArticleBatch.Bytes() / 4)}}})
	r := result(t, rep, "device=cuda:0")
	wantResult(t, r, results.OK, "not normalised on the device: ")
	if r.Metric("time") == nil || r.Metric("normalised") != nil {
		t.Errorf("%+v", r.Metrics)
	}
}
