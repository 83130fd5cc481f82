package host

import (
	"strconv"
	"strings"
)

// cpuInfo is /proc/cpuinfo: one block of keys and values a logical CPU. arm64
// kernels may add a block about the board.
type cpuInfo []map[string]string

func readCPUInfo(t tree) cpuInfo { return parseCPUInfo(t.text("proc/cpuinfo")) }

func parseCPUInfo(s string) cpuInfo {
	info := cpuInfo{}
	for text := range strings.SplitSeq(s, "\n\n") {
		block := map[string]string{}
		for line := range strings.Lines(text) {
			if key, value, ok := strings.Cut(line, ":"); ok {
				block[strings.TrimSpace(key)] = strings.TrimSpace(value)
			}
		}
		if len(block) > 0 {
			info = append(info, block)
		}
	}
	return info
}

// first returns the value of a key in the first block that has it.
func (c cpuInfo) first(key string) string {
	for _, block := range c {
		if v := block[key]; v != "" {
			return v
		}
	}
	return ""
}

// processors lists the numbers of the CPUs.
func (c cpuInfo) processors() []int {
	var list []int
	for _, block := range c {
		if n, err := strconv.Atoi(block["processor"]); err == nil {
			list = append(list, n)
		}
	}
	return list
}

// topology counts sockets and physical cores, 0 where cpuinfo does not say (it
// does on x86 only).
func (c cpuInfo) topology() (sockets, cores int) {
	packages, pairs := map[string]bool{}, map[[2]string]bool{}
	for _, block := range c {
		if block["processor"] == "" {
			continue
		}
		socket, core := block["physical id"], block["core id"]
		if socket == "" || core == "" {
			return 0, 0
		}
		packages[socket], pairs[[2]string{socket, core}] = true, true
	}
	return len(packages), len(pairs)
}

// armCores names cores of servers and boards by "implementer part" of
// /proc/cpuinfo. Source: part numbers that lscpu of util-linux lists.
var armCores = map[string]string{
	"0x41 0xd03": "ARM Cortex-A53",
	"0x41 0xd07": "ARM Cortex-A57",
	"0x41 0xd08": "ARM Cortex-A72",
	"0x41 0xd0b": "ARM Cortex-A76",
	"0x41 0xd0c": "ARM Neoverse-N1",
	"0x41 0xd40": "ARM Neoverse-V1",
	"0x41 0xd42": "ARM Cortex-A78AE",
	"0x41 0xd49": "ARM Neoverse-N2",
	"0x41 0xd4f": "ARM Neoverse-V2",
	"0x41 0xd83": "ARM Neoverse-V3AE",
	"0x41 0xd84": "ARM Neoverse-V3",
	"0x41 0xd85": "ARM Cortex-X925",
	"0x41 0xd87": "ARM Cortex-A725",
	"0x41 0xd8e": "ARM Neoverse-N3",
	"0x48 0xd01": "HiSilicon TaiShan-v110",
	"0x4e 0x004": "NVIDIA Carmel",
	"0xc0 0xac3": "Ampere-1",
	"0xc0 0xac4": "Ampere-1a",
}

// model names the processor. arm64 has numbers instead of a name; where they
// are not in armCores the board's name says more than they do.
func model(t tree, info cpuInfo) string {
	if name := info.first("model name"); name != "" {
		return name
	}
	implementer, part := info.first("CPU implementer"), info.first("CPU part")
	if name := armCores[implementer+" "+part]; name != "" {
		return name
	}
	if board := t.text("proc/device-tree/model"); board != "" {
		return board
	}
	if implementer != "" && part != "" {
		return "implementer " + implementer + " part " + part
	}
	return "unknown"
}
