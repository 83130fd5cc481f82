package chart

import (
	"slices"
	"strings"
	"testing"

	"dlbench/results"
)

// What a chart says: each text of once stands in it once, and none of never.
func TestTexts(t *testing.T) {
	const (
		interval = "95 % interval of the median"
		link     = "assumed link: paced stand-ins, not a measurement"
		rate     = "line rate of the link"
		band     = "protocol band: packets of 64 to 256 B"
		theory   = "article's theory (1 GiB/s a lane: 9 % faster than the line)"
		practice = "article's practice (its rule of thumb: twice the theory)"
		others   = "published by others for that link and memory"
		disk     = "assumed disk: paced stand-ins, not a measurement"
		linear   = "linear scaling from one thread"
		control  = "control: independent work on as many threads"
		fitted   = "fitted law, within the threads it was fitted to"
		siblings = "SMT siblings →"
		slower   = "slower cores →"
	)
	twoDisks := nvmeReport("")
	twoDisks.Results = append(twoDisks.Results, hddReport("", "hdd").Results...)
	bare := preprocessReport("", notebook)
	for i := range bare.Results {
		r := &bare.Results[i]
		r.Metrics = slices.DeleteFunc(r.Metrics, func(m results.Metric) bool { return m.Name == "control" })
		r.References, r.Metrics[0].Lo, r.Metrics[0].Min, r.Metrics[0].Max = nil, nil, 1, 1
	}
	for _, c := range []struct {
		chart       string
		reports     []*results.Report
		once, never []string
	}{
		{"pcie-batch-time", one(simReport("")), []string{
			"Time to copy one batch to the GPU, assumed link where outlined", "time per batch (ms)", "measured", link,
			rate, band, theory,
			practice, others, "Gen3 x4, assumed link", "1.542 ms", "12.34 ms", "host memory copy",
			"AMD EPYC 7B13 · no GPU · 2026-11-30 UTC · dlbench v0.1.0 · batch 32x225x225x3 float32, 19.44 MB"}, nil},
		{"pcie-batch-time", one(gpuReport("rig", 1, "gen4x16")), []string{
			"Time to copy one batch to the GPU", "measured", interval, rate, band, others,
			"cuda:0 Fake GPU 0, Gen4 x16", "registered",
			"staged", "771.2 µs",
			"rig: AMD EPYC 7B13 · Fake GPU 0 · 2026-11-30 UTC · dlbench v0.1.0 · batch 32x225x225x3 float32, 19.44 MB",
		}, []string{link, theory, practice}},
		{"pcie-batch-time", []*results.Report{simReport("laptop"), gpuReport("rig", 1, "gen3x16")}, []string{
			"Time to copy one batch to the GPU, by machine, assumed link where outlined", "measured", link, interval,
			rate, band, theory,
			practice, others, "pinned memory", "pinned memory, assumed link", "copy within main memory, pageable"},
			nil},
		{"pcie-bandwidth-size", one(gpuReport("", 2, "gen4x16")), []string{
			"Bandwidth of copies to the GPU by their size", "size of a copy (bytes)", "bandwidth (GB/s)", "4 KiB",
			"64 MiB",
			"cuda:0 Fake GPU 0, Gen4 x16, pinned", "cuda:1 Fake GPU 1, Gen4 x16, pageable", interval, rate, band,
			"Gen4 x16",
			"31.51 GB/s", "batch 19.44 MB"}, []string{link, "registered"}},
		{"disk-batch-time", one(nvmeReport("")), []string{
			"Time to read one batch from disk",
			"Batch of 32 images, one reader, each store in its usual order; median, shorter is better",
			"time per batch (logarithmic): compare ends, not lengths", "tensor, 19.44 MB a batch",
			"13.70 ms, unproven", "failed",
			unprovenMeaning, interval, "link of the disk, 7.877 GB/s", "NVMe peak, 3.4 GB/s", "SATA3 peak, 600 MB/s",
			"hard disk, 100 MB/s", "article's hard disk: 185 ms (100 MiB/s)",
			"AMD EPYC 7B13 · disk nvme0n1 Samsung SSD 990 PRO 2TB, nvme, Gen4 x4, ext4 · 2026-11-30 UTC · dlbench v0.1.0",
		}, []string{disk}},
		{"disk-batch-time", one(hddReport("", "hdd")),
			[]string{"Time to read one batch from disk, assumed disk hdd", "440.0 ms",
				"assumed disk hdd: paced stand-ins, not a measurement"}, []string{unprovenMeaning, interval}},
		{"disk-batch-time", one(twoDisks),
			[]string{"Time to read one batch from disk, assumed disk hdd where outlined", unprovenMeaning}, nil},
		{"disk-readers", one(nvmeReport("")),
			[]string{"Bandwidth of reading from disk by number of readers", "bandwidth (GB/s)",
				"readers (logarithmic)", "tensor, direct: failed with 16 readers", "16", "NVMe peak", "3.4 GB/s",
				unprovenMeaning,
			}, []string{"link of the disk", disk}},
		{"disk-readers", one(twoDisks), []string{"Bandwidth of reading from disk by number of readers, assumed disk where hollow",
			"bandwidth (logarithmic)", disk}, nil},
		{"disk-latency", one(nvmeReport("")),
			[]string{"Latency of single reads from disk", "time of a read (logarithmic)",
				"share of reads (%)", "tar shards, direct: failed", "100", unprovenMeaning}, []string{disk}},
		{"disk-latency", one(hddReport("", "hdd")), []string{"Latency of single reads from disk, assumed disk", disk},
			[]string{unprovenMeaning}},
		{"preprocess-scaling", one(preprocessReport("", workstation)), []string{
			"Preprocessing by number of threads, online",
			"Each image is read, decoded and resampled when it is needed; median, higher is better",
			"throughput (images/s)", "threads", linear, control, fitted, interval, siblings, "demand of a GPU",
			"libjpeg-turbo 2.1.5: peak at 16 threads (USL, error 3.5 %)", "ResNet-50 on H100", "1786 images/s",
			"AMD EPYC 7B13 · 8 cores with 16 threads, 3.1 GHz, governor performance · 2026-11-30 UTC · dlbench v0.1.0 · " +
				"batch 32x225x225x3 float32, 19.44 MB",
			"demands too low to draw ↓: ResNet-152 148.1 images/s"}, []string{slower}},
		{"preprocess-scaling-2", one(preprocessReport("", workstation)),
			[]string{"Preprocessing by number of threads, offline"}, nil},
		{"preprocess-scaling", one(preprocessReport("", hybridPC)),
			[]string{slower, siblings, "throughput (images/s, logarithmic)",
				"threads (logarithmic)"}, nil},
		{"preprocess-scaling", one(preprocessReport("", server)), []string{"64", "threads (logarithmic)"},
			[]string{siblings, slower}},
		{"preprocess-scaling", one(bare), []string{linear},
			[]string{control, fitted, interval, siblings, "demand of a GPU"}},
		{"preprocess-scaling", []*results.Report{preprocessReport("a", workstation), preprocessReport("b", notebook)},
			[]string{
				"Preprocessing by number of threads and machine, online, libjpeg-turbo 2.1.5",
				"a: SMT siblings above 8, peak at 16 threads (USL, error 3.5 %)", "b", linear}, []string{siblings}},
		{"preprocess-stages", one(preprocessReport("", workstation)), []string{
			"Processor time for one image, by stage", "processor time per image (ms)", "decode: JPEG to pixels",
			"other: in none of these",
			"663.3 µs, 820 images/s", "decode 1.448 ms", "resample 108.0 µs", "collate 36.80 µs", "read 55.00 µs",
			"offline"}, nil},
		{"preprocess-decoders", one(preprocessReport("", workstation)), []string{
			"Preprocessing with one thread", "Median, longer is better; ×: ratio to the slowest",
			"throughput (images/s)", interval,
			"Go decoder", "508.4 images/s, 1 ×", "libjpeg-turbo 2.1.5", "820 images/s, 1.613 ×",
			"6806 images/s, 13.39 ×"}, nil},
		{"pipeline-step-time", one(simPipeReport("")), []string{
			"Time of a training step and what the device waits for, assumed link and step and disk",
			"assumed link and step and disk: paced stand-ins, not a measurement", "413.8 ms, 52.2 %",
			"time per step (ms)",
			"stall while the loop waited for a batch"}, []string{interval, "failed"}},
		{"pipeline-step-time", one(gpuPipeReport("")), []string{
			"Time of a training step and what the device waits for", "failed", "50.10 ms, 99.8 %", interval},
			[]string{"measured"}},
		{"pipeline-feed", one(simPipeReport("")), []string{"Images that the loader feeds to the device, assumed link",
			"677.1 images/s, 47.26 ms", "ResNet-152: 148.1 images/s, 216.0 ms", "throughput (images/s)"},
			[]string{interval}},
		{"pipeline-time", one(simPipeReport("")), []string{"Step time over the run, assumed link and step and disk",
			"the device works 216 ms"}, nil},
	} {
		charts, err := Charts(c.reports)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(charts, func(x Chart) bool { return x.Name == c.chart })
		if i < 0 {
			t.Fatalf("no chart %s", c.chart)
		}
		_, texts := svgOf(t, charts[i])
		for _, s := range c.once {
			if n := count(texts, s); n != 1 {
				t.Errorf("%s: %q is there %d times, want once: %q", c.chart, s, n, texts)
			}
		}
		for _, s := range c.never {
			if slices.Contains(texts, s) {
				t.Errorf("%s: %q is there", c.chart, s)
			}
		}
	}
}

