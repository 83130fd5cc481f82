package host

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dlbench/results"
)

// switched is the path to a card below a switch, whose upstream and downstream ports
// have these links.
func switched(up, down string, d dev) []dev {
	return []dev{port("0000:60:01.0", up), port("0000:61:00.0", up), port("0000:62:00.0", down), d}
}

// like is a device of another vendor and model, or class.
func like(d dev, class, id string) dev {
	return dev{d.addr, class, id, d.link, d.more}
}

func removable(d dev) dev {
	d.more = files{"removable": "removable\n"}
	return d
}

func TestReadLink(t *testing.T) {
	x5, x9 := "8 GT/s x5, 8 GT/s x5", "5 GT/s x9, 5 GT/s x9" // 4.92 and 4.5 GB/s
	grace := dev{"0009:01:00.0", "030200", "10de:2342", gen5x16, nil}
	all := map[string]results.Link{}
	for _, c := range []struct {
		name    string
		machine files
		path    []dev
	}{
		{"slot", onMetal, []dev{port("0000:64:01.0", gen4x16), gpu(card, gen4x16)}},
		{"older slot", onMetal, []dev{port("0000:64:01.0", gen3x16),
			gpu(card, "8.0 GT/s PCIe x16, 32.0 GT/s PCIe x16")}},
		{"idle", onMetal, []dev{port("0000:64:01.0", idle), gpu(card, idle)}},
		{"ends differ, older kernel", onMetal, []dev{
			port("0000:64:01.0", "16 GT/s x8, 32 GT/s x16"), gpu(card, "8 GT/s x16, 16 GT/s x16")}},
		// The ports of the switch are x16 on the inside; a walk that took every
		// device for a hop would see three.
		{"switch in an x4 slot", onMetal, switched(x4of16, gen4x16, gpu(card, gen4x16))},
		// An idle card below a narrow hop: the narrowest now and at most differ.
		{"two narrowest hops", onMetal, switched(gen4x4, idle, gpu(card, idle))},
		{"coding decides", onMetal, switched(x5, x9, gpu(card, x9))},
		{"port silent", onMetal, []dev{port("0000:64:01.0", none), gpu(card, x8of16)}},
		{"card silent", onMetal, []dev{port("0000:64:01.0", x8of16), gpu(card, none)}},
		{"all silent", onMetal, []dev{port("0000:64:01.0", none), gpu(card, "Unknown speed x63, Unknown speed x0")}},
		{"speed without width", onMetal, []dev{port("0000:64:01.0", none), gpu(card, "8.0 GT/s PCIe x0, Unknown x0")}},
		{"one hop silent", onMetal, switched("Unknown x4, Unknown x4", gen4x16, gpu(card, gen4x16))},
		{"garbled", onMetal, []dev{
			port("0000:64:01.0", "fast xmany, 9 GT/s x99"), gpu(card, "16.0 MB/s x-4, \x00 x\xff")}},
		{"integrated", onMetal, []dev{gpu(card, "")}},
		{"no such device", onMetal, []dev{gpu("0000:01:00.0", gen3x16)}},

		{"VM: card on the root bus", inVM, []dev{gpu(card, "16.0 GT/s PCIe x16, 32.0 GT/s PCIe x16")}},
		{"VM: emulated root port", inVM, []dev{emulatedPort("0000:00:02.0", gen1x1), gpu(card, gen4x16)}},
		{"VM: emulated switch", inVM, []dev{emulatedPort("0000:00:02.0", gen1x1),
			like(port("0000:01:00.0", gen1x1), "060400", "104c:8232"),
			like(port("0000:02:00.0", gen1x1), "060400", "104c:8233"), gpu(card, gen4x16)}},
		{"VM: conventional bridge", inVM, []dev{like(port("0000:00:05.0", ""), "060400", "8086:2448"),
			gpu(card, gen4x16)}},
		{"VM: nothing credible", inVM, []dev{
			emulatedPort("0000:00:02.0", "16.0 GT/s PCIe x32, 16.0 GT/s PCIe x32"), gpu(card, none)}},
		{"VM: silent card", inVM, []dev{gpu(card, none)}},
		{"VM: bridges that mirror the hardware", inVM, []dev{like(port("0000:44:00.0", gen3x16), "060400", "1d0f:0200"),
			like(port("0000:45:00.0", gen3x16), "060400", "1d0f:0200"),
			like(port("0000:46:00.0", gen5x16), "060400", "1d0f:0200"), gpu(card, gen5x16)}},
		{"the same models on metal are real", onMetal, []dev{
			like(port("0000:00:03.0", gen3x4), "060400", "8086:3420"), gpu(card, gen3x16)}},

		{"Grace Hopper", onMetal, []dev{port("0009:00:00.0", gen5x16), grace}},
		{"the same number of another vendor", onMetal, []dev{
			port("0009:00:00.0", gen3x4), {"0009:01:00.0", "030000", "1002:2342", gen3x4, nil}}},
		{"tunnel", onMetal, []dev{port("0000:00:03.1", gen1x1),
			removable(port("0000:61:00.0", "2.5 GT/s PCIe x4, 8.0 GT/s PCIe x4")),
			removable(port("0000:62:00.0", gen3x4)),
			removable(gpu(card, "8.0 GT/s PCIe x4, 16.0 GT/s PCIe x16"))}},
	} {
		addr := c.path[len(c.path)-1].addr
		if c.name == "no such device" {
			addr = card
		}
		all[c.name] = NewLinkReader(plant(t, c.machine, pci(c.path...)), addr).Read()
	}

	// CUDA gives the integrated GPU of a Tegra the address of a bridge.
	tegra := plant(t, files{"proc/device-tree/compatible": "nvidia,p3701-0005\x00nvidia,tegra234\x00"},
		pci(port("0000:00:00.0", gen3x4)), pci(port("0005:00:00.0", gen3x4), gpu("0005:01:00.0", x4of16)))
	for _, addr := range []string{"0000:00:00.0", "0000:01:00.0", "0005:01:00.0"} {
		all["Tegra "+addr] = NewLinkReader(tegra, addr).Read()
	}
	// Under WSL2 it gives the address that the card has in Windows.
	wsl := merge(at("proc", "version Linux version 5.15.153.1-microsoft-standard-WSL2"), at("dev", "dxg"),
		at(sysPCI, "5582:00:00.0/vendor 0x1414"))
	all["WSL2"] = NewLinkReader(plant(t, wsl), card).Read()
	all["WSL2, passed through whole"] = NewLinkReader(plant(t, wsl, pci(gpu(card, gen4x16))), card).Read()
	checkGolden(t, "links.json", all)
}

