package gpucheck

import (
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
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
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 8*7 {
		t.Fatalf("%d lines: %s", len(lines), out)
	}
	for _, line := range lines {
		f := strings.Fields(line)
		rate, err := strconv.ParseFloat(f[2], 64)
		if err != nil || rate <= 0 || f[3] != "B/s" {
			t.Errorf("%s: %v", line, err)
		}
		if strings.Contains(f[0], "/mem=pinned/") && math.Abs(rate/10e9-1) > 1e-6 {
			t.Errorf("%s: want 10^10 B/s", line)
		}
	}
}
