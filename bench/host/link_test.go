package host

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"dlbench/results"
)

// dev is a PCI device of a fixture. link is "current speed xwidth, max speed
// xwidth", or "" for a device without link registers.
type dev struct {
	addr, class, id, link string
	more                  files // further files of its folder
}

// pci makes the files of one path: devices from the root port down to the
// device, below a host bridge, and their links in /sys/bus.
func pci(path ...dev) files {
	f, dir := files{}, "devices/pci"+path[0].addr[:7]
	for _, d := range path {
		dir += "/" + d.addr
		vendor, device, _ := strings.Cut(d.id, ":")
		f["sys/"+dir+"/vendor"], f["sys/"+dir+"/device"] = "0x"+vendor+"\n", "0x"+device+"\n"
		f["sys/"+dir+"/class"] = "0x" + d.class + "\n"
		f[sysPCI+"/"+d.addr] = "-> ../../../" + dir
		if d.link != "" {
			now, most, _ := strings.Cut(d.link, ", ")
			for name, s := range map[string]string{"current": now, "max": most} {
				speed, width, _ := strings.Cut(s, " x")
				f["sys/"+dir+"/"+name+"_link_speed"], f["sys/"+dir+"/"+name+"_link_width"] = speed+"\n", width+"\n"
			}
		}
		for name, s := range d.more {
			f["sys/"+dir+"/"+name] = s
		}
	}
	return f
}

const (
	gen1x16 = "2.5 GT/s PCIe x16"
	gen3x4  = "8.0 GT/s PCIe x4"
	gen3x16 = "8.0 GT/s PCIe x16"
	gen4x4  = "16.0 GT/s PCIe x4"
	gen4x8  = "16.0 GT/s PCIe x8"
	gen4x16 = "16.0 GT/s PCIe x16"
	gen5x16 = "32.0 GT/s PCIe x16"
	none    = "Unknown x0, Unknown x255"
)

func port(addr, link string) dev         { return dev{addr, "060400", "8086:347a", link, nil} }
func gpu(addr, link string) dev          { return dev{addr, "030200", "10de:20b5", link, nil} }
func emulatedPort(addr, link string) dev { return dev{addr, "060400", "1b36:000c", link, nil} }

var (
	onMetal = files{"proc/cpuinfo": "flags : fpu\n", "sys/class/dmi/id/sys_vendor": "Dell Inc.\n"}
	inVM    = files{"proc/cpuinfo": "flags : fpu hypervisor\n", "sys/class/dmi/id/sys_vendor": "QEMU\n"}
)

const card = "0000:65:00.0"

