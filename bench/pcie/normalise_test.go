//go:build linux && (amd64 || arm64) && !nocuda

package pcie

import (
	"strings"
	"testing"

	"dlbench/bench"
	"dlbench/bench/benchtest"
	"dlbench/bench/theory"
	"dlbench/cuda"
	"dlbench/cuda/fakecuda"
	"dlbench/results"
)

// The fake GPU copies at 16 GB/s and works on memory at 1000 GB/s: a uint8 batch takes
// a quarter of the float32 batch's time, and 15/1000 s for 3/16 s more.
func TestNormalisedOnTheDevice(t *testing.T) {
	t.Setenv("DLBENCH_LIBCUDA", fakecuda.Build(t))
	t.Setenv("FAKE_CUDA_DEVICES", "1")
	rep, err := bench.Run(t.Context(), bench.Options{Suites: []bench.Suite{Suite}, Devices: []cuda.Spec{{Text: "cuda:0"}}, Batch: theory.ArticleBatch, Count: 6, MinTime: 1,
		Axes: map[string][]string{"mem": {"pinned"}, "dir": {"h2d"}, "source": {"warm"}, "dtype": theory.DTypes}, Root: pciRoot(t, "16.0 GT/s PCIe", "16")})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, r := range rep.Results {
		if c := r.Params.Text("concurrent"); c == results.ConcurrentOpposite || c == results.ConcurrentDevices {
			continue
		}
		m := r.Metric("normalised")
		if want := r.Params.Text("device") == "cuda:0" && r.Params.Text("dtype") == "uint8" && r.Params.Int("bytes") == theory.ArticleBatch.Bytes()/4; (m != nil) != want {
			t.Errorf("%s: normalised %+v", r.Name, m)
		}
		if m == nil {
			continue
		}
		found++
		want := 4_860_000/16e9 + 5*4_860_000/1e12 // s
		if r.Status != results.OK || m.Median < 0.99*want || m.Median > 1.01*want || results.As[results.PCIeProof](r.Proof).NormalisedImages != 32 {
			t.Errorf("%s %s: %v s, want %v; %v", r.Name, r.Status, m.Median, want, r.Proof)
		}
	}
	if found != 1 {
		t.Errorf("%d cases normalised", found)
	}
	text := ""
	for _, f := range rep.Findings {
		if f.Claim == "A17" {
			text += f.Text
		}
	}
	if !strings.Contains(text, "normalised on the device, a batch takes 0.27") {
		t.Errorf("the finding says %q", text)
	}
}

// Where the device has no room for the result, the copies are measured all the same.
func TestNoRoomToNormalise(t *testing.T) {
	b := theory.ArticleBatch
	b.Images, b.DType = 1, "uint8"
	c := &copier{point: point{batch: b}, buffers: &bufferPool{device: full{benchtest.Sim(t, "sim:gen3x16")}}}
	if err := c.measureNormalised(1, &bench.Recorder{}); err != nil {
		t.Fatal(err)
	}
	var r results.Result
	c.Report(&r)
	proof := results.As[results.PCIeProof](r.Proof)
	if w := strings.Join(r.Warnings, ";"); !strings.Contains(w, "not normalised on the device") || proof.NormalisedImages > 0 {
		t.Errorf("warnings %q, proof %v", w, proof)
	}
}

// full is a device without memory.
type full struct{ cuda.Device }

func (full) Alloc(cuda.Kind, int) (*cuda.Buffer, error) { return nil, cuda.OutOfMemory }
