package cuda

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestParseSpec(t *testing.T) {
	for text, want := range map[string]Spec{
		"auto":    {Auto: true},
		"all":     {All: true},
		"cuda:0":  {CUDA: true, Index: 0},
		"cuda:12": {CUDA: true, Index: 12},
	} {
		want.Text = text
		if s, err := ParseSpec(text); err != nil || s != want {
			t.Errorf("ParseSpec(%q) = %+v, %v", text, s, err)
		}
	}
	for text, gbps := range map[string][2]float64{ // pinned, pageable
		"sim:gen3x16":         {12.603, 6.302},
		"sim:gen3x4":          {3.151, 1.575},
		"sim:gen4x16:gbps=25": {25, 12.603},
		"sim:gen3x16:gbps=12.1:pageable-gbps=5.5":   {12.1, 5.5},
		"sim:gen3x16:pageable-gbps=5.5":             {12.603, 5.5},
		"sim:gen3x16:pageable-gbps=5.5:gbps=12.1":   {12.1, 5.5},
		"sim:gen3x16:gbps=15.753846153846153":       {15.754, 6.302},
		"cuda:3:link=gen3x8":                        {6.302, 3.151},
		"cuda:0:link=gen3x8:gbps=6:pageable-gbps=2": {6, 2},
	} {
		s, err := ParseSpec(text)
		if loaded := strings.HasPrefix(text, "cuda"); s.Sim() == loaded || s.Loaded() != loaded || s.Loaded() != strings.HasPrefix(s.source(), "link time loaded") {
			t.Errorf("ParseSpec(%q) = %+v", text, s)
		}
		if err != nil || math.Abs(s.Rates.Pinned/1e9-gbps[0]) > 0.001 || math.Abs(s.Rates.Pageable/1e9-gbps[1]) > 0.001 {
			t.Errorf("ParseSpec(%q) = %+v, %v; want %v GB/s", text, s, err, gbps)
		}
		if given := strings.Contains(text, "gbps"); given != strings.Contains(s.source(), "as given") {
			t.Errorf("%s: source %q", text, s.source())
		}
	}
}

func TestParseSpecRefuses(t *testing.T) {
	for text, want := range map[string]string{ // part of the message
		"":                             "want auto",
		"gpu":                          "want auto",
		"auto:0":                       "no options",
		"all:0":                        "all takes no options",
		"cuda:0:":                      "link=LINK first",
		"cuda:0:gen3x8":                "link=LINK first",
		"cuda:0:gbps=3":                "cuda:0:link=gen3x8",
		"cuda:0:link=":                 "gen3x16",
		"cuda:0:link=gen3x8:gbps=8":    "faster than the line rate of Gen3 x8",
		"cuda:01:link=gen3x8":          "want auto",
		"cuda":                         "want auto",
		"cuda:":                        "want auto",
		"cuda:-1":                      "want auto",
		"cuda:+1":                      "want auto",
		"cuda:01":                      "want auto",
		"cuda:x":                       "want auto",
		"sim":                          "gen3x16",
		"sim:gen9x16":                  "gen3x16",
		"sim:gen3x16:":                 "gbps=X",
		"sim:gen3x16:gbps":             "above 0",
		"sim:gen3x16:gbps=0":           "above 0",
		"sim:gen3x16:gbps=5:gbps=6":    "gbps= is given twice",
		"sim:gen3x16:gbps=-1":          "above 0",
		"sim:gen3x16:gbps=NaN":         "above 0",
		"sim:gen3x16:gbps=Inf":         "faster than the line",
		"sim:gen3x16:gbps=16":          "faster than the line rate of Gen3 x16, 15.754 GB/s",
		"sim:gen3x16:pageable-gbps=16": "faster than the line",
		"sim:gen3x16:speed=1":          "gbps=X",
		"sim:gen3x16:gbps=1e-300":      "at least 0.01 GB/s",
		"sim:gen3x32":                  "gen3x16",
	} {
		if s, err := ParseSpec(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseSpec(%q) = %+v, %v; want an error with %q", text, s, err, want)
		}
	}
}

func FuzzParseSpec(f *testing.F) {
	for _, s := range []string{"auto", "cuda:0", "cuda:0:link=gen3x8", "sim:gen3x16:gbps=12.1:pageable-gbps=5.5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSpec(text)
		if err != nil {
			return
		}
		if line := s.Link.LineRate() * 1.0001; (s.Sim() || s.Loaded()) && !(s.Rates.Pinned > 0 && s.Rates.Pinned <= line && s.Rates.Pageable > 0 && s.Rates.Pageable <= line) {
			t.Errorf("%q: rates %+v", text, s.Rates)
		}
	})
}

func specs(t *testing.T, texts ...string) []Spec {
	t.Helper()
	var out []Spec
	for _, text := range texts {
		s, err := ParseSpec(text)
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
	if err != nil || !errors.Is(missing, ErrUnavailable) || len(devices) != len(autoLinks) {
		t.Errorf("auto: %d devices, missing %v, error %v; want assumed links and why", len(devices), missing, err)
	}
	for _, d := range devices {
		if !d.Info().Assumed {
			t.Errorf("%s is not marked assumed", d.Info().Spec)
		}
	}
	for _, text := range []string{"cuda:0", "all", "cuda:0:link=gen3x4"} {
		if _, _, err := Open(specs(t, "sim:gen3x4", text)); !errors.Is(err, ErrUnavailable) || !strings.HasPrefix(err.Error(), text+": ") {
			t.Errorf("%s: error %v, want why it cannot be had", text, err)
		}
	}
}
