package cuda

import (
	"errors"
	"strings"
	"testing"

	"dlbench/bench/theory"
)

func specs(t testing.TB, texts ...string) []theory.Device {
	t.Helper()
	var out []theory.Device
	for _, text := range texts {
		s, err := theory.ParseDevice(text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

func TestOpenAssumedLinks(t *testing.T) {
	devices, missing, err := Open(specs(t, "sim:gen3x4", "sim:gen4x16", "sim:gen3x4"))
	if err != nil || missing != nil {
		t.Fatal(missing, err)
	}
	var got []string
	for _, d := range devices {
		got = append(got, d.Info().Spec)
	}
	if strings.Join(got, " ") != "sim:gen3x4 sim:gen4x16" {
		t.Errorf("opened %q, want each once in order", got)
	}
}

func TestOpenWithoutDriver(t *testing.T) {
	if _, err := cudaDevices(); err == nil {
		t.Skip("this machine has a CUDA driver")
	}
	devices, missing, err := Open(specs(t, "auto"))
	if err != nil || !errors.Is(missing, ErrUnavailable) || len(devices) != len(autoLinks) ||
		!devices[0].Info().Assumed {
		t.Errorf("auto: %d devices, missing %v, error %v; want assumed links and why", len(devices), missing, err)
	}
	for _, text := range []string{"cuda:0", "all", "cuda:0:link=gen3x4"} {
		if _, _, err := Open(specs(t, "sim:gen3x4", text)); !errors.Is(err, ErrUnavailable) ||
			!strings.HasPrefix(err.Error(), text+": ") {
			t.Errorf("%s: error %v, want why it cannot be had", text, err)
		}
	}
}
