//go:build linux && (amd64 || arm64) && !nocuda

package pcie

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dlbench/bench"
	"dlbench/bench/benchtest"
	"dlbench/bench/host"
	"dlbench/bench/theory"
	"dlbench/cuda"
	"dlbench/cuda/fakecuda"
	"dlbench/results"
)

// fourGPUs is a machine with four GPUs at the fake driver's addresses: two behind a
// switch in an x8 slot, one in an x16 slot, and one in an x4 slot. All are on the first
// of two NUMA nodes.
func fourGPUs(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	gen4, gen3 := "16.0 GT/s PCIe", "8.0 GT/s PCIe"
	shared := []pciNode{{"0000:00:03.0", gen4, "8"}, {"0000:60:00.0", gen4, "8"}}
	plantPCI(t, root, append(slices.Clone(shared), pciNode{"0000:61:00.0", gen4, "16"}, pciNode{"0000:65:00.0", gen4, "16"})...)
	plantPCI(t, root, append(slices.Clone(shared), pciNode{"0000:61:01.0", gen4, "16"}, pciNode{"0000:66:00.0", gen4, "16"})...)
	plantPCI(t, root, pciNode{"0000:00:04.0", gen4, "16"}, pciNode{"0000:67:00.0", gen4, "16"})
	plantPCI(t, root, pciNode{"0000:00:05.0", gen3, "4"}, pciNode{"0000:68:00.0", gen3, "4"})
	node := filepath.Join(root, "sys/devices/system/node")
	for name, text := range map[string]string{"online": "0-1", "has_cpu": "0-1", "node0/cpulist": "0", "node1/cpulist": "1", "node0/distance": "10 21", "node1/distance": "21 10"} {
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

// all runs the pcie suite on every CUDA device.
func runAll(t *testing.T, root string, quick bool, device string, axes map[string][]string) *results.Report {
	t.Helper()
	s, err := cuda.ParseSpec(device)
	if err != nil {
		t.Fatal(err)
	}
	b := theory.ArticleBatch
	b.Images = 4 // 2.4 MB: 2 ms at 1.2 GB/s, which the fake driver's own copies keep up with
	axes["bytes"] = []string{fmt.Sprint(b.Bytes())}
	axes["dtype"] = []string{"float32"}
	axes["source"] = []string{results.SourceWarm}
	rep, err := bench.Run(t.Context(), bench.Options{Suites: []bench.Suite{Suite}, Devices: []cuda.Spec{s}, Batch: b, Count: 4, MinTime: 1, Quick: quick, Axes: axes, Root: root, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

func findingOf(rep *results.Report, claim string) results.Finding {
	for _, f := range rep.Findings {
		if f.Claim == claim {
			return f
		}
	}
	return results.Finding{}
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
// alone and beside all others, and the findings say who is slowed down and why.
func TestFourDevices(t *testing.T) {
	if !benchtest.InChild(t, "FAKE_CUDA_DEVICES=4", "FAKE_CUDA_NAME=Fake GPU", "FAKE_CUDA_UPLINK=0,0", "FAKE_CUDA_H2D_GBPS=1.2,1.2,1.2,0.3") {
		return
	}
	rep := runAll(t, fourGPUs(t), true, "all", map[string][]string{"mem": {"pinned"}, "dir": {results.H2D}})
	if got := strings.Join(rep.Config.Devices, " "); got != "cuda:0 cuda:1 cuda:2 cuda:3" {
		t.Errorf("devices %s", got)
	}
	kept := map[int]float64{}
	gaps := false
	for i := range 4 {
		device := fmt.Sprintf("device=cuda:%d", i)
		solo, under := result(t, rep, device, "mem=pinned/bytes=2430000"), result(t, rep, device, "concurrent="+results.ConcurrentDevices)
		if solo.Status != results.OK || under.Status != results.OK {
			t.Fatalf("%s: %s %s, %s %s", device, solo.Status, solo.Reason, under.Status, under.Reason)
		}
		proof := results.As[results.PCIeProof](under.Proof)
		if beside := proof.Background; len(beside) != 3 || slices.Contains(beside, fmt.Sprintf("cuda:%d h2d", i)) {
			t.Errorf("%s: beside %v", device, proof.Background)
		}
		if n := *proof.BackgroundCopies; n < 3 {
			t.Errorf("%s: %d copies ran beside", device, n)
		}
		gaps = gaps || *proof.SamplesWithGap != 0
		kept[i] = under.Metric("bandwidth").Median / solo.Metric("bandwidth").Median
	}
	if !gaps { // this machine kept all queues filled: then the times are the model's
		for i, want := range []float64{0.5, 0.5, 1, 1} {
			if kept[i] < want-0.05 || kept[i] > want+0.05 {
				t.Errorf("cuda:%d keeps %.3f of its rate, want %g", i, kept[i], want)
			}
		}
	}
	a6 := findingOf(rep, "A6")
	for _, want := range []string{"all 4 GPUs", "cuda:0 and cuda:1 share the x8 port 0000:00:03.0", "enough for ResNet-152"} {
		if !strings.Contains(a6.Text, want) {
			t.Errorf("A6 %q lacks %q", a6.Text, want)
		}
	}
	if a6.Verdict != results.Fails && !gaps || a6.Value == nil || *a6.Value > 0.9 { // x4 does, for such a small demand
		t.Errorf("A6: %+v", a6)
	}
	slow := findingOf(rep, "siblings")
	if slow.Verdict != results.Fails || !strings.Contains(slow.Text, "cuda:3 copies at 300") || !strings.Contains(slow.Text, "Gen3 x4") {
		t.Errorf("siblings: %+v", slow)
	}
	if w := result(t, rep, "device=cuda:3", "mem=pinned/bytes=2430000").Warnings; !strings.Contains(strings.Join(w, ";"), "of the same model") {
		t.Errorf("cuda:3 is not flagged: %q", w)
	}
}

// A device that breaks while it copies beside another ends its own cases, and only
// those in which it should copy.
func TestDeviceThatFailsHalfWay(t *testing.T) {
	if !benchtest.InChild(t, "FAKE_CUDA_DEVICES=3", "FAKE_CUDA_H2D_GBPS=1.2", "FAKE_CUDA_D2H_GBPS=1.2", "FAKE_CUDA_FAIL=cuMemcpyHtoDAsync@1:719:30") {
		return
	}
	rep := runAll(t, fourGPUs(t), true, "all", map[string][]string{"mem": {"pinned"}})
	for _, device := range []string{"device=cuda:0", "device=cuda:2"} {
		for _, r := range []results.Result{result(t, rep, device, "dir=h2d", "mem=pinned/bytes=2430000"), result(t, rep, device, "dir=d2h", "mem=pinned/bytes=2430000")} {
			if r.Status != results.OK {
				t.Errorf("%s: %s %s", r.Name, r.Status, r.Reason)
			}
		}
		if r := result(t, rep, device, "concurrent="+results.ConcurrentDevices); r.Status != results.Skipped || !strings.Contains(r.Reason, "cuda:1, which should copy at the same time") {
			t.Errorf("%s: %s %s", r.Name, r.Status, r.Reason)
		}
	}
	for _, r := range rep.Results {
		if r.Params.Text("device") == "cuda:1" && r.Status != results.Failed {
			t.Errorf("%s: %s %s", r.Name, r.Status, r.Reason)
		}
	}
	if f := findingOf(rep, "A6"); f.Verdict != results.NotMeasured || !strings.Contains(f.Text, "not measured on cuda:0, cuda:1, cuda:2") {
		t.Errorf("A6: %+v", f)
	}
}

// Each direction is measured while the other runs; memory far from the GPU is a row of
// its own, and where its pages are is what the kernel says, not what was wanted.
func TestOppositeAndRemote(t *testing.T) {
	if !benchtest.InChild(t, "FAKE_CUDA_DEVICES=1", "FAKE_CUDA_H2D_GBPS=1.2", "FAKE_CUDA_D2H_GBPS=0.6") {
		return
	}
	rep := runAll(t, fourGPUs(t), false, "cuda:0", map[string][]string{"mem": {"pinned"}})
	for dir, gbps := range map[string]float64{results.H2D: 1.2, results.D2H: 0.6} {
		r := result(t, rep, "device=cuda:0", "dir="+dir, "concurrent="+results.ConcurrentOpposite)
		if m := r.Metric("bandwidth"); r.Status != results.OK || m.Median < 0.98e9*gbps || m.Median > 1.02e9*gbps { // the fake's directions do not disturb each other
			t.Errorf("%s: %s %s %+v", r.Name, r.Status, r.Reason, m)
		}
		if beside := results.As[results.PCIeProof](r.Proof).Background; len(beside) != 1 || beside[0] == "cuda:0 "+dir {
			t.Errorf("%s: beside %v", r.Name, results.As[results.PCIeProof](r.Proof).Background)
		}
	}
	if f := findingOf(rep, "A6"); f.Verdict != results.NotMeasured {
		t.Errorf("A6 of one GPU: %+v", f)
	}
	if !slices.Contains(host.UsableCPUs(), 0) || !slices.Contains(host.UsableCPUs(), 1) {
		t.Skip("this process may not use CPUs 0 and 1")
	}
	r := result(t, rep, "device=cuda:0", "dir=h2d", "numa="+results.NUMARemote)
	proof := results.As[results.PCIeProof](r.Proof)
	if r.Status != results.OK || proof.NUMANode.String() != "0" || proof.CopiedFromNode.String() != "1" || fmt.Sprint(proof.CPUs) != "[1]" {
		t.Errorf("%s: %s %s %v", r.Name, r.Status, r.Reason, r.Proof)
	}
	if f := findingOf(rep, "numa"); f.Verdict != results.Fails || !strings.Contains(f.Text, "from NUMA node 1, far from the GPU") || !strings.Contains(f.Text, "its own node 0") { // the fake has one memory
		t.Errorf("numa: %+v", f)
	}
	if p := proof.PagesByNode; p == nil || p.Value == nil && !strings.HasPrefix(p.Why, "unknown: ") {
		t.Errorf("pages %v", p)
	}
	near := results.As[results.PCIeProof](result(t, rep, "device=cuda:0", "dir=h2d", "mem=pinned/bytes=2430000").Proof)
	if fmt.Sprint(near.CPUs) != "[0]" || near.LinkBefore != "gen4x8" || near.LinkAfter != "gen4x8" {
		t.Errorf("%v", near)
	}
}

// Copies over a loaded link last as long as over it, and are called assumed.
func TestLoadedLink(t *testing.T) {
	if !benchtest.InChild(t, "FAKE_CUDA_DEVICES=1", "FAKE_CUDA_H2D_GBPS=12", "FAKE_CUDA_PAGEABLE_GBPS=6") {
		return
	}
	rep := runAll(t, fourGPUs(t), true, "cuda:0:link=gen3x4", map[string][]string{"mem": {"pinned"}})
	r := result(t, rep, "device=cuda:0:link=gen3x4", "dir=h2d", "mem=pinned")
	const want = 2_430_000 / (0.80 * 3.938e9)
	if m := r.Metric("time"); r.Status != results.OK || m.Median < 0.99*want || m.Median > 1.01*want || m.Lo != nil || !slices.Equal(r.Assumed, []string{"link"}) {
		t.Errorf("%s %s, assumed %v: %+v, want %g s", r.Status, r.Reason, r.Assumed, m, want)
	}
	proof := results.As[results.PCIeProof](r.Proof)
	if load := proof.TimeLoaded; load == nil || load.Copies != 3 || proof.Link != "gen3x4" || proof.LinkReal != "gen4x8" || !strings.Contains(proof.LinkSource, "link time loaded") ||
		!strings.Contains(proof.MemoryReads, "3.8") {
		t.Errorf("proof %v", r.Proof)
	}
	if f := findingOf(rep, "A1"); f.Verdict != results.NotMeasured || !strings.Contains(f.Text, "link time loaded on Fake GPU 0") || !slices.Equal(f.Assumed, []string{"link"}) {
		t.Errorf("A1: %+v", f)
	}
	if f := findingOf(rep, "siblings"); f.Claim != "" {
		t.Errorf("%+v", f)
	}
	slow := runAll(t, fourGPUs(t), true, "cuda:0:link=gen4x16", map[string][]string{"mem": {"pinned"}, "dir": {results.H2D}})
	if r := result(t, slow, "device=cuda:0:link=gen4x16"); r.Status != results.Failed || !strings.Contains(r.Reason, "slower than the link asked for") {
		t.Errorf("%s %s", r.Status, r.Reason)
	}
}

// Under confidential computing registration is refused: a case that cannot run is no
// failure, and pinned copies are called what they are.
func TestRegistrationIsRefused(t *testing.T) {
	if !benchtest.InChild(t, "FAKE_CUDA_FAIL=cuMemHostRegister:801", "FAKE_CUDA_H2D_GBPS=5") {
		return
	}
	rep := runAll(t, fourGPUs(t), true, "cuda:0", map[string][]string{"dir": {results.H2D}})
	if r := result(t, rep, "device=cuda:0", "mem=registered"); r.Status != results.Skipped || !strings.Contains(r.Reason, "confidential") || !strings.Contains(r.Reason, "801") {
		t.Errorf("%s %s", r.Status, r.Reason)
	}
	if r := result(t, rep, "device=cuda:0", "mem=pinned"); r.Status != results.OK || !strings.Contains(strings.Join(r.Warnings, ";"), "encrypted bounce buffer") {
		t.Errorf("%s %s, warnings %q", r.Status, r.Reason, r.Warnings)
	}
}

// A container without /sys has NVML to ask, and one machine has neither.
func TestLinkByNVML(t *testing.T) {
	if !benchtest.InChild(t, "FAKE_CUDA_DEVICES=2", "FAKE_NVML_PCI=0000:65:00.0", "FAKE_NVML_LINK=4,16,4,16", "FAKE_NVML_CC=1") {
		return
	}
	t.Setenv("DLBENCH_LIBNVML", fakecuda.BuildNVML(t))
	rep := runAll(t, t.TempDir(), true, "all", map[string][]string{"dir": {results.H2D}, "mem": {"pinned"}, "concurrent": {results.ConcurrentNone}})
	r := result(t, rep, "device=cuda:0")
	if p := results.As[results.PCIeProof](r.Proof); r.Status != results.OK || p.Link != "gen4x16" || p.LinkNVML != "gen4x16" || p.LinkBefore != "gen4x16" || !p.Confidential {
		t.Errorf("%s %s: %v", r.Status, r.Reason, r.Proof)
	}
	if w := strings.Join(r.Warnings, ";"); !strings.Contains(w, "by NVML") || !strings.Contains(w, "confidential computing") {
		t.Errorf("warnings %q", w)
	}
	if r := result(t, rep, "device=cuda:1"); r.Status != results.OK || results.As[results.PCIeProof](r.Proof).Link != "" || !strings.Contains(strings.Join(r.Warnings, ";"), "link unknown") {
		t.Errorf("%s %s: %v, %q", r.Status, r.Reason, r.Proof, r.Warnings)
	}
}
