package main

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestTorchCopy runs torchcopy.py on a stand-in for PyTorch that copies 10^10 B/s.
func TestTorchCopy(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	cmd := exec.Command(python, "torchcopy.py", "0", "1048576", "4194304")
	cmd.Env = append(os.Environ(), "PYTHONPATH=testdata/torch", "PYTHONDONTWRITEBYTECODE=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "torch-1.json")
	if err := os.WriteFile(path, out, 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := readTorch(path)
	if err != nil || len(got) != 8 {
		t.Fatalf("%v, %v", got, err)
	}
	for c, rate := range got {
		if want := 10e9; c.mem == "pinned" && math.Abs(rate/want-1) > 1e-6 {
			t.Errorf("%+v: %v B/s, want %v", c, rate, want)
		}
		if rate <= 0 {
			t.Errorf("%+v: %v B/s", c, rate)
		}
	}
}
