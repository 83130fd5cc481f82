//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestVisibleDevices is about what CUDA_VISIBLE_DEVICES shows, in its order.
func TestVisibleDevices(t *testing.T) {
	const fourth = "MIG-11111111-2222-5333-8444-555555555555"
	for _, c := range []struct{ value, want string }{
		{"0,1,2,3", "0 1 2 3"},
		{"2,0", "2 0"},
		{"1,7,0", "1"},
		{"0,-1,2", "0"},
		{"0,GPU-none,1", "0"},
		{"GPU-fa4e0002-0000-4000-8000-000000000000,GPU-fa4e0000", "2 0"},
		{"GPU-fa4e0", ""}, // begins three
		{"1," + fourth + ",0", "1 3"},
		{fourth + ",0", "3"},
		{"MIG-1111", ""},
		{"", ""},
		{"-1", ""},
		{"none", ""},
		{"NoDevFiles", ""},
	} {
		t.Run(c.value, func(t *testing.T) {
			d, err := newDriver(fakeCalls(t, "FAKE_CUDA_DEVICES=4", "CUDA_VISIBLE_DEVICES="+c.value,
				"FAKE_CUDA_UUID=GPU-fa4e0000-0000-4000-8000-000000000000,GPU-fa4e0001-0000-4000-8000-000000000000,GPU-fa4e0002-0000-4000-8000-000000000000,"+fourth))
			if c.want == "" {
				if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), `finds no GPU (CUDA_VISIBLE_DEVICES="`+c.value+`"`) {
					t.Error(err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			devices, err := d.devices()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i, d := range devices {
				card, _ := strings.CutPrefix(d.Info().Name, "Fake GPU ")
				got = append(got, card)
				if want := "0000:" + []string{"65", "66", "67", "68"}[card[0]-'0'] + ":00.0"; d.Info().PCI != want || d.Info().Index != i {
					t.Errorf("cuda:%d is card %s at %s, want %s", d.Info().Index, card, d.Info().PCI, want)
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("sees %q, want %q", got, c.want)
			}
		})
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
