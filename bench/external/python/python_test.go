// Package python_test runs the tests of dlbench.py.
package python_test

import (
	"os"
	"os/exec"
	"testing"
)

func TestPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3: dlbench.py is not tested")
	}
	for _, file := range []string{"dlbench.py", "dlbench_test.py"} { // so that go test runs anew when they change
		if _, err := os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(python, "dlbench_test.py")
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
