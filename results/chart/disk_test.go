package chart

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dlbench/results"
)

// text writes what p is, in base units scaled by unit.
func (p point) text(unit float64) string {
	s := fmt.Sprintf("%.4g", p.Median/unit)
	if p.Spread != (span{}) {
		s += fmt.Sprintf(" %.4g-%.4g", p.Spread.Lo/unit, p.Spread.Hi/unit)
	}
	if p.Range {
		s += " range"
	}
	return s
}

// summary writes what was extracted, times in ms.
func (g diskGroup) summary() string {
	s := strings.Join(g.Title, " | ") + ":"
	for _, t := range g.Peaks {
		s += fmt.Sprintf(" %.4g", t*1e3)
	}
	s += fmt.Sprintf(" article %g", g.Article*1e3)
	for _, b := range g.Bars {
		s += "; " + b.Cache + " " + b.text(1e-3)
		for _, f := range []struct {
			is   bool
			name string
		}{{b.Failed, " failed"}, {b.Assumed, " assumed"}, {b.Unproven, " unproven"}} {
			if f.is {
				s += f.name
			}
		}
	}
	return s
}

func compare(t *testing.T, have, want []string) {
	t.Helper()
	for i := range max(len(have), len(want)) {
		switch {
		case i >= len(want):
			t.Errorf("%d: %s; want no more", i, have[i])
		case i >= len(have):
			t.Errorf("%d: nothing; want %s", i, want[i])
		case have[i] != want[i]:
			t.Errorf("%d: %s\nwant %s", i, have[i], want[i])
		}
	}
}

func TestDiskTimes(t *testing.T) {
	got := diskTimesOf([]*results.Report{nvmeReport("rig"), hddReport("", "hdd")})
	if len(got) != 1 {
		t.Fatalf("%d charts, want 1", len(got))
	}
	var have []string
	for _, g := range got[0].Groups {
		have = append(have, g.summary())
	}
	compare(t, have, []string{
		"JPEG files | 3.5 MB a batch: 0.4443 1.029 5.833 35 article 0; cold-data 6.9 6.762-7.176; direct 5.5 5.39-5.72; warm 1.4 1.372-1.456",
		"tar shards | 3.5 MB a batch: 0.4443 1.029 5.833 35 article 0; cold-data 2.5 2.45-2.6; direct 0 failed; warm 1.6 1.568-1.664",
		"raw samples | 19.5 MB a batch: 2.479 5.744 32.55 195.3 article 0; cold-data 16.8 16.46-17.47; direct 13.2 12.94-13.73; warm 3 2.94-3.12",
		"tensor | 19.44 MB a batch: 2.468 5.718 32.4 194.4 article 185; cold-data 13.7 13.43-14.25 unproven; direct 14 13.72-14.56; warm 4 3.92-4.16",
		"JPEG files | 3.5 MB a batch | assumed disk hdd: 0 1.029 5.833 35 article 0; paced 440 assumed",
		"tar shards | 3.5 MB a batch | assumed disk hdd: 0 1.029 5.833 35 article 0; paced 35.6 assumed",
		"raw samples | 19.5 MB a batch | assumed disk hdd: 0 5.744 32.55 195.3 article 0; paced 604 assumed",
		"tensor | 19.44 MB a batch | assumed disk hdd: 0 5.718 32.4 194.4 article 185; paced 207.3 assumed",
	})
}

// A report that was read from its file has the same chart: files do not say which
// parameters go without saying.
func TestDiskTimesOfFile(t *testing.T) {
	rep := nvmeReport("")
	for i := range rep.Results {
		for j := range rep.Results[i].Params {
			rep.Results[i].Params[j].Implied = false
		}
	}
	if got := diskTimesOf([]*results.Report{rep}); len(got) != 1 || len(got[0].Groups) != 4 {
		t.Errorf("have %+v, want four stores", got)
	}
}

