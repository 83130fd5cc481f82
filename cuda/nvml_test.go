//go:build linux && (amd64 || arm64) && !nocuda && !gorgonia

package cuda

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"dlbench/cuda/fakecuda"
)

func TestNVML(t *testing.T) {
	t.Setenv("FAKE_NVML_PCI", "0000:65:00.0")
	for _, c := range []struct {
		link, cc, pci string
		flags         []string
		want          PCIe
		fails         bool
	}{
		{link: "1,16,4,16", pci: "0000:65:00.0", want: PCIe{1, 16, 4, 16}},
		{link: "5,16,5,16", cc: "1", pci: "0000:65:00.0", want: PCIe{5, 16, 5, 16}},
		{link: "3,8,3,16", pci: "0000:65:00.0", flags: []string{"-DFAKE_NVML_OLD"}, want: PCIe{3, 8, 3, 16}},
		{link: "3,8,3,16", pci: "0000:66:00.0", fails: true}, // another GPU
		{link: "-1,8,3,16", pci: "0000:65:00.0", fails: true},
		{link: "3,8,3,-1", pci: "0000:65:00.0", fails: true},
	} {
		t.Setenv("FAKE_NVML_LINK", c.link)
		t.Setenv("FAKE_NVML_CC", c.cc)
		if c.cc == "" {
			os.Unsetenv("FAKE_NVML_CC")
		}
		n, err := openNVML(fakecuda.BuildNVML(t, c.flags...))
		if err != nil {
			t.Fatal(err)
		}
		if have, err := n.Link(c.pci); have != c.want || (err != nil) != c.fails {
			t.Errorf("%+v: %+v, %v", c, have, err)
		}
		if n.Confidential() != (c.cc != "") {
			t.Errorf("%+v: confidential %t", c, n.Confidential())
		}
	}
}

// Whatever is wrong with the library, it is not there.
func TestNVMLIsOptional(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "libnvidia-ml.so.1")
	if err := os.WriteFile(text, []byte("no library"), 0o644); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(dir, "missing.so")
	for _, path := range []string{missing, "libdlbench-nothing.so.9", text, fakecuda.Build(t)} {
		if n, err := openNVML(path); n != nil || !errors.Is(err, errNoNVML) {
			t.Errorf("%s: %v, %v", path, n, err)
		}
	}
	t.Setenv("FAKE_NVML_INIT", "9") // driver not loaded
	if _, err := openNVML(fakecuda.BuildNVML(t)); !errors.Is(err, errNoNVML) {
		t.Errorf("a library that does not start: %v", err)
	}
}
