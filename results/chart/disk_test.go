package chart

import (
	"slices"
	"strings"
	"testing"

	"dlbench/results"
)

func TestDiskTimes(t *testing.T) {
	both := nvmeReport("rig")
	both.Results = append(both.Results, hddReport("", "hdd").Results...)
	golden(t, "disk-times", diskTimes(one(both)).summary())
	a, b, c := nvmeReport("a"), nvmeReport("b"), hddReport("c", "hdd")
	a.Results, b.Results, c.Results = a.Results[:4], b.Results[:3], c.Results[:1]
	v := diskTimes([]*results.Report{a, b, c})
	golden(t, "disk-times-2", v.summary())
	if m := v.Groups[0].Rows[0].Marks; len(m) != 1 || m[0].Text != "link of the disk" {
		t.Errorf("row's own references %+v, want the link of its disk", m)
	}
}

// The unusual order of a store has a bar where there is no other.
func TestDiskTimesOfOrders(t *testing.T) {
	shuffled := reorder(diskResult("tensor", "direct", 1, articleBytes, 1), "shuffled")
	for want, reports := range map[string][]*results.Report{
		"tensor, shuffled, 19.44 MB a batch": with(shuffled),
		"tensor, 19.44 MB a batch":           with(shuffled, diskResult("tensor", "warm", 1, articleBytes, 4e-3)),
	} {
		if v := diskTimes(reports); len(v.Groups) != 1 || v.Groups[0].Title != want {
			t.Errorf("have %q, want %s alone", v.summary(), want)
		}
	}
}

// Batches of images that are larger on another disk are not held against each other.
func TestDiskTimesOfSizes(t *testing.T) {
	var reports []*results.Report
	for i, bytes := range []int64{19_500_000, 19_700_000, 30_000_000} {
		r := newReport(string(rune('a' + i)))
		r.Results = []results.Result{diskResult("raw", "warm", 1, bytes, 3e-3)}
		reports = append(reports, r)
	}
	v := diskTimes(reports)
	if len(v.Groups) != 2 || len(v.Groups[0].Rows) != 2 || v.Groups[1].Rows[0].Machine != 2 {
		t.Errorf("have %q, want the first two together", v.summary())
	}
}

func TestBatchBytes(t *testing.T) {
	for _, c := range []struct {
		bytes, want int64
	}{{articleBytes, articleBytes}, {19_450_123, articleBytes}, {19_529_728, 19_500_000}, {3_512_345, 3_510_000}, {7,
		7}} {
		r := diskResult("tensor", "warm", 1, c.bytes, 0.013)
		if have := batchBytes(newReport(""), &r); have != c.want {
			t.Errorf("%d: have %d, want %d", c.bytes, have, c.want)
		}
		r.Metrics = r.Metrics[:1]
		if have := batchBytes(newReport(""), &r); have != 0 {
			t.Errorf("without bandwidth: %d", have)
		}
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
		f := diskTimes(one(rep)).figure()
		if log := strings.Contains(f.x, "logarithmic"); log != c.log || (f.plot.X.Min == 0) == log {
			t.Errorf("from %g s: axis %q from %g", c.least, f.x, f.plot.X.Min)
		}
	}
}

// machinesOfDisks are two machines of which the second has a slower link, and one whose
// disk is assumed.
func machinesOfDisks() []*results.Report {
	b := nvmeReport("b")
	for i := range b.Results {
		b.Results[i].References[7].Value = new(2e9)
	}
	return []*results.Report{nvmeReport("a"), b, hddReport("c", "hdd")}
}

func TestDiskReaders(t *testing.T) {
	golden(t, "disk-readers", summaries(diskReaders(one(nvmeReport("")))))
	several := diskReaders(machinesOfDisks())
	if len(several) != 7 {
		t.Fatalf("%d charts, want one for each of 7 stores and states", len(several))
	}
	golden(t, "disk-readers-2", summaries([]lines{several[2], several[4]}))
	if want := "tensor, direct. "; !strings.HasPrefix(several[2].subtitle, want) {
		t.Errorf("%q does not say %q", several[2].subtitle, want)
	}
}

// One number of readers shows nothing of readers.
func TestDiskReadersNone(t *testing.T) {
	rep := newReport("")
	rep.Results = []results.Result{diskResult("raw", "direct", 4, rawBytes, 1),
		failing(diskResult("raw", "direct", 8, rawBytes, 1)),
		diskResult("tensor", "direct", 4, rawBytes, 1), diskResult("raw", "warm", 8, rawBytes, 1)}
	if got := diskReaders(one(rep)); len(got) != 0 {
		t.Errorf("have %+v", got)
	}
	rep.Results = append(rep.Results, diskResult("raw", "warm", 1, rawBytes, 1))
	compare(t, summaries(diskReaders(one(rep)))[1:], []string{
		"0 raw samples, direct: failed with 8 readers: 1; 4 1.953e+07 1.878e+07-1.993e+07",
		"0 raw samples, warm: 2; 1 1.953e+07 1.878e+07-1.993e+07; 8 1.953e+07 1.878e+07-1.993e+07",
	})
}

func TestDiskLatencies(t *testing.T) {
	got := diskLatencies(one(nvmeReport("")))
	if len(got) != 1 || !strings.HasSuffix(got[0].subtitle, "; 8 of 13 cases") {
		t.Fatalf("have %+v, want one chart without five of the cases", got)
	}
	golden(t, "disk-latencies", names(got[0]))
	rep := nvmeReport("")
	rep.Results = append(rep.Results[9:12], hddReport("", "hdd").Results...)
	got = diskLatencies(one(rep))
	if len(got) != 1 || len(got[0].Lines) != 7 || !strings.HasPrefix(got[0].Lines[6].Name, "tensor, assumed disk hdd") {
		t.Errorf("have %+v, want one chart with both disks", got)
	}
	several := diskLatencies(machinesOfDisks())
	golden(t, "disk-latencies-2", slices.Concat(names(several[3]), names(several[5])))
}

func names(d lines) (all []string) {
	for _, l := range d.Lines {
		all = append(all, l.Name)
	}
	return all
}

func TestQuantilesOf(t *testing.T) {
	r := results.Result{Metrics: []results.Metric{{Name: "read_latency", Quantiles: []results.Quantile{
		{P: 0.9, Value: 4}, {P: 0.1, Value: 1}, {P: 0.1, Value: 2}, {P: 0.3, Value: 0}, {P: 0.4, Value: 2}, {P: 0.5,
			Value: 1.5},
		{P: 0, Value: 1}, {P: 1, Value: 9}, {P: 0.8, Value: 1e300}, {P: 0.95, Value: 1e-300},
	}}}}
	got := quantilesOf(&r, "read_latency")
	if want := []results.Quantile{{P: 0.1, Value: 1}, {P: 0.4, Value: 2}, {P: 0.9, Value: 4}}; !slices.Equal(got,
		want) {
		t.Errorf("have %v, want %v", got, want)
	}
	for p, want := range map[float64]float64{0.05: 0, 0.1: 1, 0.4: 2, 0.65: 3, 0.9: 4, 0.99: 0} {
		if have := quantileAt(got, p); have < want-1e-9 || have > want+1e-9 {
			t.Errorf("quantile %g: have %g, want %g", p, have, want)
		}
	}
	if got := quantilesOf(&r, "other"); got != nil {
		t.Errorf("of no metric: %v", got)
	}
}
