package main

import (
	"path/filepath"
	"strings"
	"testing"

	"dlbench/results"
)

// A GPU that leaves while it copies costs its own cases, and those in which it should
// copy beside another.
func TestDeviceThatLeavesCostsItsOwnCases(t *testing.T) {
	cmd, stdout, stderr := child(t, fake(t, "FAKE_CUDA_GONE=1:300"), "run", "--suite", "pcie", "-o", "out", "--quick", "--count", "6", "--min-time", "1ns")
	cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != exitFailed || !strings.Contains(stdout.String(), "cuda:1: device lost") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	rep, err := results.ReadFile(filepath.Join(cmd.Dir, "out/report.json"))
	if err != nil {
		t.Fatal(err)
	}
	devices := map[string]int{}
	for _, r := range rep.Results {
		device := r.Params.Text("device")
		devices[device]++
		if r.Params.Text("concurrent") == "devices" && r.Status == results.Skipped && strings.Contains(r.Reason, "cuda:1, which should copy at the same time") {
			continue
		}
		if want := device != "cuda:1"; (r.Status == results.OK) != want {
			t.Errorf("%s: %s %s", r.Name, r.Status, r.Reason)
		}
	}
	if rep.Status != results.Complete || devices["cuda:0"] == 0 || devices["cuda:1"] != devices["cuda:0"] {
		t.Errorf("report %s with %v", rep.Status, devices)
	}
}

// Numbers say which card they are, as the driver was told to number them.
func TestInfoOfVisibleDevices(t *testing.T) {
	for _, c := range []struct{ visible, want string }{
		{"1,GPU-fa4e0000", "cuda:0: Fake GPU 1 at 0000:66:00.0, 8 GiB|cuda:1: Fake GPU 0 at 0000:65:00.0, 8 GiB|numbered by CUDA_VISIBLE_DEVICES=\"1,GPU-fa4e0000\""},
		{"0,9,1", "cuda:0: Fake GPU 0 at 0000:65:00.0, 8 GiB|numbered by CUDA_VISIBLE_DEVICES=\"0,9,1\""},
		{"-1", "none to copy to: no usable CUDA device: the driver finds no GPU (CUDA_VISIBLE_DEVICES=\"-1\""},
	} {
		cmd, stdout, stderr := child(t, fake(t, "CUDA_VISIBLE_DEVICES="+c.visible), "info")
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v: %s", err, stderr)
		}
		for _, want := range strings.Split(c.want, "|") {
			if !strings.Contains(stdout.String(), want) {
				t.Errorf("CUDA_VISIBLE_DEVICES=%s: %q is missing:\n%s", c.visible, want, stdout)
			}
		}
	}
}