// A reader sees the registers change, and the maxima that were unknown at first.
func TestLinkReader(t *testing.T) {
	root := plant(t, onMetal, pci(port("0000:64:01.0", none), gpu(card, "2.5 GT/s x16, Unknown x16")))
	r := NewLinkReader(root, "00000000:65:00.0")
	if l := r.Read(); l.GTs != 2.5 || l.MaxGTs != 0 {
		t.Fatalf("idle: %+v", l)
	}
	set := func(speed, width string) {
		t.Helper()
		write(t, root, at(sysPCI+"/"+card, "current_link_speed "+speed, "max_link_speed "+speed,
			"current_link_width "+width, "max_link_width "+width))
	}
	set("8.0 GT/s PCIe", "16")
	if l := r.Read(); l.GTs != 8 || l.MaxGTs != 8 {
		t.Errorf("busy: %+v", l)
	}
	set("16.0 GT/s PCIe", "32")
	if l := r.Read(); l.GTs != 16 || l.MaxGTs != 16 || l.Width != 32 || l.MaxWidth != 32 {
		t.Errorf("busier: %+v", l)
	}
	if err := os.RemoveAll(filepath.Join(root, "sys/devices")); err != nil {
		t.Fatal(err)
	}
	if l := r.Read(); l.State != results.LinkUnknown {
		t.Errorf("unplugged: %+v", l)
	}
}

