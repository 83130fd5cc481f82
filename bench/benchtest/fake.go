//go:build linux && (amd64 || arm64) && !nocuda

package benchtest

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"dlbench/cuda/fakecuda"
)

// InChild runs the calling test again in a process of its own, whose driver is a fake
// one with these settings: a driver is opened once in a process. It says whether this
// is that process; in the other the test is over.
func InChild(t *testing.T, settings ...string) bool {
	t.Helper()
	if os.Getenv("DLBENCH_TEST_CHILD") == t.Name() {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=100s")
	cmd.Env = slices.Concat(os.Environ(), []string{"DLBENCH_TEST_CHILD=" + t.Name(),
		"DLBENCH_LIBCUDA=" + fakecuda.Build(t),
		"DLBENCH_LIBNVML=/nonexistent/libnvidia-ml.so.1"}, settings)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("%v\n%s", err, out)
	}
	return false
}
