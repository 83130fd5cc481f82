// Package host reads what this machine is: processors and the share of them that
// this process gets, memory, virtualisation, GPUs and their links, disks. It reads
// files of /proc and /sys and nothing that needs root.
//
// Readers take the root of the file system, "/" on a real machine, so that tests
// can show them other machines. No reader fails: what is missing or garbled is
// unknown, as package results defines it. Other systems than Linux have only
// what the Go runtime knows.
package host

import (
	"cmp"
	"fmt"
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
		Container:      container(t),
		CPU:            readCPU(t, UsableCPUs()),
		Memory:         ReadMemory(root),
		GPUs:           readGPUs(t),
	}
	h.CPU.Threads = cmp.Or(h.CPU.Threads, runtime.NumCPU())
	h.Notes = notes(t, h)
	return h
}

// distribution is PRETTY_NAME of os-release. etc/os-release may be a link that leaves
// a tree of fixtures.
func distribution(t tree) string {
	const key = "PRETTY_NAME="
	return strings.Trim(cmp.Or(t.after("etc/os-release", key), t.after("usr/lib/os-release", key)), `"'`)
}

// notes says what could not be read, and what that means.
func notes(t tree, h results.Host) (list []string) {
	if h.OS != "linux" {
		return []string{h.OS + ": only the number of CPUs is known; " +
			"quota, memory, caches, clocks and GPUs cannot be read here"}
	}
	note := func(holds bool, text string) {
		if holds {
			list = append(list, text)
		}
	}
	note(h.CPU.Cores == 0, "physical cores unknown: SMT siblings cannot be told from cores")
	note(h.CPU.Governor == "unknown", "CPU governor unknown: the clock may change during a run unseen")
	note(t.text("proc/self/cgroup") == "", "control groups cannot be read: a quota of CPU or memory would go unseen")
	note(!t.exists(sysPCI), "no /"+sysPCI+": GPUs and their links cannot be seen")
	note(h.Virtualization == "wsl2", "WSL2: the links of GPUs cannot be seen, "+
		"and Windows limits the memory that can be page-locked")
	note(t.exists("dev/tdx_guest") || t.exists("dev/sev-guest"), "confidential virtual machine: copies to a GPU in "+
		"confidential mode pass an encrypted bounce buffer, from pinned memory too, and host memory cannot be registered")
	for _, g := range h.GPUs {
		note(g.NUMANode == nil && h.CPU.NUMANodes > 1,
			fmt.Sprintf("NUMA node of GPU %s unknown: copies cannot be placed next to it", g.PCI))
	}
	return list
}
