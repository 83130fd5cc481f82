//go:build linux && (amd64 || arm64)

// Package gpucheck holds the tests of gpu-check.sh and what it carries along.
package gpucheck

import (
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dlbench/cuda/fakecuda"
)

// stub writes a shell script and returns its path.
func stub(t *testing.T, dir, name, script string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// stubNvbandwidth copies at 16.5 GB/s to the device and 10 GB/s back.
const stubNvbandwidth = `cat <<END
{ "nvbandwidth" : { "version" : "v0.8", "testcases" : [
	{ "bandwidth_matrix" : [ [ "16.1" ] ], "name" : "host_to_device_memcpy_ce", "status" : "Passed", "sum" : 16.1 },
	{ "bandwidth_matrix" : [ [ "10" ] ], "name" : "device_to_host_memcpy_ce", "status" : "Passed", "sum" : 10 } ] } }
END`

// check runs gpu-check.sh in a folder of its own and returns its table and exit code.
func check(t *testing.T, script string, env []string, args ...string) (table, log string, code int) {
	t.Helper()
	script, err := filepath.Abs(script)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", append([]string{script, "-o", filepath.Join(t.TempDir(), "out of 100%d [1]")},
		args...)...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), stderr.String(), cmd.ProcessState.ExitCode()
}

// wants looks for lines; ... in one stands for anything.
func wants(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		pattern := strings.ReplaceAll(regexp.QuoteMeta(line), `\.\.\.`, ".*")
		if !regexp.MustCompile(pattern).MatchString(text) {
			t.Errorf("no line with %q in:\n%s", line, text)
		}
	}
}

// TestEndToEnd builds the folder and runs the check against the fake driver, whose
// link carries 16 GB/s.
func TestEndToEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program and its tests")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	driver := fakecuda.Build(t)
	bin := filepath.Join(t.TempDir(), "a kit of 100%d")
	if out, err := exec.Command("bash", "../gpu-check.sh", "build", bin).CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	table, log, code := check(t, filepath.Join(bin, "gpu-check.sh"),
		[]string{"DLBENCH_LIBCUDA=" + driver, "FAKE_CUDA_DEVICES=1",
			"NVBANDWIDTH=" + stub(t, t.TempDir(), "nvbandwidth", stubNvbandwidth)},
		"-s", "1,2", "-r", "1", "--", "--quick", "--count", "3", "--batch", "4", "--shape", "32x32x3",
		"-a", "source=warm",
		"-a", "workers=1", "-a", "mem=pinned", "-a", "prefetch=0,2", "-a", "strategy=online", "-a", "step=0s")
	if code != 0 {
		t.Errorf("exit code %d\n%s%s", code, log, table)
	}
	wants(t, table, "GPU: ...Fake GPU 0", "| conformance | ok |", "| dlbench-1 | ok |", "| run | ok |",
		"| benchmarks | ok |", "h2d pinned 1048576 nvbandwidth...14.99Gi", "h2d pinned 1048576 dlbench...14.90Gi",
		"| h2d pinned 1048576 | 0.994 [...PASS |", "| d2h pinned 2097152 | 1.600 [...PASS |")
}

// stubKit is a folder of stand-ins: dlbench reports one copy, and the rest is given; the
// programs that compare are in tools.
func stubKit(t *testing.T, tools, conformance, run string) string {
	t.Helper()
	bin := t.TempDir()
	for _, tool := range []string{"ratios", "benchstat"} {
		if err := os.Symlink(filepath.Join(tools, tool), filepath.Join(bin, tool)); err != nil {
			t.Fatal(err)
		}
	}
	stub(t, bin, "cuda.test", conformance)
	stub(t, bin, "torchcopy.py", "") // PYTHON is a stand-in, too
	stub(t, bin, "dlbench", `case "$*" in
--version) echo dlbench version 1; exit ;;
info) exit ;;
*pipeline*) `+run+` ;;
esac
echo BenchmarkSuite/pcie/device=host/dir=h2h/mem=pinned/bytes=1048576 1 99e9 B/s
echo BenchmarkSuite/pcie/device=cuda:0/dir=h2d/mem=pinned/numa=local/bytes=1048576-2 1 12e9 B/s`)
	return bin
}

const stubTorch = `if [ "$2" = --probe ]; then echo 2.9.0; exit; fi
for rate in 11e9 12e9 15e9; do echo "BenchmarkTorch/dir=h2d/mem=pinned/bytes=1048576 1 $rate B/s"; done`

// stubReport is an nvbandwidth that reports two GPUs, h2d as given.
func stubReport(h2d string) string {
	return `echo note before it; cat <<END
{"nvbandwidth": {"testcases": [{"name": "host_to_device_memcpy_ce", ` + h2d + `}, {"name": "device_to_host_memcpy_ce", "status": "Passed",
	"bandwidth_matrix": [["10", "20"]]}]}}
END`
}