// A chart holds what belongs in it and leaves the rest of a report alone.
func TestDiskTimesLeavesOut(t *testing.T) {
	change := func(f func(*results.Result)) results.Result {
		r := diskResult("tensor", "warm", 1, articleBytes, 1)
		f(&r)
		return r
	}
	rep := newReport("")
	rep.Results = []results.Result{
		change(func(r *results.Result) { r.Suite = "pcie" }),
		change(func(r *results.Result) { r.Status = results.Skipped }),
		change(func(r *results.Result) { r.Metrics = nil }),
		change(func(r *results.Result) { r.Metrics[0].Median = 0 }),
		change(func(r *results.Result) { r.Metrics[0].Median = 1e300 }),
		change(func(r *results.Result) { r.Metrics[0].Median = 1e-300 }),
		diskResult("tensor", "warm", 2, articleBytes, 2e-3),
		reorder(diskResult("tensor", "direct", 1, articleBytes, 1), "shuffled"),
		diskResult("tensor", "warm", 1, articleBytes, 4e-3),
		diskResult("tensor", "warm", 1, articleBytes, 8e-3), // some other parameter
	}
	got := diskTimesOf([]*results.Report{rep})
	if len(got) != 1 || len(got[0].Groups) != 1 || len(got[0].Groups[0].Bars) != 1 || got[0].Groups[0].Bars[0].Median != 4e-3 {
		t.Errorf("have %+v, want the plain case alone", got)
	}
	rep.Results = rep.Results[:8]
	got = diskTimesOf([]*results.Report{rep})
	if len(got) != 1 || len(got[0].Groups) != 1 || got[0].Groups[0].Title[0] != "tensor, shuffled" {
		t.Errorf("have %+v, want the order that there is", got)
	}
	rep.Results = []results.Result{failing(diskResult("tensor", "warm", 1, articleBytes, 1))}
	if got := diskTimesOf([]*results.Report{rep}); len(got) != 0 {
		t.Errorf("have %+v of failures alone", got)
	}
}

func TestBatchBytes(t *testing.T) {
	for _, c := range []struct {
		bytes, want int64
	}{{articleBytes, articleBytes}, {19_450_123, articleBytes}, {19_529_728, 19_500_000}, {3_512_345, 3_510_000}, {7, 7}} {
		r := diskResult("tensor", "warm", 1, c.bytes, 0.013)
		if have := batchBytes(newReport(""), &r); have != c.want {
			t.Errorf("%d: have %d, want %d", c.bytes, have, c.want)
		}
	}
	r := diskResult("tensor", "warm", 1, articleBytes, 1)
	r.Metrics = r.Metrics[:1]
	if have := batchBytes(newReport(""), &r); have != 0 {
		t.Errorf("without bandwidth: %d", have)
	}
}

// The axis is linear from 0 unless times differ too much, and says so.
func TestDiskTimesAxis(t *testing.T) {
	for _, c := range []struct {
		least float64
		log   bool
	}{{2.5e-3, false}, {1.9e-3, true}} { // the greatest is 194.4 ms: the batch at 100 MB/s
		rep := newReport("")
		rep.Results = []results.Result{diskResult("tensor", "warm", 1, articleBytes, c.least*1.1)}
		rep.Results[0].Metrics[0].Lo = new(c.least)
		rep.Results[0].References = rep.Results[0].References[:2]
		f := diskTimesOf([]*results.Report{rep})[0].figure()
		if log := strings.Contains(f.x, "logarithmic"); log != c.log || (f.plot.X.Min == 0) == log {
			t.Errorf("from %g s: axis %q from %g", c.least, f.x, f.plot.X.Min)
		}
	}
}

func TestDiskReaders(t *testing.T) {
	got := diskReadersOf([]*results.Report{nvmeReport("")})
	if len(got) != 1 {
		t.Fatalf("%d charts, want 1", len(got))
	}
	var have []string
	for _, l := range got[0].Lines {
		s := fmt.Sprintf("%d %s:", l.Source, l.legendName())
		for _, p := range l.Points {
			s += fmt.Sprintf(" %d %s", p.Readers, p.text(1e9))
			if p.Unproven {
				s += " unproven"
			}
			s += ";"
		}
		have = append(have, s)
	}
	compare(t, have, []string{
		"0 JPEG files, cold-data: 1 0.5072 0.4877-0.5176; 4 1.591 1.53-1.623; 16 2.672 2.569-2.726;",
		"1 raw samples, direct: 1 1.48 1.423-1.51; 4 2.751 2.645-2.807; 16 3.052 2.934-3.114 unproven;",
		"2 tensor, direct: failed with 16 readers: 1 1.389 1.335-1.417; 4 2.945 2.832-3.006;",
	})
	if want := []diskPeak{{"SATA3 peak", 600e6}, {"NVMe peak", 3.4e9}}; !slices.Equal(got[0].Peaks, want) {
		t.Errorf("peaks %v, want %v", got[0].Peaks, want)
	}
}