func TestReadLink(t *testing.T) {
	for _, c := range []struct {
		name    string
		machine files
		path    []dev
		want    results.Link // without Hops
		hops    string       // device gts x width / max gts x width
		note    string       // part of it
	}{
		{"slot", onMetal, []dev{port("0000:64:01.0", gen4x16+", "+gen4x16), gpu(card, gen4x16+", "+gen4x16)},
			results.Link{State: "known", GTs: 16, Width: 16, MaxGTs: 16, MaxWidth: 16, Narrow: card},
			"0000:65:00.0 16x16/16x16", ""},
		{"older slot", onMetal, []dev{port("0000:64:01.0", gen3x16+", "+gen3x16), gpu(card, gen3x16+", "+gen5x16)},
			results.Link{State: "known", GTs: 8, Width: 16, MaxGTs: 8, MaxWidth: 16, Narrow: card},
			"0000:65:00.0 8x16/8x16", ""},
		{"idle", onMetal, []dev{port("0000:64:01.0", gen1x16+", "+gen4x16), gpu(card, gen1x16+", "+gen4x16)},
			results.Link{State: "known", GTs: 2.5, Width: 16, MaxGTs: 16, MaxWidth: 16, Narrow: card},
			"0000:65:00.0 2.5x16/16x16", ""},
		{"ends differ", onMetal, []dev{port("0000:64:01.0", "16 GT/s x8, 32 GT/s x16"), gpu(card, "8 GT/s x16, 16 GT/s x16")},
			results.Link{State: "known", GTs: 8, Width: 8, MaxGTs: 16, MaxWidth: 16, Narrow: card},
			"0000:65:00.0 8x8/16x16", ""},
		// The ports of the switch are x16 on the inside; a walk that took every
		// device for a hop would see three.
		{"switch in an x4 slot", onMetal, []dev{port("0000:60:01.0", gen3x4+", "+gen4x16), port("0000:61:00.0", gen3x4+", "+gen4x16),
			port("0000:62:00.0", gen4x16+", "+gen4x16), gpu(card, gen4x16+", "+gen4x16)},
			results.Link{State: "known", GTs: 8, Width: 4, MaxGTs: 16, MaxWidth: 16, Narrow: "0000:61:00.0"},
			"0000:65:00.0 16x16/16x16 0000:61:00.0 8x4/16x16", ""},
		// An idle card below a narrow hop: the narrowest now and at most differ.
		{"two narrowest hops", onMetal, []dev{port("0000:60:01.0", gen4x4+", "+gen4x4), port("0000:61:00.0", gen4x4+", "+gen4x16),
			port("0000:62:00.0", gen1x16+", "+gen4x16), gpu(card, gen1x16+", "+gen4x16)},
			results.Link{State: "known", GTs: 2.5, Width: 16, MaxGTs: 16, MaxWidth: 4, Narrow: card},
			"0000:65:00.0 2.5x16/16x16 0000:61:00.0 16x4/16x4", ""},
		{"coding decides", onMetal, []dev{port("0000:60:01.0", "8 GT/s x5, 8 GT/s x5"), port("0000:61:00.0", "8 GT/s x5, 8 GT/s x5"),
			port("0000:62:00.0", "5 GT/s x9, 5 GT/s x9"), gpu(card, "5 GT/s x9, 5 GT/s x9")}, // 4.92 and 4.5 GB/s
			results.Link{State: "known", GTs: 5, Width: 9, MaxGTs: 5, MaxWidth: 9, Narrow: card},
			"0000:65:00.0 5x9/5x9 0000:61:00.0 8x5/8x5", ""},
		{"port silent", onMetal, []dev{port("0000:64:01.0", none), gpu(card, gen4x8+", "+gen4x16)},
			results.Link{State: "known", GTs: 16, Width: 8, MaxGTs: 16, MaxWidth: 16, Narrow: card},
			"0000:65:00.0 16x8/16x16", ""},
		{"card silent", onMetal, []dev{port("0000:64:01.0", gen4x8+", "+gen4x16), gpu(card, none)},
			results.Link{State: "known", GTs: 16, Width: 8, MaxGTs: 16, MaxWidth: 16, Narrow: card},
			"0000:65:00.0 16x8/16x16", ""},
		{"all silent", onMetal, []dev{port("0000:64:01.0", none), gpu(card, "Unknown speed x63, Unknown speed x0")},
			results.Link{State: "unknown"}, "", ""},
		{"speed without width", onMetal, []dev{port("0000:64:01.0", none), gpu(card, "8.0 GT/s PCIe x0, Unknown x0")},
			results.Link{State: "unknown"}, "0000:65:00.0 8x0/0x0", ""},
		{"one hop silent", onMetal, []dev{port("0000:60:01.0", "Unknown x4, Unknown x4"), port("0000:61:00.0", none),
			port("0000:62:00.0", gen4x16+", "+gen4x16), gpu(card, gen4x16+", "+gen4x16)},
			results.Link{State: "known", GTs: 16, Width: 16, MaxGTs: 16, MaxWidth: 16, Narrow: card},
			"0000:65:00.0 16x16/16x16 0000:61:00.0 0x4/0x4", "0000:61:00.0 is unknown"},
		{"garbled", onMetal, []dev{port("0000:64:01.0", "fast xmany, 9 GT/s x99"), gpu(card, "16.0 MB/s x-4, \x00 x\xff")},
			results.Link{State: "unknown"}, "", ""},
		{"integrated", onMetal, []dev{gpu("0000:00:02.0", "")}, results.Link{State: "unknown"}, "", ""},
		{"no such device", onMetal, []dev{gpu("0000:01:00.0", gen3x16+", "+gen3x16)}, results.Link{State: "unknown"}, "", "no such PCI device"},

		{"VM: card on the root bus", inVM, []dev{gpu(card, gen4x16+", "+gen5x16)},
			results.Link{State: "known", GTs: 16, Width: 16, MaxGTs: 32, MaxWidth: 16, Narrow: card},
			"0000:65:00.0 16x16/32x16", "cannot be seen"},
		{"VM: emulated root port", inVM, []dev{emulatedPort("0000:00:02.0", "2.5 GT/s x1, 2.5 GT/s x1"), gpu(card, gen4x16+", "+gen4x16)},
			results.Link{State: "known", GTs: 16, Width: 16, MaxGTs: 16, MaxWidth: 16, Narrow: card},
			"0000:65:00.0 16x16/16x16", "cannot be seen"},
		{"VM: emulated switch", inVM, []dev{emulatedPort("0000:00:02.0", "2.5 GT/s x1, 2.5 GT/s x1"),
			{"0000:01:00.0", "060400", "104c:8232", "2.5 GT/s x1, 2.5 GT/s x1", nil},
			{"0000:02:00.0", "060400", "104c:8233", "2.5 GT/s x1, 2.5 GT/s x1", nil}, gpu(card, gen4x16+", "+gen4x16)},
			results.Link{State: "known", GTs: 16, Width: 16, MaxGTs: 16, MaxWidth: 16, Narrow: card},
			"0000:65:00.0 16x16/16x16", "cannot be seen"},
		{"VM: conventional bridge", inVM, []dev{{"0000:00:05.0", "060400", "8086:2448", "", nil}, gpu(card, gen4x16+", "+gen4x16)},
			results.Link{State: "known", GTs: 16, Width: 16, MaxGTs: 16, MaxWidth: 16, Narrow: card},
			"0000:65:00.0 16x16/16x16", "cannot be seen"},
		{"VM: nothing credible", inVM, []dev{emulatedPort("0000:00:02.0", "16.0 GT/s PCIe x32, 16.0 GT/s PCIe x32"), gpu(card, none)},
			results.Link{State: "virtual"}, "", ""},
		{"VM: silent card", inVM, []dev{gpu(card, none)}, results.Link{State: "virtual"}, "", ""},
		{"VM: bridges that mirror the hardware", inVM, []dev{{"0000:44:00.0", "060400", "1d0f:0200", gen3x16 + ", " + gen3x16, nil},
			{"0000:45:00.0", "060400", "1d0f:0200", gen3x16 + ", " + gen3x16, nil},
			{"0000:46:00.0", "060400", "1d0f:0200", gen5x16 + ", " + gen5x16, nil}, gpu(card, gen5x16+", "+gen5x16)},
			results.Link{State: "known", GTs: 8, Width: 16, MaxGTs: 8, MaxWidth: 16, Narrow: "0000:45:00.0"},
			"0000:65:00.0 32x16/32x16 0000:45:00.0 8x16/8x16", ""},
		{"the same models on metal are real", onMetal, []dev{{"0000:00:03.0", "060400", "8086:3420", gen3x4 + ", " + gen3x4, nil}, gpu(card, gen3x16+", "+gen3x16)},
			results.Link{State: "known", GTs: 8, Width: 4, MaxGTs: 8, MaxWidth: 4, Narrow: card},
			"0000:65:00.0 8x4/8x4", ""},

		{"Grace Hopper", onMetal, []dev{port("0009:00:00.0", gen5x16+", "+gen5x16), {"0009:01:00.0", "030200", "10de:2342", gen5x16 + ", " + gen5x16, nil}},
			results.Link{State: "other"}, "", "C2C"},
		{"the same number of another vendor", onMetal, []dev{port("0009:00:00.0", gen3x4+", "+gen3x4), {"0009:01:00.0", "030000", "1002:2342", gen3x4 + ", " + gen3x4, nil}},
			results.Link{State: "known", GTs: 8, Width: 4, MaxGTs: 8, MaxWidth: 4, Narrow: "0009:01:00.0"}, "0009:01:00.0 8x4/8x4", ""},
		{"tunnel", onMetal, []dev{port("0000:00:03.1", "2.5 GT/s PCIe x1, 2.5 GT/s PCIe x1"),
			{"0000:61:00.0", "060400", "8086:15ef", "2.5 GT/s PCIe x4, 8.0 GT/s PCIe x4", files{"removable": "removable\n"}},
			{"0000:62:00.0", "060400", "8086:15ef", gen3x4 + ", " + gen3x4, files{"removable": "removable\n"}},
			{card, "030000", "10de:2204", gen3x4 + ", " + gen4x16, files{"removable": "removable\n"}}},
			results.Link{State: "other"}, "0000:65:00.0 8x4/8x4 0000:61:00.0 2.5x1/2.5x1", "tunnel"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := plant(t, c.machine, pci(c.path...))
			addr := card
			if c.name != "no such device" {
				addr = c.path[len(c.path)-1].addr
			}
			have := NewLinkReader(root, addr).Read()
			var hops []string
			for _, h := range have.Hops {
				hops = append(hops, fmt.Sprintf("%s %gx%d/%gx%d", h.Device, h.GTs, h.Width, h.MaxGTs, h.MaxWidth))
			}
			if s := strings.Join(hops, " "); s != c.hops {
				t.Errorf("hops %s\nwant %s", s, c.hops)
			}
			if !strings.Contains(have.Note, c.note) || (c.note == "") != (have.Note == "") {
				t.Errorf("note %q, want %q in it", have.Note, c.note)
			}
			have.Hops, have.Note = nil, ""
			if !reflect.DeepEqual(have, c.want) {
				t.Errorf("have %+v\nwant %+v", have, c.want)
			}
		})
	}
}

