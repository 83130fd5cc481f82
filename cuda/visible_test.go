//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestVisibleDevices is about what CUDA_VISIBLE_DEVICES shows, in its order.
func TestVisibleDevices(t *testing.T) {
	const fourth = "MIG-11111111-2222-5333-8444-555555555555"
	uuids := "FAKE_CUDA_UUID=GPU-fa4e0000-0000-4000-8000-000000000000,GPU-fa4e0001-0000-4000-8000-000000000000," +
		"GPU-fa4e0002-0000-4000-8000-000000000000," + fourth
	for visible, want := range map[string]string{
		"0,1,2,3": "0000:65:00.0 0000:66:00.0 0000:67:00.0 0000:68:00.0",
		"2,0":     "0000:67:00.0 0000:65:00.0",
		"0,-1,2":  "0000:65:00.0",
		"GPU-fa4e0002-0000-4000-8000-000000000000,GPU-fa4e0000": "0000:67:00.0 0000:65:00.0",
		"1," + fourth + ",0": "0000:66:00.0 0000:68:00.0",
		"GPU-fa4e0":          "", // begins three
		"MIG-1111":           "",
		"NoDevFiles":         "",
	} {
		var got []string
		d, err := newDriver(fakeCalls(t, "FAKE_CUDA_DEVICES=4", "CUDA_VISIBLE_DEVICES="+visible, uuids))
		if err == nil {
			for _, device := range d.opened(t) {
				got = append(got, device.Info().PCI)
			}
		} else if !strings.Contains(err.Error(), `finds no GPU (CUDA_VISIBLE_DEVICES="`+visible+`"`) {
			t.Error(err)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: sees %q, want %q", visible, got, want)
		}
	}
}

func TestHidden(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"0000:65:00.0", "0000:66:00.0", "0000:67:00.0"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	setFake(t)
	if got := hidden(dir, 0); got != "" {
		t.Errorf("not set: %q", got)
	}
	t.Setenv("CUDA_VISIBLE_DEVICES", "1")
	for _, c := range []struct {
		dir  string
		seen int
		want string
	}{
		{dir, 1, ` (CUDA_VISIBLE_DEVICES="1" hides 2 of 3)`},
		{dir, 3, ` (CUDA_VISIBLE_DEVICES="1")`},
		{filepath.Join(dir, "none"), 1, ` (CUDA_VISIBLE_DEVICES="1")`},
	} {
		if got := hidden(c.dir, c.seen); got != c.want {
			t.Errorf("%d seen: %q, want %q", c.seen, got, c.want)
		}
	}
}
