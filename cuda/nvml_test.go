//go:build linux && (amd64 || arm64) && !nocuda && !gorgonia

package cuda

import (
	"os"
	"path/filepath"
	"testing"

	"dlbench/bench/theory"
	"dlbench/cuda/fakecuda"
)

func TestNVML(t *testing.T) {
	t.Setenv("FAKE_NVML_PCI", "0000:65:00.0")
	for _, c := range []struct {
		link, cc  string // "" for cc: the library cannot tell
		flags     []string
		now, most theory.Link // none where the library does not tell
	}{
		{"1,16,4,16", "", nil, theory.Link{Gen: 1, Lanes: 16}, theory.Link{Gen: 4, Lanes: 16}},
		{"5,16,5,16", "1", nil, theory.Link{Gen: 5, Lanes: 16}, theory.Link{Gen: 5, Lanes: 16}},
		{"3,8,3,16", "", []string{"-DFAKE_NVML_OLD"}, theory.Link{Gen: 3, Lanes: 8}, theory.Link{Gen: 3, Lanes: 16}},
		{link: "-1,8,3,16"},
		{link: "3,8,3,-1"},
	} {
		t.Setenv("FAKE_NVML_LINK", c.link)
		t.Setenv("FAKE_NVML_CC", c.cc)
		if c.cc == "" {
			os.Unsetenv("FAKE_NVML_CC")
		}
		n := openNVML(fakecuda.BuildNVML(t, c.flags...))
		now, most, ok := n.Link("0000:65:00.0")
		if known := c.now.Gen > 0; ok != known || known && (now != c.now || most != c.most) {
			t.Errorf("%+v: %v, %v, %t", c, now, most, ok)
		}
		if n.Confidential() != (c.cc != "") {
			t.Errorf("%+v: confidential %t", c, n.Confidential())
		}
		if _, _, ok := n.Link("0000:66:00.0"); ok {
			t.Errorf("%+v: there is no such GPU", c)
		}
	}
}

// Whatever is wrong with the library, it is not there, and tells nothing.
func TestNVMLIsOptional(t *testing.T) {
	t.Setenv("FAKE_NVML_INIT", "9") // driver not loaded
	missing := filepath.Join(t.TempDir(), "missing.so")
	for _, path := range []string{missing, "libdlbench-nothing.so.9", fakecuda.Build(t), fakecuda.BuildNVML(t)} {
		n := openNVML(path)
		if _, _, ok := n.Link("0000:65:00.0"); n != nil || ok || n.Confidential() {
			t.Errorf("%s: %v", path, n)
		}
	}
}
