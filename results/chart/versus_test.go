package chart

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dlbench/results"
)

// fleet is n machines that each have results of all suites; the third has a GPU, and
// the others' links are assumed.
func fleet(n int) []*results.Report {
	var all []*results.Report
	for i := range n {
		label := []string{"laptop", "workstation", "gpu-server", "cloud-small", "cloud-big", "old-desktop", "eGPU box", "a node with a very long name"}[i%8]
		sim := simReport(label)
		if i == 2 {
			sim = gpuReport(label, 1, "gen5x16")
		}
		pipe := simPipeReport("")
		if i == 2 {
			pipe = gpuPipeReport("")
		}
		disk, cpu := nvmeReport(""), preprocessReport("", []machine{workstation, notebook, server}[i%3])
		sim.Host.Disks, sim.Host.CPU = disk.Host.Disks, cpu.Host.CPU
		sim.Results = slices.Concat(sim.Results, disk.Results, cpu.Results, pipe.Results)
		all = append(all, sim)
	}
	return all
}

func (v versus) summary() []string {
	var all []string
	for _, g := range v.Groups {
		s := g.Title
		if len(g.Assumed) > 0 {
			s += " (assumed " + inWords(g.Assumed) + ")"
		}
		s += ":"
		for _, m := range g.Marks {
			s += fmt.Sprintf(" [%s]", m.Text)
		}
		for _, r := range g.Rows {
			s += fmt.Sprintf(" %d", r.Machine)
			if r.Detail != "" {
				s += " " + r.Detail
			}
			s += " " + r.value() + ";"
		}
		all = append(all, s)
	}
	return all
}

func TestBatchTimeVersus(t *testing.T) {
	reports := []*results.Report{simReport("laptop"), gpuReport("rig", 2, "gen4x16"), newReport("none")}
	b, _ := batchOf(reports[0], "float32")
	v := batchTimeVersus(reports, b)
	compare(t, v.summary(), []string{
		"pinned memory: 1 cuda:0 Gen4 x16 771.2 µs; 1 cuda:1 Gen4 x16 803.4 µs;",
		"pinned memory (assumed link): 0 Gen3 x4 6.170 ms; 0 Gen3 x8 3.085 ms; 0 Gen3 x16 1.542 ms;",
		"registered memory: 1 cuda:0 Gen4 x16 791.0 µs; 1 cuda:1 Gen4 x16 824.0 µs;",
		"staged memory: 1 cuda:0 Gen4 x16 1.234 ms; 1 cuda:1 Gen4 x16 1.285 ms;",
		"staged memory (assumed link): 0 Gen3 x4 9.492 ms; 0 Gen3 x8 4.746 ms; 0 Gen3 x16 2.373 ms;",
		"pageable memory: 1 cuda:0 Gen4 x16 1.469 ms; 1 cuda:1 Gen4 x16 1.530 ms;",
		"pageable memory (assumed link): 0 Gen3 x4 12.34 ms; 0 Gen3 x8 6.170 ms; 0 Gen3 x16 3.085 ms;",
		"copy within main memory, pageable: 0 1.984 ms; 1 1.736 ms;",
	})
	r := v.Groups[1].Rows[2]
	if len(r.Marks) != 3 || !nearly(r.Marks[1].At, 1.1e-3) || r.Band == (span{}) || r.Others == (span{}) || r.Spread != (span{}) {
		t.Errorf("row %+v, want its link's references and, as it is assumed, no interval", r)
	}
	if v := batchTimeVersus([]*results.Report{newReport("a"), newReport("b")}, b); len(v.charts()) != 0 {
		t.Errorf("have %+v of nothing", v)
	}
}

func TestDiskTimeVersus(t *testing.T) {
	a, b, c := nvmeReport("a"), nvmeReport("b"), hddReport("c", "hdd")
	a.Results, b.Results, c.Results = a.Results[:4], b.Results[:3], c.Results[:1]
	compare(t, diskTimeVersus([]*results.Report{a, b, c}).summary(), []string{
		"JPEG files, cold-data (evicted from the page cache), 3.5 MB a batch: [NVMe peak, 3.4 GB/s] [SATA3 peak, 600 MB/s] [hard disk, 100 MB/s] 0 6.900 ms; 1 6.900 ms;",
		"JPEG files, direct (past the page cache), 3.5 MB a batch: [NVMe peak, 3.4 GB/s] [SATA3 peak, 600 MB/s] [hard disk, 100 MB/s] 0 5.500 ms; 1 5.500 ms;",
		"JPEG files, warm (from the page cache, in memory), 3.5 MB a batch: [NVMe peak, 3.4 GB/s] [SATA3 peak, 600 MB/s] [hard disk, 100 MB/s] 0 1.400 ms; 1 1.400 ms;",
		"tar shards, cold-data (evicted from the page cache), 3.5 MB a batch: [NVMe peak, 3.4 GB/s] [SATA3 peak, 600 MB/s] [hard disk, 100 MB/s] 0 2.500 ms;",
		"JPEG files, 3.5 MB a batch (assumed disk hdd): [NVMe peak, 3.4 GB/s] [SATA3 peak, 600 MB/s] [hard disk, 100 MB/s] 2 440.0 ms;",
	})
}

