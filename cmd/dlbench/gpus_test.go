package main

import (
	"strings"
	"testing"

	"dlbench/cuda/fakecuda"
	"dlbench/results"
)

// fake is the settings of a fake driver with two devices.
func fake(t *testing.T, more ...string) []string {
	return append([]string{"DLBENCH_LIBCUDA=" + fakecuda.Build(t), "FAKE_CUDA_DEVICES=2"}, more...)
}

// fakeRun is a short run over the fake driver.
const fakeRun = "run --full --suite pcie -o out --quick --count 6 --min-time 1ns --batch 4 -a source=warm "

func TestRunOverTwoFakeDevices(t *testing.T) {
	got := runLine(t, "", fakeRun+"-a dir=h2d -a mem=pinned,pageable -a concurrent=none --batch 32", fake(t)...)
	if got.code != exitOK || strings.Contains(got.stdout, "assumed") {
		t.Fatalf("exit %d: %s; want nothing that is called assumed in\n%s", got.code, got.stderr, got.stdout)
	}
	rep := savedRun(t, got.dir)
	if rep.Software.Backend != "purego" || rep.Software.Driver != "12.4" || len(rep.Host.GPUs) != 2 ||
		rep.Host.GPUs[1].Name != "Fake GPU 1" {
		t.Errorf("software %+v, GPUs %+v", rep.Software, rep.Host.GPUs)
	}
	devices := map[string]bool{}
	for _, r := range rep.Results {
		if !strings.HasSuffix(r.Name, "/dir=h2d/mem=pinned/bytes=19440000") {
			continue
		}
		devices[r.Params.Text("device")] = true
		m := r.Metric("time") // by the modelled clock: 19.44 MB at 16 GB/s
		if r.Status != results.OK || len(r.Assumed) > 0 || m.Median < 1.215e-3*0.99 || m.Median > 1.215e-3*1.01 ||
			m.Lo == nil || r.Metric("pin") == nil || r.Metric("pin_break_even") == nil {
			t.Errorf("%s: %s %s, %+v", r.Name, r.Status, r.Reason, r.Metrics)
		}
		if r.Reference("line-rate", "time") != nil || len(r.Warnings) == 0 ||
			!strings.Contains(r.Warnings[0], "link unknown") {
			t.Errorf("%s: a link that is not known has references %v, warnings %q", r.Name, r.References, r.Warnings)
		}
	}
	if !devices["cuda:0"] || !devices["cuda:1"] {
		t.Errorf("results of %v; want those of both devices", devices)
	}
}

// What devices and drivers cannot do costs their own cases, and the rest is printed, saved and right;
// it is an error where a device was asked for by name.
func TestFaultsOfDevices(t *testing.T) {
	second := func(r results.Result) bool { // copies of the second device, or beside it
		return r.Params.Text("device") == "cuda:1" || r.Params.Text("concurrent") == results.ConcurrentDevices
	}
	for _, c := range []struct {
		name, setting, flags string
		code, cases          int
		says                 []string // in what is printed, or why cases have no result
		lost                 func(results.Result) bool
	}{
		{"a copy fails half way", "FAIL=cuMemcpyHtoDAsync:700:30", "--device cuda:0", exitFailed, 7, []string{"700"}, nil},
		{"a driver call never returns", "FAIL=cuStreamSynchronize:-1:15", "--timeout 1s --device cuda:0", exitFailed, 7,
			[]string{"gave up waiting", "not run on"}, nil},
		{"no memory", "FAIL=cuMemAlloc@1:2", "--device auto", exitOK, 14, []string{"out of memory"}, second},
		{"no memory, by name", "FAIL=cuMemAlloc@1:2", "--device cuda:0 --device cuda:1", exitFailed, 14,
			[]string{"out of memory"}, second},
		{"no memory for a context", "FAIL=cuDevicePrimaryCtxRetain:2:1", "--device auto", exitOK, 14,
			[]string{"out of memory"}, second},
		{"a GPU leaves", "GONE=1:300", "", exitFailed, 14,
			[]string{"cuda:1: device lost", "cuda:1, which should copy at the same time"}, second},
	} {
		got := runLine(t, "", fakeRun+c.flags, fake(t, "FAKE_CUDA_"+c.setting)...)
		rep, status, said := savedRun(t, got.dir), map[string]int{}, got.stdout
		for _, r := range rep.Results {
			status[r.Status]++
			said += r.Reason + "\n"
			if c.lost != nil && c.lost(r) == (r.Status == results.OK) {
				t.Errorf("%s: %s is %s: %s", c.name, r.Name, r.Status, r.Reason)
			}
		}
		if got.code != c.code || rep.Status != results.Complete || status[results.OK] < 2 || len(rep.Results) != c.cases ||
			len(rep.Results) == status[results.OK] {
			t.Errorf("%s: exit %d, %s, a report %s with %v", c.name, got.code, got.stderr, rep.Status, status)
		}
		for _, want := range c.says {
			if !strings.Contains(said, want) {
				t.Errorf("%s: no %q in\n%s", c.name, want, said)
			}
		}
	}
}