func TestReadLinkOfTegra(t *testing.T) {
	tegra := files{"proc/device-tree/compatible": "nvidia,p3701-0005\x00nvidia,tegra234\x00"}
	bridge := pci(port("0000:00:00.0", gen3x4+", "+gen3x4)) // CUDA gives the integrated GPU this address
	discrete := pci(port("0005:00:00.0", gen3x4+", "+gen3x4), gpu("0005:01:00.0", gen3x4+", "+gen4x16))
	root := plant(t, tegra, bridge, discrete)
	for addr, want := range map[string]string{"0000:00:00.0": "other", "0000:01:00.0": "other", "0005:01:00.0": "known"} {
		if l := NewLinkReader(root, addr).Read(); l.State != want {
			t.Errorf("%s: %s, want %s", addr, l.State, want)
		}
	}
}

// Under WSL2 CUDA gives the address that the card has in Windows.
func TestReadLinkOfWSL2(t *testing.T) {
	wsl := files{"proc/version": "Linux version 5.15.153.1-microsoft-standard-WSL2\n", "dev/dxg": "",
		sysPCI + "/5582:00:00.0/vendor": "0x1414\n"}
	if l := NewLinkReader(plant(t, wsl), "0000:01:00.0").Read(); l.State != results.LinkVirtual || !strings.Contains(l.Note, "/dev/dxg") {
		t.Errorf("%+v", l)
	}
	if l := NewLinkReader(plant(t, wsl, pci(gpu(card, gen4x16+", "+gen4x16))), card).Read(); l.State != results.LinkKnown {
		t.Errorf("a card that is passed through whole: %+v", l)
	}
}