// One number of readers shows nothing of readers.
func TestDiskReadersNone(t *testing.T) {
	rep := newReport("")
	rep.Results = []results.Result{diskResult("raw", "direct", 4, rawBytes, 1), failing(diskResult("raw", "direct", 8, rawBytes, 1)),
		diskResult("tensor", "direct", 4, rawBytes, 1), diskResult("raw", "warm", 8, rawBytes, 1)}
	if got := diskReadersOf([]*results.Report{rep}); len(got) != 0 {
		t.Errorf("have %+v", got)
	}
	rep.Results = append(rep.Results, diskResult("raw", "warm", 1, rawBytes, 1))
	got := diskReadersOf([]*results.Report{rep})
	if len(got) != 1 || len(got[0].Lines) != 2 || got[0].Lines[0].Cache != "direct" || len(got[0].Lines[1].Points) != 2 {
		t.Errorf("have %+v, want the line with a failure and the one of two numbers", got)
	}
}

func TestDiskLatencies(t *testing.T) {
	names := func(d diskLatencies) []string {
		var all []string
		for _, l := range d.Lines {
			s := fmt.Sprintf("%d %s", l.Source, l.legendName())
			if l.Unproven {
				s += ", unproven"
			}
			all = append(all, s)
		}
		return all
	}
	got := diskLatenciesOf([]*results.Report{nvmeReport("")})
	if len(got) != 1 || got[0].LeftOut != 5 {
		t.Fatalf("have %+v, want one chart without five of the cases", got)
	}
	compare(t, names(got[0]), []string{
		"0 JPEG files, cold-data: median 216 µs, 99 % 462 µs", "0 JPEG files, direct: median 172 µs, 99 % 368 µs",
		"1 tar shards, cold-data: median 625 µs, 99 % 1.34 ms", "1 tar shards, direct: failed",
		"2 raw samples, cold-data: median 525 µs, 99 % 1.13 ms", "2 raw samples, direct: median 412 µs, 99 % 884 µs",
		"3 tensor, cold-data: median 13.7 ms, 99 % 29.4 ms, unproven", "3 tensor, direct: median 14.0 ms, 99 % 30.0 ms",
	})
	rep := nvmeReport("")
	rep.Results = append(rep.Results[9:12], hddReport("", "hdd").Results...)
	got = diskLatenciesOf([]*results.Report{rep})
	if len(got) != 1 || len(got[0].Lines) != 7 || got[0].LeftOut != 0 || got[0].Lines[6].Name != "tensor, assumed disk hdd" {
		t.Errorf("have %+v, want one chart with both disks", got)
	}
}

func TestQuantilesOf(t *testing.T) {
	r := results.Result{Metrics: []results.Metric{{Name: "read_latency", Quantiles: []results.Quantile{
		{P: 0.9, Value: 4}, {P: 0.1, Value: 1}, {P: 0.1, Value: 2}, {P: 0.3, Value: 0}, {P: 0.4, Value: 2}, {P: 0.5, Value: 1.5},
		{P: 0, Value: 1}, {P: 1, Value: 9}, {P: 0.8, Value: 1e300}, {P: 0.95, Value: 1e-300},
	}}}}
	got := quantilesOf(&r, "read_latency")
	if want := []results.Quantile{{P: 0.1, Value: 1}, {P: 0.4, Value: 2}, {P: 0.9, Value: 4}}; !slices.Equal(got, want) {
		t.Errorf("have %v, want %v", got, want)
	}
	l := latencyLine{Points: got}
	for p, want := range map[float64]float64{0.05: 0, 0.1: 1, 0.4: 2, 0.65: 3, 0.9: 4, 0.99: 0} {
		if have := l.at(p); have < want-1e-9 || have > want+1e-9 {
			t.Errorf("quantile %g: have %g, want %g", p, have, want)
		}
	}
	if got := quantilesOf(&r, "other"); got != nil {
		t.Errorf("of no metric: %v", got)
	}
}

func TestDiskTitles(t *testing.T) {
	for _, c := range []struct {
		disk results.Disk
		want string
	}{
		{results.Disk{Name: "sda", Model: "WDC", Kind: results.DiskSpinning, Link: "SATA 6.0 Gb/s", FileSystem: "xfs"}, "disk sda WDC, hard disk, SATA 6.0 Gb/s, xfs"},
		{results.Disk{Name: "vda", Kind: results.DiskVirtio, Link: "unknown", FileSystem: "overlay"}, "disk vda, virtio, overlay"},
		{results.Disk{Name: "unknown", Kind: results.DiskUnknown}, "disk unknown, kind unknown, file system unknown"},
	} {
		if have := diskTitle([]results.Disk{c.disk}); have != c.want {
			t.Errorf("have %q, want %q", have, c.want)
		}
	}
	if have := diskTitle(nil); have != "disk unknown" {
		t.Errorf("have %q of none", have)
	}
}