// A part that fails is named and the others go on.
func TestParts(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	tools := t.TempDir()
	for tool, pkg := range map[string]string{"ratios": "dlbench/scripts/ratios",
		"benchstat": "golang.org/x/perf/cmd/benchstat"} {
		if out, err := exec.Command("go", "build", "-o", filepath.Join(tools, tool), pkg).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", tool, err, out)
		}
	}
	gpu := func(report string) []string {
		return []string{"NVBANDWIDTH=" + stub(t, t.TempDir(), "nvbandwidth", report)}
	}
	none := stub(t, t.TempDir(), "python", "exit 1")
	torch := stub(t, t.TempDir(), "python", stubTorch)
	nowhere := "NVBANDWIDTH=" + filepath.Join(t.TempDir(), "nowhere")
	matrix := func(rates string) []string {
		return gpu(stubReport(`"status": "Passed", "bandwidth_matrix": [[` + rates + `]]`))
	}
	peer := []string{nowhere, "PYTHON=" + torch}
	for _, c := range []struct {
		name, conformance, run string // scripts that stand in, "exit 0" where empty
		env                    []string
		code                   int
		want                   []string
	}{
		{name: "torch", env: peer,
			want: []string{"| torch-2 | ok |", "h2d pinned 1048576 dlbench...11.18Gi",
				"| h2d pinned 1048576 | 1.000 [1.000, 1.000] | 2 | 0.0 % | PASS |"}},
		{name: "no peer", env: []string{nowhere, "PYTHON=" + none},
			want: []string{"| run | ok |", "h2d pinned 1048576 dlbench...11.18Gi", "| - | 0 | - | no peer |",
				"Nothing is here to compare with"}},
		{name: "conformance fails", env: peer, code: 1,
			conformance: "echo '    --- FAIL: TestConformance/step'; exit 1",
			want:        []string{"| conformance | failed (exit code 1):...TestConformance/step", "| run | ok |", "| PASS |"}},
		{name: "run fails", env: peer, run: "echo 'Error: cuda:0: device lost' >&2; exit 1", code: 1,
			want: []string{"| conformance | ok |", "| run | failed (exit code 1):...device lost", "| PASS |"}},
		{name: "nvbandwidth fails", env: gpu("echo 'Error: invalid device' >&2; exit 1"), code: 1,
			want: []string{"| nvbandwidth-1-1 | failed (exit code 1):...invalid device", "| run | ok |", "no peer"}},
		{name: "nvbandwidth without JSON", env: gpu("echo not JSON"), code: 1,
			want: []string{"| nvbandwidth-2-1-figures | failed: none for GPU 0", "| run | ok |", "no peer"}},
		{name: "two GPUs", env: matrix(`"12", "6"`), want: []string{"h2d pinned...| 1.000 ["}},
		{name: "the second GPU", env: append(matrix(`"12", "6"`), "GPU=1"),
			want: []string{"h2d pinned...| 2.000 ["}},
		{name: "no such GPU", env: append(matrix(`"12"`), "GPU=1"), code: 1,
			want: []string{"figures | failed: none for GPU 1", "no peer"}},
		{name: "no figure", env: matrix(`"N/A", "6"`), code: 1, want: []string{"failed: none for GPU 0"}},
		{name: "waived", env: gpu(stubReport(`"status": "Waived"`)), code: 1,
			want: []string{"failed: none for GPU 0", "no peer"}},
		{name: "nvbandwidth says why not", code: 1,
			env:  gpu(`echo '{"nvbandwidth": {"error": "CUDA driver too old"}}'`),
			want: []string{"failed: none for GPU 0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			device := "0"
			if slices.Contains(c.env, "GPU=1") {
				device = "1"
			}
			kit := stubKit(t, tools, cmp.Or(c.conformance, "exit 0"), cmp.Or(c.run, "exit 0"))
			table, log, code := check(t, "../gpu-check.sh", c.env, "-d", device, "-s", "1", "-r", "2", kit)
			if code != c.code {
				t.Errorf("exit code %d, want %d\n%s", code, c.code, log)
			}
			wants(t, table, c.want...)
			if strings.Contains(table, "h2h") {
				t.Errorf("a copy in main memory is in the table:\n%s", table)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"-d", "x"}, {"-r", "0"}, {"-s", "1,"}, {"-s"}, {"--no"}, {"/nowhere"}, {"build"}} {
		cmd := exec.Command("bash", append([]string{"../gpu-check.sh"}, args...)...)
		out, err := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); err == nil || (code != 2 && args[0] != "/nowhere") || len(out) == 0 {
			t.Errorf("%q: exit code %d, %q", args, code, out)
		}
	}
}