// What a device cannot do is said with what it can, and numbers say which card they are, as the
// driver was told to number them.
func TestMessagesAboutDevices(t *testing.T) {
	for _, c := range []struct {
		setting, line string
		code          int
		want          []string
	}{
		{"FAKE_CUDA_MEMORY=16777216", "run --suite pcie --device cuda:0", exitUsage,
			[]string{"--batch 32", "cuda:0 has 16.78 MB free", "19.44 MB"}},
		{"FAKE_CUDA_DEVICES=2", "run --device cuda:7", exitUsage, []string{"cuda:7", "cuda:0 to cuda:1"}},
		{"DLBENCH_LIBCUDA=/nonexistent/libcuda.so.1", "run --device cuda:0", exitFailed,
			[]string{"cuda:0", "no usable CUDA device"}},
		{"CUDA_VISIBLE_DEVICES=1,GPU-fa4e0000", "info", exitOK,
			[]string{"cuda:0: Fake GPU 1 at 0000:66:00.0, 8 GiB", "cuda:1: Fake GPU 0 at 0000:65:00.0, 8 GiB",
				`numbered by CUDA_VISIBLE_DEVICES="1,GPU-fa4e0000"`}},
		{"CUDA_VISIBLE_DEVICES=0,9,1", "info", exitOK,
			[]string{"cuda:0: Fake GPU 0 at 0000:65:00.0, 8 GiB", `numbered by CUDA_VISIBLE_DEVICES="0,9,1"`}},
		{"CUDA_VISIBLE_DEVICES=-1", "info", exitOK,
			[]string{`none to copy to: no usable CUDA device: the driver finds no GPU (CUDA_VISIBLE_DEVICES="-1"`}},
		{"FAKE_CUDA_DEVICES=0", strings.Join(quickly[:len(quickly)-2], " "), exitOK,
			[]string{"\nno GPU here: links are simulated (", "finds no GPU",
				"sim:gen3x4", "sim:gen3x8", "sim:gen3x16"}},
	} {
		got := runLine(t, "", c.line, fake(t, c.setting)...)
		late := got.code == exitFailed && strings.HasPrefix(c.line, "run --full") // a simulated link, on a busy machine
		if got.code != c.code && !late || got.code != exitOK && !late && (!oneLineOf(got.stderr) || got.stdout != "") {
			t.Errorf("%s: exit %d, %q; want %d", c.line, got.code, got.stderr, c.code)
		}
		for _, want := range c.want {
			if said := "\n" + got.stderr + got.stdout; !strings.Contains(said, want) {
				t.Errorf("%s, %s: no %q in\n%s", c.setting, c.line, want, said)
			}
		}
	}
}
