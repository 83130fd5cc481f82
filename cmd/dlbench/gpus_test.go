package main

import (
	"slices"
	"strings"
	"testing"

	"dlbench/cuda/fakecuda"
	"dlbench/results"
)

// fake is the settings of a fake driver with two devices.
func fake(t *testing.T, more ...string) []string {
	return append([]string{"DLBENCH_LIBCUDA=" + fakecuda.Build(t), "FAKE_CUDA_DEVICES=2"}, more...)
}

// onFake runs a command line over a fake driver with a setting, in a process of its own.
func onFake(t *testing.T, setting, line string) (dir, stdout, stderr string, code int) {
	t.Helper()
	cmd, out, errs := child(t, fake(t, setting), strings.Fields(line)...)
	cmd.Run()
	return cmd.Dir, out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// fakeRun is a short run over the fake driver.
const fakeRun = "run --full --suite pcie -o out --quick --count 6 --min-time 1ns --batch 4 -a source=warm "

func TestRunOverTwoFakeDevices(t *testing.T) {
	dir, stdout, stderr, code := onFake(t, "FAKE_CUDA_DEVICES=2",
		fakeRun+"-a dir=h2d -a mem=pinned,pageable -a concurrent=none --batch 32")
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	rep := savedRun(t, dir)
	if rep.Software.Backend != "purego" || rep.Software.Driver != "12.4" || len(rep.Host.GPUs) != 2 ||
		rep.Host.GPUs[1].Name != "Fake GPU 1" {
		t.Errorf("software %+v, GPUs %+v", rep.Software, rep.Host.GPUs)
	}
	for _, device := range []string{"cuda:0", "cuda:1"} {
		name := "pcie/device=" + device + "/dir=h2d/mem=pinned/bytes=19440000"
		i := slices.IndexFunc(rep.Results, func(r results.Result) bool { return r.Name == name })
		if i < 0 {
			t.Errorf("no result %s", name)
			continue
		}
		r := rep.Results[i]
		m := r.Metric("time") // by the modelled clock: 19.44 MB at 16 GB/s
		if r.Status != results.OK || len(r.Assumed) > 0 || m.Median < 1.215e-3*0.99 || m.Median > 1.215e-3*1.01 ||
			m.Lo == nil {
			t.Errorf("%s: %s %s, %+v", name, r.Status, r.Reason, m)
		}
		if r.Reference("line-rate", "time") != nil || len(r.Warnings) == 0 ||
			!strings.Contains(r.Warnings[0], "link unknown") {
			t.Errorf("%s: a link that is not known has references %v, warnings %q", name, r.References, r.Warnings)
		}
		if r.Metric("pin") == nil || r.Metric("pin_break_even") == nil {
			t.Errorf("%s: cost of pinning is missing", name)
		}
	}
	if strings.Contains(stdout, "assumed") {
		t.Errorf("something is called assumed:\n%s", stdout)
	}
}

// What a device cannot do is said with what it can.
func TestUsageErrorsOverAFakeDevice(t *testing.T) {
	for _, c := range []struct {
		setting, line string
		want          []string
	}{
		{"FAKE_CUDA_MEMORY=16777216", "run --suite pcie --device cuda:0",
			[]string{"--batch 32", "cuda:0 has 16.78 MB free", "19.44 MB"}},
		{"FAKE_CUDA_DEVICES=2", "run --device cuda:7", []string{"cuda:7", "cuda:0 to cuda:1"}},
	} {
		_, stdout, stderr, code := onFake(t, c.setting, c.line)
		if code != exitUsage || !oneLineOf(stderr, c.want...) || stdout != "" {
			t.Errorf("%s: exit %d, %q; want 2 and %q", c.line, code, stderr, c.want)
		}
	}
}

func TestCopyThatFailsHalfWayKeepsTheRest(t *testing.T) {
	dir, stdout, stderr, code := onFake(t, "FAKE_CUDA_FAIL=cuMemcpyHtoDAsync:700:30", fakeRun+"--device cuda:0")
	if code != exitFailed {
		t.Errorf("exit %d, want 1: %s", code, stderr)
	}
	rep, status := savedRun(t, dir), map[string]int{}
	for _, r := range rep.Results {
		status[r.Status]++
	}
	if rep.Status != results.Complete || status[results.OK] < 2 || status[results.Failed] == 0 ||
		!strings.Contains(stdout, "700") {
		t.Errorf("report %s with %v\n%s", rep.Status, status, stdout)
	}
}

// A driver call that never returns ends its device's cases; the program prints, saves
// and exits.
func TestDriverThatStandsStill(t *testing.T) {
	dir, stdout, stderr, code := onFake(t, "FAKE_CUDA_FAIL=cuStreamSynchronize:-1:15",
		fakeRun+"--timeout 1s --device cuda:0")
	if code != exitFailed || !strings.Contains(stdout, "gave up waiting") || !strings.Contains(stdout, "not run on") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	if rep := savedRun(t, dir); rep.Status != results.Complete || len(rep.Results) != 7 {
		t.Errorf("report %s of %d cases; want a complete one of 7", rep.Status, len(rep.Results))
	}
}

// A device without memory, as others may have taken it, is left out with its reason, and the
// run goes on; it is an error only where it was asked for by name.
func TestDeviceWithoutMemory(t *testing.T) {
	for _, c := range []struct {
		fail, devices string
		code          int
	}{
		{"cuMemAlloc@1:2", "--device auto", exitOK},
		{"cuMemAlloc@1:2", "--device cuda:0 --device cuda:1", exitFailed},
		{"cuDevicePrimaryCtxRetain:2:1", "--device auto", exitOK},
	} {
		dir, _, stderr, code := onFake(t, "FAKE_CUDA_FAIL="+c.fail, fakeRun+c.devices)
		if code != c.code {
			t.Errorf("%s, %s: exit %d: %s", c.fail, c.devices, code, stderr)
		}
		for _, r := range savedRun(t, dir).Results {
			without := r.Params.Text("device") == "cuda:1" || r.Params.Text("concurrent") == results.ConcurrentDevices
			if without && (r.Status != results.Skipped || !strings.Contains(r.Reason, "out of memory")) ||
				!without && r.Status != results.OK {
				t.Errorf("%s, %s: %s is %s: %s", c.fail, c.devices, r.Name, r.Status, r.Reason)
			}
		}
	}
}

func TestDriverWithoutDevicesStandsIn(t *testing.T) {
	withoutDevice := strings.Join(quickly[:len(quickly)-2], " ")
	dir, _, stderr, code := onFake(t, "FAKE_CUDA_DEVICES=0", withoutDevice)
	first, _, _ := strings.Cut(stderr, "\n")
	if code != exitOK && code != exitFailed ||
		!strings.HasPrefix(first, "no GPU here, links are simulated; CPU and memory are measured (") ||
		!strings.Contains(first, "finds no GPU") {
		t.Errorf("exit %d, first line %q", code, first)
	}
	if rep := savedRun(t, dir); len(rep.Config.Devices) != 3 {
		t.Errorf("devices %v; want three assumed links", rep.Config.Devices)
	}
}

// A GPU that leaves while it copies costs its own cases, and those in which it should
// copy beside another.
func TestDeviceThatLeavesCostsItsOwnCases(t *testing.T) {
	dir, stdout, stderr, code := onFake(t, "FAKE_CUDA_GONE=1:300", fakeRun)
	if code != exitFailed || !strings.Contains(stdout, "cuda:1: device lost") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	rep, devices := savedRun(t, dir), map[string]int{}
	for _, r := range rep.Results {
		device := r.Params.Text("device")
		devices[device]++
		if r.Params.Text("concurrent") == "devices" && r.Status == results.Skipped &&
			strings.Contains(r.Reason, "cuda:1, which should copy at the same time") {
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
	for visible, wants := range map[string][]string{
		"1,GPU-fa4e0000": {"cuda:0: Fake GPU 1 at 0000:66:00.0, 8 GiB", "cuda:1: Fake GPU 0 at 0000:65:00.0, 8 GiB",
			`numbered by CUDA_VISIBLE_DEVICES="1,GPU-fa4e0000"`},
		"0,9,1": {"cuda:0: Fake GPU 0 at 0000:65:00.0, 8 GiB", `numbered by CUDA_VISIBLE_DEVICES="0,9,1"`},
		"-1":    {`none to copy to: no usable CUDA device: the driver finds no GPU (CUDA_VISIBLE_DEVICES="-1"`},
	} {
		_, stdout, stderr, code := onFake(t, "CUDA_VISIBLE_DEVICES="+visible, "info")
		if code != exitOK {
			t.Fatalf("exit %d: %s", code, stderr)
		}
		for _, want := range wants {
			if !strings.Contains(stdout, want) {
				t.Errorf("CUDA_VISIBLE_DEVICES=%s: %q is missing:\n%s", visible, want, stdout)
			}
		}
	}
}