func TestLogTicks(t *testing.T) {
	for _, c := range []struct {
		min, max float64
		want     string
	}{
		{0.9e-3, 11e-3, "1 ms 2 ms 5 ms 10 ms"},
		{0.3e-3, 0.5, "1 ms . . 10 ms . . 100 ms . ."},
		{1e-6, 1e6, "1 µs . 100 µs . 10 ms . 1 s . 100 s . 1e+04 s . 1e+06 s"},
	} {
		var have []string
		for _, tick := range logTicks(7, timeLabel).Ticks(c.min, c.max) {
			have = append(have, tick.Label)
			if tick.Label == "" {
				have[len(have)-1] = "."
			}
		}
		if s := strings.Join(have, " "); strings.TrimPrefix(s, ". ") != c.want {
			t.Errorf("%g to %g: have %q, want %q", c.min, c.max, s, c.want)
		}
	}
}

// What a report says is text, and stays within the picture.
func TestDiskOfHostileReport(t *testing.T) {
	nasty := "</text><script>alert(1)</script>\x00\x1b[31m\xff\u202e\ufffe\r\n&amp;]]>\"'"
	var reports []*results.Report
	for range 2 {
		r := hddReport(nasty, nasty)
		d := &r.Host.Disks[0]
		d.Name, d.Model, d.Kind, d.Link, d.FileSystem, r.Config.DType = nasty, nasty, nasty, nasty, nasty, nasty
		for i, key := range []string{"store", "cache"} {
			x := diskResult("raw", "direct", int64(1+3*i), rawBytes, 1)
			x.Params = x.Params.With("order", nasty).With(key, nasty)
			x.Name += "/order=" + nasty
			x.Proof = results.RecordOf(map[string]any{"proven": nasty})
			r.Results = append(r.Results, x, reorder(diskResult("raw", "direct", int64(1+3*i), rawBytes, 1), nasty))
		}
		reports = append(reports, r)
	}
	charts, err := Charts(reports)
	if err != nil || len(charts) < 3 {
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

func TestDiskTexts(t *testing.T) {
	const hatched, hollow = unprovenMeaning, assumedMeaning
	both := append(nvmeReport("").Results, hddReport("", "hdd").Results...)
	one := nvmeReport("")
	one.Results = both
	for _, c := range []struct {
		name        string
		report      *results.Report
		chart       string
		once, never []string
	}{
		{"measured", nvmeReport(""), "disk-batch-time", []string{
			"Time to read one batch from disk", "One reader, batch of 32 images, each store in its usual order; median, shorter is better",
			"time per batch (logarithmic: compare the ends of the bars, not their lengths)",
			"tensor", "19.44 MB a batch", "13.70 ms, unproven", "failed", hatched, "95 % interval of the median",
			"link of the disk, 7.877 GB/s", "NVMe peak, 3.4 GB/s", "SATA3 peak, 600 MB/s", "hard disk, 100 MB/s", "article's hard disk: 185 ms (100 MiB/s)",
			"AMD EPYC 7B13 · disk nvme0n1 Samsung SSD 990 PRO 2TB, nvme, Gen4 x4, ext4 · 2026-11-30 UTC · dlbench v0.1.0",
		}, []string{hollow}},
		{"assumed", hddReport("", "hdd"), "disk-batch-time", []string{"Time to read one batch from disk, assumed disk", hollow, "440.0 ms"},
			[]string{hatched, "95 % interval of the median", "warm"}},
		{"both", one, "disk-batch-time", []string{"Time to read one batch from disk, assumed disk where outlined", hollow, hatched}, nil},
		{"readers", nvmeReport(""), "disk-readers", []string{"Bandwidth of reading from disk by number of readers", "bandwidth (GB/s)", "readers (logarithmic)",
			"tensor, direct: failed with 16 readers", "16", "NVMe peak", "3.4 GB/s", hatched}, []string{"link of the disk", hollow}},
		{"readers of both", one, "disk-readers", []string{"Bandwidth of reading from disk by number of readers, assumed disk where hollow", "bandwidth (GB/s, logarithmic)", hollow}, nil},
		{"latency", nvmeReport(""), "disk-latency", []string{"Latency of single reads from disk", "time of a read (logarithmic)", "share of reads (%)",
			"tar shards, direct: failed", "100", hatched}, []string{hollow}},
		{"latency assumed", hddReport("", "hdd"), "disk-latency", []string{"Latency of single reads from disk, assumed disk", hollow}, []string{hatched}},
	} {
		charts, err := Charts([]*results.Report{c.report})
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
