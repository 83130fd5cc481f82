package encode

import (
	"strings"
	"testing"

	"dlbench/results"
)

func TestTableOfLoaders(t *testing.T) {
	loader := func(name string, p *results.PixelDifference) results.Result {
		return results.Result{Suite: "external", Name: "external/loader=" + name, Status: results.OK,
			Params:  results.Params{{Key: "loader", Value: name}},
			Proof:   results.RecordOf(results.ExternalProof{Pixels: p}),
			Metrics: []results.Metric{{Name: "memory", Unit: results.Bytes, Median: 1e9, Min: 1e9, Max: 1e9}}}
	}
	r := &results.Report{Results: []results.Result{loader("mine", nil),
		loader("opencv", &results.PixelDifference{Mean: 0.412, Max: 7, Against: "Pillow 13.0.0"})}}
	text := strings.Join(strings.Fields(textOf(t, r, LeastWidth)), " ") // however narrow it is
	for _, want := range []string{"pixels off Pillow 13.0.0's, of 256 levels, in one crop: opencv 0.41 (at most 7)",
		"PSS of all processes"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
