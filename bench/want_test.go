package bench

import "testing"

func TestDidYouMean(t *testing.T) {
	suites := []string{"pcie", "disk", "preprocess", "pipeline", "external"}
	gpus := []string{"a100", "a100-tf32", "v100", "h100-mlperf"}
	for _, c := range []struct {
		word  string
		known []string
		want  string
	}{
		{"disc", suites, "disk"},
		{"DISK", suites, "disk"},
		{"pci", suites, "pcie"},
		{"pre", suites, "preprocess"},
		{"pipelines", suites, "pipeline"},
		{"frobnicate", suites, ""},
		{"a", suites, ""},
		{"", suites, ""},
		{"a100-80gb", gpus, "a100"},
		{"h100", gpus, "h100-mlperf"},
		{"--ned", []string{"--need", "--seed"}, "--need"},
		{"cache=wram", []string{"cache=cold", "cache=warm"}, "cache=warm"},
		{"x", []string{"y"}, ""},
		{"rnu", []string{"run", "show"}, "run"},
	} {
		want := c.want
		if want != "" {
			want = "; did you mean " + want + "?"
		}
		if got := DidYouMean(c.word, c.known); got != want {
			t.Errorf("%q: got %q, want %q", c.word, got, want)
		}
	}
}