// Batches of images that are larger on another disk are not held against each other.
func TestDiskTimeVersusOfSizes(t *testing.T) {
	a, b, c := newReport("a"), newReport("b"), newReport("c")
	a.Results = []results.Result{diskResult("raw", "warm", 1, 19_500_000, 3e-3)}
	b.Results = []results.Result{diskResult("raw", "warm", 1, 19_700_000, 3e-3)}
	c.Results = []results.Result{diskResult("raw", "warm", 1, 30_000_000, 3e-3)}
	v := diskTimeVersus([]*results.Report{a, b, c})
	if len(v.Groups) != 2 || len(v.Groups[0].Rows) != 2 || v.Groups[1].Rows[0].Machine != 2 {
		t.Errorf("have %q, want the first two together", v.summary())
	}
}

func TestPreprocessVersus(t *testing.T) {
	a, b := preprocessReport("a", workstation), preprocessReport("b", notebook)
	for i := range b.Results {
		if b.Results[i].Params.Text("decoder") == "turbo" {
			b.Results[i].Proof = results.RecordOf(results.PreprocessProof{Decoder: "libjpeg-turbo 3.0.1"})
		}
	}
	reports := []*results.Report{a, b}
	compare(t, decoderVersus(reports).summary()[:2], []string{
		"online, libjpeg-turbo: 0 libjpeg-turbo 2.1.5 820.0 images/s; 1 libjpeg-turbo 3.0.1 1\u00a0150 images/s;",
		"online, Go decoder: 0 508.4 images/s; 1 713.0 images/s;",
	})
	compare(t, stageVersus(reports).summary()[1:2], []string{"online, Go decoder: 0 1.060 ms, 508.4 images/s; 1 1.060 ms, 713.0 images/s;"})
	var have []string
	for _, d := range scalingVersus(reports) {
		s := d.What + ":"
		for _, l := range d.Lines {
			s += fmt.Sprintf(" %d %s %d;", l.Source, l.Name, len(l.Points))
		}
		have = append(have, s)
	}
	compare(t, have, []string{
		"online, libjpeg-turbo: 0 a, libjpeg-turbo 2.1.5 8; 1 b, libjpeg-turbo 3.0.1 2;", "online, Go decoder: 0 a 8; 1 b 2;", "offline: 0 a 8; 1 b 2;",
	})
}

func TestPipelineVersus(t *testing.T) {
	reports := []*results.Report{simPipeReport("a"), gpuPipeReport("b")}
	compare(t, stepTimeVersus(reports).summary(), []string{
		"batches ready in memory, pinned, prefetch 0 (one after the other), step 216 ms (assumed link and step): 0 Gen3 x4 222.2 ms, 97.2 %; 0 Gen3 x8 219.1 ms, 98.6 %; 0 Gen3 x16 217.6 ms, 99.3 %;",
		"batches ready in memory, pinned, prefetch 2, step 216 ms (assumed link and step): 0 Gen3 x4 216.0 ms, 100 %; 0 Gen3 x8 216.0 ms, 100 %; 0 Gen3 x16 216.0 ms, 100 %;",
		"online, pinned, prefetch 2, step 216 ms (assumed link and step): 0 Gen3 x16 216.0 ms, 100 %;",
		"tensor, assumed disk stream100, pinned, prefetch 0 (one after the other), step 216 ms (assumed link, step and disk): 0 Gen3 x16 413.8 ms, 52.2 %;",
		"tensor, assumed disk stream100, pinned, prefetch 2, step 216 ms (assumed link, step and disk): 0 Gen3 x16 216.0 ms, 100 %;",
		"online, pinned, prefetch 2, step 10 ms: 1 cuda:0 20.50 ms, 48.8 %;",
		"online, pinned, prefetch 2, step 50 ms: 1 cuda:0 50.10 ms, 99.8 %;",
		"online, pageable, prefetch 2, step 50 ms: 1 cuda:0 51.00 ms, 98.0 %;",
		"online, pinned, prefetch 0 (one after the other), step 50 ms: 1 cuda:0 failed;",
	})
	v := feedVersus(reports, 32)
	compare(t, v.summary(), []string{
		"online, pinned, prefetch 2: 1 cuda:0 1\u00a0600 images/s, 20.0 ms;",
		"online, pinned, prefetch 2 (assumed link): 0 Gen3 x16 677.1 images/s, 47.3 ms;",
		"tensor, pinned, prefetch 2 (assumed link): 0 Gen3 x16 9\u00a0922 images/s, 3.23 ms;",
	})
	if len(v.Demands) != 3 || v.Demands[0].Text != "ResNet-152: 148.1 images/s" {
		t.Errorf("demands %v, want three from the lowest", v.Demands)
	}
	// Machines with other numbers of workers are held against each other all the same.
	for i := range reports[1].Results {
		reports[1].Results[i].Params = reports[1].Results[i].Params.With("workers", "15")
	}
	compare(t, feedVersus(reports, 32).summary()[:1], []string{"online, pinned, prefetch 2: 1 cuda:0, workers 15 1\u00a0600 images/s, 20.0 ms;"})
}