// A reader sees the registers change, and the maxima that were unknown at first.
func TestLinkReader(t *testing.T) {
	root := plant(t, onMetal, pci(port("0000:64:01.0", none), gpu(card, "2.5 GT/s x16, Unknown x16")))
	r := NewLinkReader(root, "00000000:65:00.0")
	if l := r.Read(); l.GTs != 2.5 || l.MaxGTs != 0 {
		t.Fatalf("idle: %+v", l)
	}
	set := func(name, s string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, sysPCI, card, name), []byte(s), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	set("current_link_speed", "8.0 GT/s PCIe\n")
	set("max_link_speed", "8.0 GT/s PCIe\n")
	if l := r.Read(); l.GTs != 8 || l.MaxGTs != 8 {
		t.Errorf("busy: %+v", l)
	}
	set("current_link_speed", "16.0 GT/s PCIe\n")
	set("max_link_speed", "16.0 GT/s PCIe\n")
	set("current_link_width", "32\n")
	set("max_link_width", "32\n")
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

func TestParseSpeed(t *testing.T) {
	for s, want := range map[string]float64{
		"16.0 GT/s PCIe": 16, "2.5 GT/s": 2.5, "8 GT/s": 8, "64.0 GT/s PCIe": 64,
		"Unknown": 0, "Unknown speed": 0, "": 0, "16.0": 0, "17 GT/s": 0, "-8 GT/s": 0, "NaN GT/s": 0, "16 Gb/s": 0,
	} {
		if have := parseSpeed(s); have != want {
			t.Errorf("%q: %v, want %v", s, have, want)
		}
	}
}

func TestPCIPath(t *testing.T) {
	root := plant(t, files{
		"sys/devices/pci0000:64/0000:64:01.0/0000:65:00.0/vendor": "0x10de",
		sysPCI + "/0000:65:00.0":                                  "-> ../../../devices/pci0000:64/0000:64:01.0/0000:65:00.0",
		sysPCI + "/0000:66:00.0/vendor":                           "0x10de", // a folder, no link
	})
	for addr, want := range map[string]int{"0000:65:00.0": 2, "0000:66:00.0": 1, "0000:67:00.0": 0, "": 0} {
		dirs := pciPath(tree(root), addr)
		if len(dirs) != want || want > 0 && dirs[0].id("vendor") != nvidia {
			t.Errorf("%q: %v, want %d folders", addr, dirs, want)
		}
	}
}

func BenchmarkLinkReader(b *testing.B) {
	slot := []dev{port("0000:64:01.0", gen3x4+", "+gen4x16), gpu(card, gen4x16+", "+gen4x16)}
	inSwitch := []dev{port("0000:60:01.0", gen3x4+", "+gen4x16), port("0000:61:00.0", gen3x4+", "+gen4x16),
		port("0000:62:00.0", gen4x16+", "+gen4x16), gpu(card, gen4x16+", "+gen4x16)}
	for name, path := range map[string][]dev{"slot": slot, "switch": inSwitch} {
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