// Several reports give no more charts than one with many cases would, and each chart
// says what is assumed.
func TestFleet(t *testing.T) {
	for _, n := range []int{2, 4, 8} {
		charts, err := Charts(fleet(n))
		if err != nil {
			t.Fatal(err)
		}
		if len(charts) > 24 {
			t.Errorf("%d charts of %d machines", len(charts), n)
		}
		for _, c := range charts {
			assumed := strings.HasPrefix(c.Name, "pcie-batch-time") || strings.HasPrefix(c.Name, "pipeline")
			if assumed != strings.Contains(c.Title, "assumed") {
				t.Errorf("%d machines, %s: title %q", n, c.Name, c.Title)
			}
		}
	}
}

// What a report says is text, never markup, stays within the picture, and neither breaks
// the document nor stops a chart.
func TestHostileReports(t *testing.T) {
	const nasty = "</text><script>alert(1)</script>\x00\x1b[31m\xff\u202e\ufffe\r\n&amp;]]>\"'font-family:Liberation Sans;"
	host := func(r *results.Report) *results.Report {
		r.Host.CPU.Model, r.Host.CPU.Governor, r.Host.CPU.Usable, r.Tool.Version, r.Config.DType = nasty, nasty,
			1e-300, nasty, nasty
		r.Host.GPUs = []results.GPU{{Index: new(0), Name: nasty}}
		r.Host.Disks = []results.Disk{{Name: nasty, Model: nasty, Kind: nasty, Link: nasty, FileSystem: nasty}}
		return r
	}
	pcie := func() *results.Report {
		r := host(gpuReport(nasty, 2, "gen4x16"))
		r.Config.DType = "float32"
		for i := range r.Results {
			p := &r.Results[i].Params
			if p.Text("device") == "cuda:1" {
				*p = p.With("device", nasty)
			}
			if p.Text("mem") == "pageable" {
				*p = p.With("mem", nasty)
			}
		}
		return r
	}
	disk := func() *results.Report {
		r := host(hddReport(nasty, nasty))
		for i, key := range []string{"store", "cache"} {
			x := diskResult("raw", "direct", int64(1+3*i), rawBytes, 1)
			x.Params = x.Params.With("order", nasty).With(key, nasty)
			x.Name += "/order=" + nasty
			x.Proof = results.RecordOf(map[string]any{"proven": nasty})
			r.Results = append(r.Results, x, reorder(diskResult("raw", "direct", int64(1+3*i), rawBytes, 1), nasty))
		}
		return r
	}
	preprocess := func() *results.Report {
		r := host(preprocessReport(nasty, workstation))
		for i := range r.Results {
			x := &r.Results[i]
			for _, key := range []string{"strategy", "decoder", "layout", "antialias"} {
				x.Params = x.Params.With(key, nasty)
			}
			x.Params = x.Params.With("threads", int64(i+1))
			x.Proof = results.RecordOf(map[string]any{"decoder": nasty, "siblings": nasty, "slower": -1e300})
			x.References[1].Name = results.DemandPrefix + nasty
			x.Fit = results.RecordOf(map[string]any{"model": "usl", "x1": 1e-300, "sigma": 1.0, "kappa": 1e5, "error": 1e300,
				"least": -1e300, "most": 1e300})
		}
		return r
	}
	for name, c := range map[string]struct {
		report func() *results.Report
		charts int
	}{"pcie": {pcie, 3}, "disk": {disk, 3}, "preprocess": {preprocess, 3}} {
		charts, err := Charts([]*results.Report{c.report(), c.report()})
		if err != nil || len(charts) < c.charts {
			t.Fatalf("%s: %d charts, %v", name, len(charts), err)
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
}