func TestLinesVersus(t *testing.T) {
	a, b, c := nvmeReport("a"), nvmeReport("b"), hddReport("c", "hdd")
	for i := range b.Results {
		b.Results[i].References[7].Value = new(2e9)
	}
	reports := []*results.Report{a, b, c}
	var have []string
	for _, d := range diskReadersVersus(reports) {
		s := d.What + ":"
		for _, l := range d.Lines {
			s += fmt.Sprintf(" %d %s %d %v;", l.Source, l.Name, len(l.Points), l.Assumed)
		}
		for _, p := range d.Peaks {
			s += fmt.Sprintf(" [%s]", p.Title)
		}
		have = append(have, s)
	}
	compare(t, have, []string{
		"JPEG files, cold-data: 0 a 3 false; 1 b 3 false; [SATA3 peak] [link of b] [NVMe peak]",
		"raw samples, direct: 0 a 3 false; 1 b 3 false; [SATA3 peak] [link of b] [NVMe peak]",
		"tensor, direct: 0 a 2 false; 1 b 2 false; [SATA3 peak] [link of b] [NVMe peak]",
		"JPEG files, assumed disk hdd: 2 c 2 true;",
		"tar shards, assumed disk hdd: 2 c 2 true; [hard disk]",
		"raw samples, assumed disk hdd: 2 c 2 true;",
		"tensor, assumed disk hdd: 2 c 2 true; [hard disk]",
	})
	have = nil
	for _, d := range diskLatenciesVersus(reports) {
		s := d.What + ":"
		for _, l := range d.Lines {
			s += fmt.Sprintf(" %d %s;", l.Source, l.legendName())
		}
		have = append(have, s)
	}
	compare(t, have[3:6], []string{
		"tensor, cold-data: 0 a: median 13.7 ms, 99 % 29.4 ms; 1 b: median 13.7 ms, 99 % 29.4 ms;",
		"JPEG files, sequential, cold-data: 0 a: median 159 µs, 99 % 342 µs; 1 b: median 159 µs, 99 % 342 µs;",
		"JPEG files, assumed disk hdd: 2 c: median 13.8 ms, 99 % 29.5 ms;",
	})
	have = nil
	for _, s := range sweepsVersus([]*results.Report{gpuReport("a", 1, "gen4x4"), gpuReport("b", 2, "gen5x16")}) {
		text := s.Mem + ":"
		for _, l := range s.Lines {
			text += fmt.Sprintf(" %d %s %d dashes;", l.Source, s.Devices[l.Device], len(l.dashes))
		}
		have = append(have, text)
	}
	compare(t, have, []string{
		"pinned: 0 a, Gen4 x4 0 dashes; 1 b, cuda:0 Gen5 x16 0 dashes; 1 b, cuda:1 Gen5 x16 2 dashes;",
		"pageable: 0 a, Gen4 x4 0 dashes; 1 b, cuda:0 Gen5 x16 0 dashes; 1 b, cuda:1 Gen5 x16 2 dashes;",
	})
}

// Charts of many machines have at most so many rows, and none is lost.
func TestVersusCharts(t *testing.T) {
	v := versus{names: []string{"a"}}
	for i := range 12 {
		for range 8 {
			v.add(versusGroup{Title: fmt.Sprint(i), key: i}, versusRow{point: point{Median: 1}})
		}
	}
	for range 8 {
		v.add(versusGroup{key: "failed"}, versusRow{Failed: true})
	}
	for range 100 {
		v.add(versusGroup{key: "many"}, versusRow{point: point{Median: 1}})
	}
	var have []int
	for _, one := range v.charts() {
		n := 0
		for _, g := range one.Groups {
			n += len(g.Rows)
		}
		have = append(have, n)
	}
	if !slices.Equal(have, []int{48, 48, 64, 36}) {
		t.Errorf("%v rows a chart", have)
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
			if assumed := strings.HasPrefix(c.Name, "pcie-batch-time") || strings.HasPrefix(c.Name, "pipeline"); assumed != strings.Contains(c.Title, "assumed") {
				t.Errorf("%d machines, %s: title %q", n, c.Name, c.Title)
			}
		}
	}
}

func TestShared(t *testing.T) {
	for _, c := range []struct{ captions, want [][]string }{
		{nil, nil},
		{[][]string{{"a", "x"}}, [][]string{{"a", "x"}}},
		{[][]string{{"a", "x", "y"}, {"b", "x", "y"}}, [][]string{{"a"}, {"b"}, {"all: x", "y"}}},
		{[][]string{{"a", "x"}, {"b", "y"}}, [][]string{{"a", "x"}, {"b", "y"}}},
		{[][]string{{"a", "x"}, {"x"}}, [][]string{{"a", "x"}, {"x"}}},
		{[][]string{{"x"}, {"x"}}, [][]string{{"x"}, {"x"}}},
	} {
		if have := shared(c.captions); fmt.Sprint(have) != fmt.Sprint(c.want) {
			t.Errorf("%q: have %q, want %q", c.captions, have, c.want)
		}
	}
}
