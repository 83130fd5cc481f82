package host

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestSharedPorts(t *testing.T) {
	// Two cards behind a switch in a Gen3 x8 slot, two behind one that hangs below
	// another in a Gen4 x16 slot, one alone.
	slot := []dev{port("0000:00:03.0", "8.0 GT/s PCIe x8, 16.0 GT/s PCIe x16"), port("0000:01:00.0", "8.0 GT/s PCIe x8, 8.0 GT/s PCIe x16")}
	below := func(path []dev, down string, cards ...dev) []dev {
		return append(append(slices.Clone(path), port(down, gen4x16+", "+gen4x16)), cards...)
	}
	outer := []dev{port("0000:40:01.0", gen4x16+", "+gen4x16), port("0000:41:00.0", gen4x16+", "+gen4x16)}
	inner := append(below(outer, "0000:42:00.0"), port("0000:43:00.0", gen4x8+", "+gen4x8))
	inner[2].link = gen4x8 + ", " + gen4x16
	card := func(addr string) dev { return gpu(addr, gen4x16+", "+gen4x16) }
	layout := []files{
		pci(below(slot, "0000:02:00.0", card("0000:03:00.0"))...),
		pci(below(slot, "0000:02:01.0", card("0000:04:00.0"))...),
		pci(below(inner, "0000:44:00.0", card("0000:45:00.0"))...),
		pci(below(inner, "0000:44:01.0", card("0000:46:00.0"))...),
		pci(below(outer, "0000:42:01.0", card("0000:47:00.0"))...),
		pci(port("0000:80:01.0", gen4x16+", "+gen4x16), card("0000:81:00.0")),
	}
	five := []string{"0000:03:00.0", "0000:04:00.0", "0000:45:00.0", "0000:46:00.0", "0000:47:00.0", "0000:81:00.0"}
	for _, c := range []struct {
		name    string
		machine files
		cards   []string
		want    []string
	}{
		{"all", onMetal, five, []string{
			"0000:00:03.0 x8: 0000:03:00.0 0000:04:00.0", "0000:42:00.0 x8: 0000:45:00.0 0000:46:00.0", "0000:40:01.0 x16: 0000:45:00.0 0000:46:00.0 0000:47:00.0"}},
		{"of those that are used", onMetal, []string{"0000:03:00.0", "0000:47:00.0", "0000:46:00.0"}, []string{"0000:40:01.0 x16: 0000:47:00.0 0000:46:00.0"}},
		{"none", onMetal, []string{"0000:03:00.0", "0000:81:00.0", "0000:99:00.0", ""}, nil},
		{"the same in a VM that mirrors the hardware", inVM, five[:2], []string{"0000:00:03.0 x8: 0000:03:00.0 0000:04:00.0"}},
	} {
		root := plant(t, append(layout, c.machine)...)
		var have []string
		for _, p := range SharedPorts(root, c.cards) {
			have = append(have, fmt.Sprintf("%s x%d: %s", p.Port, p.Link.Width, strings.Join(p.Devices, " ")))
		}
		if !slices.Equal(have, c.want) {
			t.Errorf("%s: %q, want %q", c.name, have, c.want)
		}
	}
}

// Emulated ports join what is apart in truth.
func TestSharedPortsInVM(t *testing.T) {
	up := []dev{emulatedPort("0000:00:02.0", gen1x16+", "+gen1x16), emulatedPort("0000:01:00.0", gen1x16+", "+gen1x16)}
	a := append(slices.Clone(up), emulatedPort("0000:02:00.0", gen1x16+", "+gen1x16), gpu("0000:03:00.0", gen4x16+", "+gen4x16))
	b := append(slices.Clone(up), emulatedPort("0000:02:01.0", gen1x16+", "+gen1x16), gpu("0000:04:00.0", gen4x16+", "+gen4x16))
	if p := SharedPorts(plant(t, inVM, pci(a...), pci(b...)), []string{"0000:03:00.0", "0000:04:00.0"}); len(p) != 0 {
		t.Errorf("%+v", p)
	}
}

func TestNodeDistances(t *testing.T) {
	node := "sys/devices/system/node/"
	for _, c := range []struct {
		online, distance string
		want             map[int]int
	}{
		{"0-1", "10 21", map[int]int{0: 10, 1: 21}},
		{"0,2", "21 10", map[int]int{0: 21, 2: 10}}, // one was taken out
		{"0-1", "10", nil},
		{"0", "near", nil},
		{"", "", nil},
	} {
		root := plant(t, files{node + "online": c.online, node + "node0/distance": c.distance})
		if have := NodeDistances(root, 0); !maps.Equal(have, c.want) {
			t.Errorf("%q %q: %v, want %v", c.online, c.distance, have, c.want)
		}
	}
}

func TestMachinesThatLimitCopiesAreNoted(t *testing.T) {
	for want, machine := range map[string]files{
		"WSL2: ":                        {"proc/version": "Linux version 5.15.153.1-microsoft-standard-WSL2"},
		"machine (/dev/tdx_guest)":      {"dev/tdx_guest": ""},
		"virtual machine (/dev/sev-gue": {"dev/sev-guest": ""},
	} {
		notes := strings.Join(Read(plant(t, machine)).Notes, "\n")
		if runtime.GOOS == "linux" && !strings.Contains(notes, want) {
			t.Errorf("%q is missing in %q", want, notes)
		}
	}
	if runtime.GOOS == "linux" && strings.Contains(strings.Join(Read(plant(t, onMetal)).Notes, "\n"), "confidential") {
		t.Error("every machine is confidential")
	}
}