func FuzzParseLink(f *testing.F) {
	for _, s := range []string{"16.0 GT/s PCIe", "Unknown speed", "NaN GT/s", "255", "16"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if gts := parseSpeed(s); gts != 0 && (gts < 2.5 || gts > 128) {
			t.Errorf("%q: %v GT/s", s, gts)
		}
		if n := parseWidth(s); n < 0 || n > 32 {
			t.Errorf("%q: x%d", s, n)
		}
		if a := address(s); a != "" && address(a) != a {
			t.Errorf("%q: %q is no fixed point", s, a)
		}
	})
}

func BenchmarkLinkReader(b *testing.B) {
	for name, path := range map[string][]dev{
		"slot":   {port("0000:64:01.0", x4of16), gpu(card, gen4x16)},
		"switch": switched(x4of16, gen4x16, gpu(card, gen4x16)),
	} {
		b.Run(name, func(b *testing.B) {
			r := NewLinkReader(plant(b, onMetal, pci(path...)), card)
			for b.Loop() {
				if r.Read().Width != 4 {
					b.Fatal("not read")
				}
			}
		})
	}
}

func TestGPUs(t *testing.T) {
	onNode := func(d dev, node string) dev {
		d.more = files{"numa_node": node + "\n"}
		return d
	}
	slot := port("0000:b0:01.0", x8of16)
	virtual := dev{"0000:b1:00.4", "030200", "10de:20b5", none, files{"physfn/vendor": "0x10de"}}
	below := switched(gen4x16, gen4x16, onNode(gpu("0000:63:00.0", gen4x16), "1"))
	bridge := dev{"0000:00:05.0", "060400", "1b36:0001", "", nil}
	of := func(trees ...files) []results.GPU { return readGPUs(tree(plant(t, trees...))) }
	checkGolden(t, "gpus.json", map[string][]results.GPU{
		"in an empty tree": of(files{}),
		"on metal": of(onMetal, pci(below...),
			pci(below[0], below[1], port("0000:62:08.0", gen4x16), onNode(gpu("0000:64:00.0", gen4x16), "1")),
			pci(slot, onNode(gpu("0000:b1:00.0", gen4x16), "-1")),
			pci(port("0001:00:01.0", x8of16), dev{"0001:01:00.0", "120000", "10de:1af1", x8of16, nil}),
			// No GPUs of ours: the sound of a card, another vendor, a switch of
			// NVLink, a virtual function, a device without a class.
			pci(slot, dev{"0000:b1:00.1", "040300", "10de:228b", x8of16, nil}),
			pci(dev{"0000:03:00.0", "030000", "1a03:2000", "", nil}),
			pci(dev{"0000:c0:00.0", "068000", "10de:22a3", gen4x4, nil}),
			pci(slot, virtual), pci(dev{"0000:d0:00.0", "", "10de:20b5", "", nil}),
			files{sysPCI + "/garbage": "-> ../../../devices/none"},
			at("proc/driver/nvidia/gpus", "0000:63:00.0/information Model: \t\t NVIDIA A100 80GB PCIe\nIRQ:   \t\t 42",
				"0000:64:00.0/information "+noise)),
		// Emulated ports say nothing of what cards share.
		"in a VM": of(inVM, pci(bridge, gpu("0000:01:01.0", none)), pci(bridge, gpu("0000:01:02.0", none)),
			pci(gpu("0000:00:06.0", none))),
	})
}

