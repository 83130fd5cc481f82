package theory

import (
	"math"
	"strings"
	"testing"
)

func TestParseDevice(t *testing.T) {
	for text, want := range map[string]Device{
		"auto":    {Auto: true},
		"all":     {All: true},
		"cuda:0":  {CUDA: true, Index: 0},
		"cuda:12": {CUDA: true, Index: 12},
	} {
		want.Text = text
		if s, err := ParseDevice(text); err != nil || s != want {
			t.Errorf("ParseDevice(%q) = %+v, %v", text, s, err)
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
		s, err := ParseDevice(text)
		if loaded := strings.HasPrefix(text, "cuda"); s.Sim() == loaded || s.Loaded() != loaded ||
			s.Loaded() != strings.HasPrefix(s.Source(), "link time loaded") {
			t.Errorf("ParseDevice(%q) = %+v", text, s)
		}
		if err != nil || math.Abs(s.Rates.Pinned/1e9-gbps[0]) > 0.001 ||
			math.Abs(s.Rates.Pageable/1e9-gbps[1]) > 0.001 {
			t.Errorf("ParseDevice(%q) = %+v, %v; want %v GB/s", text, s, err, gbps)
		}
		if given := strings.Contains(text, "gbps"); given != strings.Contains(s.Source(), "as given") {
			t.Errorf("%s: source %q", text, s.Source())
		}
	}
}

func TestParseDeviceRefuses(t *testing.T) {
	for text, want := range map[string]string{ // part of the message
		"":                             "want auto",
		"gpu":                          "want auto",
		"auto:0":                       "want auto",
		"all:0":                        "want auto",
		"cuda:0:":                      "link=LINK",
		"cuda:0:gen3x8":                "link=LINK",
		"cuda:0:gbps=3":                "cuda:N[:link=LINK]",
		"cuda:0:link=":                 "gen3x16",
		"cuda:0:link=gen3x8:gbps=8":    "to the line rate of Gen3 x8",
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
		"sim:gen3x16:gbps":             "from 0.01",
		"sim:gen3x16:gbps=0":           "from 0.01",
		"sim:gen3x16:gbps=-1":          "from 0.01",
		"sim:gen3x16:gbps=NaN":         "from 0.01",
		"sim:gen3x16:gbps=Inf":         "the line rate",
		"sim:gen3x16:gbps=16":          "the line rate of Gen3 x16, 15.754 GB/s",
		"sim:gen3x16:pageable-gbps=16": "the line rate",
		"sim:gen3x16:speed=1":          "gbps=X",
		"sim:gen3x16:gbps=1e-300":      "from 0.01",
		"sim:gen3x32":                  "gen3x16",
	} {
		if s, err := ParseDevice(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseDevice(%q) = %+v, %v; want an error with %q", text, s, err, want)
		}
	}
}

func FuzzParseDevice(f *testing.F) {
	for _, s := range []string{"auto", "cuda:0", "cuda:0:link=gen3x8", "sim:gen3x16:gbps=12.1:pageable-gbps=5.5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseDevice(text)
		if err != nil {
			return
		}
		if line := s.Link.LineRate() * 1.0001; (s.Sim() || s.Loaded()) && !(s.Rates.Pinned > 0 &&
			s.Rates.Pinned <= line && s.Rates.Pageable > 0 && s.Rates.Pageable <= line) {
			t.Errorf("%q: rates %+v", text, s.Rates)
		}
	})
}
