package chart

import (
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
	hostile := func(r *results.Report, keys ...string) *results.Report {
		r.Label, r.Host.CPU.Model, r.Host.CPU.Governor, r.Host.CPU.Usable, r.Tool.Version = nasty, nasty, nasty,
			1e-300, nasty
		r.Host.GPUs = []results.GPU{{Index: new(0), Name: nasty}}
		r.Host.Disks = []results.Disk{{Name: nasty, Model: nasty, Kind: nasty, Link: nasty, FileSystem: nasty}}
		for i := range r.Results {
			x := &r.Results[i]
			for j, key := range keys {
				if i%len(keys) == j {
					x.Params = x.Params.With(key, nasty)
				}
			}
			x.Name += "/order=" + nasty
			x.Proof = results.RecordOf(map[string]any{"decoder": nasty, "siblings": nasty, "slower": -1e300,
				"proven": nasty})
			x.Fit = results.RecordOf(map[string]any{"model": "usl", "x1": 1e-300, "sigma": 1.0, "kappa": 1e5,
				"least": -1e300})
			for j := range x.References {
				if strings.HasPrefix(x.References[j].Name, results.DemandPrefix) {
					x.References[j].Name = results.DemandPrefix + nasty
				}
			}
		}
		return r
	}
	var reports []*results.Report
	for range 2 {
		cpu := hostile(preprocessReport("", workstation), "strategy", "decoder", "layout", "antialias")
		for _, r := range []*results.Report{
			hostile(gpuReport("", 3, "gen4x16"), "device", "mem", "numa"), hostile(hddReport("", nasty), "store",
				"cache", "order"),
			hostile(nvmeReport(""), "store", "cache", "order", "readers"), hostile(simPipeReport(""), "device",
				"strategy", "free"),
		} {
			cpu.Results = append(cpu.Results, r.Results...)
		}
		reports = append(reports, cpu)
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
