// Package host reads what this machine is: processors and the share of them that
// this process gets, memory, virtualisation, GPUs and their links. It reads
// files of /proc and /sys and nothing that needs root.
//
// Readers take the root of the file system, "/" on a real machine, so that tests
// can show them other machines. No reader fails: what is missing or garbled is
// unknown, as package results defines it. Other systems than Linux have only
// what the Go runtime knows.
package host

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"dlbench/results"
)

// Read describes this machine. GPUs have no CUDA index yet: Find joins them by
// PCI address.
func Read(root string) results.Host {
	t := tree(root)
	h := results.Host{
		OS:             runtime.GOOS,
		Arch:           runtime.GOARCH,
		Kernel:         t.text("proc/sys/kernel/osrelease"),
		Distribution:   distribution(t),
		Virtualization: virtualization(t),
		Container:      container(t, os.Getenv),
		CPU:            readCPU(t, UsableCPUs()),
		Memory:         readMemory(t),
		GPUs:           GPUs(root),
	}
	if h.CPU.Threads == 0 {
		h.CPU.Threads = runtime.NumCPU()
	}
	h.Notes = notes(t, h)
	return h
}

// distribution is PRETTY_NAME of os-release.
func distribution(t tree) string {
	text := t.text("etc/os-release")
	if text == "" {
		text = t.text("usr/lib/os-release") // etc/os-release may be a link that leaves a tree of fixtures
	}
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(line, "PRETTY_NAME="); ok {
			return strings.Trim(strings.TrimSpace(name), `"'`)
		}
	}
	return ""
}

// notes says what could not be read, and what that means.
func notes(t tree, h results.Host) []string {
	if h.OS != "linux" {
		return []string{h.OS + ": only the number of CPUs is known; quota, memory, caches, clocks and GPUs cannot be read here"}
	}
	var n []string
	if h.CPU.Cores == 0 {
		n = append(n, "physical cores unknown: SMT siblings cannot be told from cores")
	}
	if h.CPU.Governor == "unknown" {
		n = append(n, "CPU governor unknown: the clock may change during a run unseen")
	}
	if t.text("proc/self/cgroup") == "" {
		n = append(n, "control groups cannot be read: a quota of CPU or memory would go unseen")
	}
	if !t.exists(sysPCI) {
		n = append(n, "no /"+sysPCI+": GPUs and their links cannot be seen")
	}
	if h.Virtualization == "wsl2" {
		n = append(n, "WSL2: the links of GPUs cannot be seen, and Windows limits the memory that can be page-locked")
	}
	if dev := Confidential(string(t)); dev != "" {
		n = append(n, "confidential virtual machine ("+dev+"): copies to a GPU in confidential mode pass an encrypted bounce buffer, from pinned memory too, and host memory cannot be registered")
	}
	for _, g := range h.GPUs {
		if g.NUMANode == nil && h.CPU.NUMANodes > 1 {
			n = append(n, fmt.Sprintf("NUMA node of GPU %s unknown: copies cannot be placed next to it", g.PCI))
		}
	}
	return n
}

// countedCPUs numbers the CPUs that the Go runtime counted from 0.
func countedCPUs() []int {
	list := make([]int, runtime.NumCPU())
	for i := range list {
		list[i] = i
	}
	return list
}
