package chart

import (
	"slices"
	"strings"
	"testing"

	"dlbench/results"
)

func TestPreprocessTexts(t *testing.T) {
	const (
		linear   = "linear scaling from one thread"
		control  = "control: independent work on as many threads"
		fitted   = "fitted law, within the threads it was fitted to"
		interval = "95 % interval of the median"
		siblings = "SMT siblings →"
		slower   = "slower cores →"
	)
	fewer := preprocessReport("", notebook)
	for i := range fewer.Results {
		r := &fewer.Results[i]
		r.Metrics = slices.DeleteFunc(r.Metrics, func(m results.Metric) bool { return m.Name == "control" })
		r.References, r.Metrics[0].Lo, r.Metrics[0].Min, r.Metrics[0].Max = nil, nil, 1, 1
	}
	for _, c := range []struct {
		name        string
		reports     []*results.Report
		chart       string
		once, never []string
	}{
		{"scaling", []*results.Report{preprocessReport("", workstation)}, "preprocess-scaling", []string{
			"Preprocessing by number of threads, online", "Each image is read, decoded and resampled when it is needed; median, higher is better",
			"throughput (images/s)", "threads", linear, control, fitted, interval, siblings, "demand of a GPU",
			"libjpeg-turbo 2.1.5: peak at 16 threads (USL, error 3.5 %)", "ResNet-50 on H100", "1\u00a0786 images/s",
			"AMD EPYC 7B13 · 8 cores with 16 threads, 3.1 GHz, governor performance · 2026-11-30 UTC · dlbench v0.1.0 · batch 32x225x225x3 float32, 19.44 MB",
			"demands too low to draw ↓: ResNet-152 148.1 images/s",
		}, []string{slower}},
		{"offline", []*results.Report{preprocessReport("", workstation)}, "preprocess-scaling-2", []string{"Preprocessing by number of threads, offline"}, nil},
		{"classes", []*results.Report{preprocessReport("", hybridPC)}, "preprocess-scaling", []string{
			slower, siblings, "throughput (images/s, logarithmic)", "threads (logarithmic)"}, nil},
		{"server", []*results.Report{preprocessReport("", server)}, "preprocess-scaling", []string{"64", "threads (logarithmic)"}, []string{siblings, slower}},
		{"bare", []*results.Report{fewer}, "preprocess-scaling", []string{linear}, []string{control, fitted, interval, siblings, "demand of a GPU"}},
		{"several", []*results.Report{preprocessReport("a", workstation), preprocessReport("b", notebook)}, "preprocess-scaling", []string{
			"Preprocessing by number of threads and machine, online, libjpeg-turbo 2.1.5", "a: SMT siblings above 8, peak at 16 threads (USL, error 3.5 %)", "b", linear}, []string{siblings}},
		{"stages", []*results.Report{preprocessReport("", workstation)}, "preprocess-stages", []string{
			"Processor time for one image, by stage", "processor time per image (ms)", "decode: JPEG to pixels", "other: in none of these",
			"663.3 µs, 820.0 images/s", "decode 1.45 ms", "resample 108 µs", "collate 36.8 µs", "read 55.0 µs", "offline"}, nil},
		{"decoders", []*results.Report{preprocessReport("", workstation)}, "preprocess-decoders", []string{
			"Preprocessing with one thread", "Median, longer is better; ×: ratio to the slowest", "throughput (images/s)", interval,
			"online, Go decoder", "508.4 images/s, 1 ×", "online, libjpeg-turbo 2.1.5", "820.0 images/s, 1.61 ×", "offline", "6\u00a0806 images/s, 13.4 ×"}, nil},
	} {
		charts, err := Charts(c.reports)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(charts, func(x Chart) bool { return x.Name == c.chart })
		if i < 0 {
			t.Fatalf("%s: no chart %s", c.name, c.chart)
		}
		_, texts := svgOf(t, charts[i])
		for _, s := range c.once {
			if n := count(texts, s); n != 1 {
				t.Errorf("%s: %q is there %d times, want once: %q", c.name, s, n, texts)
			}
		}
		for _, s := range c.never {
			if n := count(texts, s); n != 0 {
				t.Errorf("%s: %q is there", c.name, s)
			}
		}
	}
}

// What a report says is text, stays within the picture, and stops no chart.
func TestPreprocessOfHostileReport(t *testing.T) {
	nasty := "</text><script>alert(1)</script>\x00\x1b[31m\xff\u202e\ufffe\r\n&amp;]]>\"'"
	var reports []*results.Report
	for range 2 {
		r := preprocessReport(nasty, workstation)
		r.Host.CPU.Model, r.Host.CPU.Governor, r.Host.CPU.Usable = nasty, nasty, 1e-300
		for i := range r.Results {
			x := &r.Results[i]
			for _, key := range []string{"strategy", "decoder", "layout", "antialias"} {
				x.Params = x.Params.With(key, nasty)
			}
			x.Params = x.Params.With("threads", int64(i+1))
			x.Proof = results.RecordOf(map[string]any{"decoder": nasty, "siblings": nasty, "slower": -1e300})
			x.References[1].Name = "demand: " + nasty
			x.Fit = results.RecordOf(map[string]any{"model": "usl", "x1": 1e-300, "sigma": 1.0, "kappa": 1e5, "error": 1e300, "least": -1e300, "most": 1e300})
		}
		reports = append(reports, r)
	}
	charts, err := Charts(reports)
	if err != nil || len(charts) != 3 {
		t.Fatalf("%d charts, %v", len(charts), err)
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