func TestFind(t *testing.T) {
	gpus := []results.GPU{{PCI: "0000:65:00.0"}, {PCI: "0000:CA:00.0"}, {PCI: "10000:01:00.0"}, {PCI: ""}}
	for pci, want := range map[string]int{
		"0000:65:00.0": 0, "00000000:65:00.0": 0, "65:00.0": 0, " 0000:65:00.0\n": 0,
		"0000:ca:00.0": 1, "00000000:CA:00.0": 1, "00010000:01:00.0": 2,
		"0001:65:00.0": -1, "0000:66:00.0": -1, "": -1, "..": -1, "0000:65:00": -1, "000000000:65:00.0": -1,
	} {
		have := Find(gpus, pci)
		if (have == nil) != (want < 0) || have != nil && have != &gpus[want] {
			t.Errorf("%q: %v, want index %d", pci, have, want)
		}
	}
}

func TestSharedPorts(t *testing.T) {
	below := func(path []dev, down string, cards ...dev) []dev {
		return append(append(slices.Clone(path), port(down, gen4x16)), cards...)
	}
	full := func(addr string) dev { return gpu(addr, gen4x16) }
	// Two cards behind a switch in a Gen3 x8 slot, two behind one that hangs below
	// another in a Gen4 x16 slot, one alone; in a VM two below emulated ports.
	slot := []dev{port("0000:00:03.0", "8.0 GT/s PCIe x8, 16.0 GT/s PCIe x16"),
		port("0000:01:00.0", "8.0 GT/s PCIe x8, 8.0 GT/s PCIe x16")}
	outer := []dev{port("0000:40:01.0", gen4x16), port("0000:41:00.0", gen4x16)}
	inner := append(slices.Clone(outer), port("0000:42:00.0", x8of16),
		port("0000:43:00.0", "16.0 GT/s PCIe x8, 16.0 GT/s PCIe x8"))
	unreal := []dev{emulatedPort("0000:00:02.0", gen1x1), emulatedPort("0000:01:00.0", gen1x1)}
	layout := merge(
		pci(below(slot, "0000:02:00.0", full("0000:03:00.0"))...),
		pci(below(slot, "0000:02:01.0", full("0000:04:00.0"))...),
		pci(below(inner, "0000:44:00.0", full("0000:45:00.0"))...),
		pci(below(inner, "0000:44:01.0", full("0000:46:00.0"))...),
		pci(below(outer, "0000:42:01.0", full("0000:47:00.0"))...),
		pci(port("0000:80:01.0", gen4x16), full("0000:81:00.0")))
	hidden := merge(pci(append(unreal, emulatedPort("0000:02:00.0", gen1x1), full("0000:03:00.0"))...),
		pci(append(unreal, emulatedPort("0000:02:01.0", gen1x1), full("0000:04:00.0"))...))
	five := []string{"0000:03:00.0", "0000:04:00.0", "0000:45:00.0", "0000:46:00.0", "0000:47:00.0", "0000:81:00.0"}
	first := "0000:00:03.0 x8: 0000:03:00.0 0000:04:00.0"
	for _, c := range []struct {
		name    string
		machine files
		cards   []string
		want    []string
	}{
		{"all", merge(layout, onMetal), five, []string{first, "0000:42:00.0 x8: 0000:45:00.0 0000:46:00.0",
			"0000:40:01.0 x16: 0000:45:00.0 0000:46:00.0 0000:47:00.0"}},
		{"of those that are used", merge(layout, onMetal), []string{"0000:03:00.0", "0000:47:00.0", "0000:46:00.0"},
			[]string{"0000:40:01.0 x16: 0000:47:00.0 0000:46:00.0"}},
		{"none", merge(layout, onMetal), []string{"0000:03:00.0", "0000:81:00.0", "0000:99:00.0", ""}, nil},
		{"the same in a VM that mirrors the hardware", merge(layout, inVM), five[:2], []string{first}},
		{"emulated ports", merge(hidden, inVM), five[:2], nil},
	} {
		var have []string
		for _, p := range SharedPorts(plant(t, c.machine), c.cards) {
			have = append(have, fmt.Sprintf("%s x%d: %s", p.Port, p.Link.Width, strings.Join(p.Devices, " ")))
		}
		if !slices.Equal(have, c.want) {
			t.Errorf("%s: %q, want %q", c.name, have, c.want)
		}
	}
}
