package chart

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"

	"dlbench/results"
)

// Several reports give no more charts than one with many cases would, and each chart
// says what is assumed.
func TestFleet(t *testing.T) {
	for _, n := range []int{2, 4, 8} {
		charts := Charts(fleet(n))
		if len(charts) > 24 {
			t.Errorf("%d charts of %d machines", len(charts), n)
		}
		for _, c := range charts {
			assumed := strings.HasPrefix(c.Name, "pcie-batch-time") || strings.HasPrefix(c.Name, "pipeline")
			if assumed != strings.Contains(c.Title, "simulated") {
				t.Errorf("%d machines, %s: title %q", n, c.Name, c.Title)
			}
		}
	}
}

// What a report says is text, never markup, stays within the picture, and neither breaks
// the document nor stops a chart.
func TestHostileReports(t *testing.T) {
	const nasty = "</text><script>alert(1)</script>\x00\x1b[31m\xff\u202e\ufffe\r\n&amp;]]>\"'font-family:Liberation Sans;"
	var reports []*results.Report
	for range 2 {
		all := newReport("")
		for _, name := range slices.Sorted(maps.Keys(machinesOf)) {
			r := machinesOf[name]()
			all.Results, all.Verdict = append(all.Results, r.Results...), cmp.Or(r.Verdict, all.Verdict)
			all.Predictions = append(all.Predictions, r.Predictions...)
		}
		reports = append(reports, worded(all, nasty, func(s string) string { return s + nasty }))
	}
	charts := Charts(reports)
	if len(charts) < 10 {
		t.Fatalf("%d charts", len(charts))
	}
	for _, c := range charts {
		doc, texts := svgOf(t, c)
		if strings.Contains(string(doc), "<script") || strings.ContainsAny(string(doc), "\x00\x1b\u202e\ufffe") {
			t.Errorf("%s: more than text is drawn", c.Name)
		}
		if !slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, "</text><scri") }) {
			t.Errorf("%s: the label is not drawn: %q", c.Name, texts)
		}
	}
}
