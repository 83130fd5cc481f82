package host

import (
	"reflect"
	"testing"

	"dlbench/results"
)

func TestGPUs(t *testing.T) {
	root4 := port("0000:60:01.0", gen4x16+", "+gen4x16)
	up := port("0000:61:00.0", gen4x16+", "+gen4x16)
	at := func(addr, node string) dev {
		d := gpu(addr, gen4x16+", "+gen4x16)
		d.more = files{"numa_node": node}
		return d
	}
	root := plant(t, onMetal,
		pci(root4, up, port("0000:62:00.0", gen4x16+", "+gen4x16), at("0000:63:00.0", "1\n")),
		pci(root4, up, port("0000:62:08.0", gen4x16+", "+gen4x16), at("0000:64:00.0", "1\n")),
		pci(port("0000:b0:01.0", gen4x8+", "+gen4x16), at("0000:b1:00.0", "-1\n")),
		pci(port("0001:00:01.0", gen4x8+", "+gen4x16), dev{"0001:01:00.0", "120000", "10de:1af1", gen4x8 + ", " + gen4x8, nil}),
		// No GPUs of ours: the sound of a card, another vendor, a switch of
		// NVLink, a virtual function, a device without a class.
		pci(port("0000:b0:01.0", gen4x8+", "+gen4x16), dev{"0000:b1:00.1", "040300", "10de:228b", gen4x8 + ", " + gen4x16, nil}),
		pci(dev{"0000:03:00.0", "030000", "1a03:2000", "", nil}),
		pci(dev{"0000:c0:00.0", "068000", "10de:22a3", gen4x4 + ", " + gen4x4, nil}),
		pci(port("0000:b0:01.0", gen4x8+", "+gen4x16), dev{"0000:b1:00.4", "030200", "10de:20b5", none, files{"physfn/vendor": "0x10de"}}),
		pci(dev{"0000:d0:00.0", "", "10de:20b5", "", nil}),
		files{
			sysPCI + "/garbage": "-> ../../../devices/none",
			"proc/driver/nvidia/gpus/0000:63:00.0/information": "Model: \t\t NVIDIA A100 80GB PCIe\nIRQ:   \t\t 42\n",
			"proc/driver/nvidia/gpus/0000:64:00.0/information": noise,
		})
	type brief struct {
		pci, name, uplink string
		node              any
		shares            []string
		width             int
	}
	var have []brief
	for _, g := range GPUs(root) {
		b := brief{g.PCI, g.Name, g.Uplink, nil, g.Shares, g.Link.Width}
		if g.NUMANode != nil {
			b.node = *g.NUMANode
		}
		have = append(have, b)
	}
	want := []brief{
		{"0000:63:00.0", "NVIDIA A100 80GB PCIe", "0000:60:01.0", 1, []string{"0000:64:00.0"}, 16},
		{"0000:64:00.0", "10de:20b5", "0000:60:01.0", 1, []string{"0000:63:00.0"}, 16},
		{"0000:b1:00.0", "10de:20b5", "0000:b0:01.0", nil, nil, 8},
		{"0001:01:00.0", "10de:1af1", "0001:00:01.0", nil, nil, 8},
	}
	if !reflect.DeepEqual(have, want) {
		t.Errorf("have %+v\nwant %+v", have, want)
	}
}

// Emulated ports say nothing of what cards share.
func TestGPUsInVM(t *testing.T) {
	bridge := dev{"0000:00:05.0", "060400", "1b36:0001", "", nil}
	root := plant(t, inVM, pci(bridge, gpu("0000:01:01.0", none)), pci(bridge, gpu("0000:01:02.0", none)), pci(gpu("0000:00:06.0", none)))
	gpus := GPUs(root)
	if len(gpus) != 3 {
		t.Fatalf("%d GPUs, want 3", len(gpus))
	}
	for _, g := range gpus {
		if g.Uplink != "" || g.Shares != nil || g.Link.State != results.LinkVirtual {
			t.Errorf("%s: uplink %q, shares %v, link %s", g.PCI, g.Uplink, g.Shares, g.Link.State)
		}
	}
}

func TestGPUsMissing(t *testing.T) {
	if g := GPUs(plant(t, files{})); g != nil {
		t.Errorf("%v in an empty tree", g)
	}
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
