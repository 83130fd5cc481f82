package chart

import (
	"math"
	"slices"
	"strings"
	"testing"

	"dlbench/results"
)

// diskResult is a result of suite disk: a batch of bytes in t seconds, in the usual
// order of the store.
func diskResult(store, cache string, readers, bytes int64, t float64) results.Result {
	usual := map[string]string{"files": "shuffled", "tar": "sequential", "raw": "shuffled", "tensor": "sequential"}
	r := results.Result{
		Suite: "disk", Status: results.OK,
		Params: results.Params{
			{Key: "store", Value: store}, {Key: "cache", Value: cache}, {Key: "readers", Value: readers},
			{Key: "order", Value: usual[store], Implied: true},
		},
		Proof: results.RecordOf(map[string]any{"proven": true}),
	}
	r.Name = r.Params.Name(r.Suite)
	rate := float64(bytes) / t
	r.Metrics = []results.Metric{sampled("time", results.Seconds, t, 0.98, 1.04),
		sampled("bandwidth", results.BytesPerSecond, rate, 1/1.04, 1/0.98), {Name: "read_latency",
			Unit: results.Seconds}}
	reads := map[string]float64{"files": 32, "tar": 4, "raw": 32, "tensor": 1}[store]
	for _, p := range []float64{0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.995, 0.999} {
		z := math.Log(p / (1 - p)) // a logistic distribution of logarithms, with a tail
		q := t / max(reads, 1) * math.Exp(0.12*z+0.01*max(0, z)*max(0, z))
		r.Metrics[2].Quantiles = append(r.Metrics[2].Quantiles, results.Quantile{P: p, Value: q})
	}
	for _, p := range []struct {
		name string
		rate float64
	}{{"100MB/s", 100e6}, {"sata3-peak", 600e6}, {"nvme-peak", 3.4e9}, {"device-link", 7.877e9}} {
		r.References = append(r.References, against(p.name, "time", float64(bytes)/p.rate),
			against(p.name, "bandwidth", p.rate))
	}
	if store == "tensor" && bytes == articleBytes {
		r.References = append(r.References, against("article", "time", 0.185))
	}
	return r
}

// unproven takes the proof from a result.
func unproven(r results.Result) results.Result {
	r.Proof = results.RecordOf(map[string]any{"proven": false, "why": "0.4 % of the data were cached before"})
	return r
}

// failing turns a result into a failed one.
func failing(r results.Result) results.Result {
	r.Status, r.Reason = results.Failed, "read shard 3 at 4096: input/output error"
	return r
}

// reorder gives a result an order that is not the usual one of its store.
func reorder(r results.Result, order string) results.Result {
	r.Params = append(r.Params[:3:3], results.Param{Key: "order", Value: order})
	r.Name = r.Params.Name(r.Suite)
	return r
}

// emulate turns a warm result into one of an assumed disk.
func emulate(r results.Result, disk string) results.Result {
	r.Params = append(results.Params{{Key: "disk", Value: disk}}, r.Params...)
	r.Name = r.Params.Name(r.Suite)
	r.Proof = results.Record{}
	r.References = append(r.References[:6:6], r.References[8:]...) // without the link of the real disk
	return standIn(r, "disk")
}

// Sizes of a batch of 32 in the stores.
const (
	filesBytes = 3_500_000
	rawBytes   = 19_529_728
)

// nvmeReport is a machine with an NVMe disk that ran the whole suite; times are
// those of one such machine.
func nvmeReport(label string) *results.Report {
	rep := newReport(label)
	rep.Host.Disks = []results.Disk{{Name: "nvme0n1", Model: "Samsung SSD 990 PRO 2TB", Kind: results.DiskNVMe,
		FileSystem: "ext4", Link: "Gen4 x4"}}
	rep.Results = []results.Result{
		diskResult("files", "cold-data", 1, filesBytes, 6.9e-3),
		diskResult("files", "warm", 1, filesBytes, 1.4e-3),
		diskResult("files", "direct", 1, filesBytes, 5.5e-3),
		diskResult("tar", "cold-data", 1, filesBytes, 2.5e-3),
		diskResult("tar", "warm", 1, filesBytes, 1.6e-3),
		failing(diskResult("tar", "direct", 1, filesBytes, 1)),
		diskResult("raw", "cold-data", 1, rawBytes, 16.8e-3),
		diskResult("raw", "warm", 1, rawBytes, 3.0e-3),
		diskResult("raw", "direct", 1, rawBytes, 13.2e-3),
		unproven(diskResult("tensor", "cold-data", 1, articleBytes, 13.7e-3)),
		diskResult("tensor", "warm", 1, articleBytes, 4.0e-3),
		diskResult("tensor", "direct", 1, articleBytes, 14.0e-3),
		reorder(diskResult("files", "cold-data", 1, filesBytes, 5.1e-3), "sequential"),
		diskResult("files", "cold-data", 4, filesBytes, 2.2e-3),
		diskResult("raw", "direct", 4, rawBytes, 7.1e-3),
		diskResult("tensor", "direct", 4, articleBytes, 6.6e-3),
		diskResult("files", "cold-data", 16, filesBytes, 1.31e-3),
		unproven(diskResult("raw", "direct", 16, rawBytes, 6.4e-3)),
		failing(diskResult("tensor", "direct", 16, articleBytes, 6.1e-3)),
	}
	return rep
}

// hddReport is a machine that emulated a hard disk, with several readers too.
func hddReport(label, disk string) *results.Report {
	rep := newReport(label)
	rep.Host.Disks = []results.Disk{{Name: "vda", Kind: results.DiskVirtio, FileSystem: "overlay", Link: "unknown"}}
	for _, c := range []struct {
		store string
		bytes int64
		time  float64
	}{{"files", filesBytes, 0.44}, {"tar", filesBytes, 0.0356}, {"raw", rawBytes, 0.604}, {"tensor", articleBytes,
		0.2073}} {
		for _, readers := range []int64{1, 4} {
			rep.Results = append(rep.Results, emulate(diskResult(c.store, "warm", readers, c.bytes, c.time), disk))
		}
	}
	return rep
}

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
