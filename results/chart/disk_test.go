package chart

import (
	"cmp"
	"math"
	"testing"

	"dlbench/results"
)

// diskResult is a result of suite disk: a batch of bytes in t seconds, in the usual
// order of the store.
func diskResult(store, cache string, readers, bytes int64, t float64) results.Result {
	r := caseOf("disk", "store", store, "cache", cache, "readers", readers, "order", results.UsualOrder[store])
	r.Proof = results.RecordOf(map[string]any{"proven": true})
	rate := float64(bytes) / t
	r.Metrics = []results.Metric{sampled("time", results.Seconds, t, 0.98, 1.04),
		sampled("bandwidth", results.BytesPerSecond, rate, 1/1.04, 1/0.98),
		sampled("read_latency", results.Seconds, t/8, 0.98, 1.04)}
	for p, share := range map[float64]float64{0.05: 0.7, 0.5: 1, 0.95: 1.5} {
		read := results.Quantile{P: p, Value: share * t / 8}
		r.Metrics[2].Quantiles = append(r.Metrics[2].Quantiles, read)
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
	add := func(store, cache string, readers int64, ms float64) *results.Result {
		bytes := map[string]int64{"raw": rawBytes, "tensor": articleBytes}[store]
		rep.Results = append(rep.Results, diskResult(store, cache, readers, cmp.Or(bytes, filesBytes), ms/1e3))
		return &rep.Results[len(rep.Results)-1]
	}
	change := func(r *results.Result, f func(results.Result) results.Result) { *r = f(*r) }
	add("files", "cold-data", 1, 6.9)
	add("files", "warm", 1, 1.4)
	add("files", "direct", 1, 5.5)
	add("tar", "cold-data", 1, 2.5)
	add("tar", "warm", 1, 1.6)
	change(add("tar", "direct", 1, 1e3), failing)
	add("raw", "cold-data", 1, 16.8)
	add("raw", "warm", 1, 3)
	add("raw", "direct", 1, 13.2)
	change(add("tensor", "cold-data", 1, 13.7), unproven)
	add("tensor", "warm", 1, 4)
	add("tensor", "direct", 1, 14)
	change(add("files", "cold-data", 1, 5.1), func(r results.Result) results.Result { return reorder(r, "sequential") })
	add("files", "cold-data", 4, 2.2)
	add("raw", "direct", 4, 7.1)
	add("tensor", "direct", 4, 6.6)
	add("files", "cold-data", 16, 1.31)
	change(add("raw", "direct", 16, 6.4), unproven)
	change(add("tensor", "direct", 16, 6.1), failing)
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
	}{{"files", filesBytes, 0.44}, {"tar", filesBytes, 0.0356}, {"raw", rawBytes, 0.604},
		{"tensor", articleBytes, 0.2073}} {
		for _, readers := range []int64{1, 4} {
			rep.Results = append(rep.Results, emulate(diskResult(c.store, "warm", readers, c.bytes, c.time), disk))
		}
	}
	return rep
}

// bothDisks is a machine with both.
func bothDisks() []*results.Report {
	return with(append(nvmeReport("").Results, hddReport("", "hdd").Results...)...)
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

// The unusual order of a store has a bar where there is no other.
func TestDiskTimes(t *testing.T) {
	if m := diskTimes(machinesOfDisks())[0].(bars).Groups[0].Rows[0].Marks; m[0].Text != "link of the disk" {
		t.Errorf("row's own references %+v, want the link of its disk", m)
	}
	shuffled := reorder(diskResult("tensor", "direct", 1, articleBytes, 1), "shuffled")
	warm, direct := diskResult("tensor", "warm", 1, articleBytes, 1), diskResult("tensor", "direct", 1, articleBytes, 1)
	for want, reports := range map[string][]*results.Report{
		"tensor, shuffled": with(shuffled, reorder(warm, "shuffled")),
		"tensor":           with(shuffled, warm, direct),
	} {
		for _, g := range diskTimes(reports)[0].(bars).Groups {
			if g.Title != want || len(g.Rows) != 2 {
				t.Errorf("have %+v, want %s alone", g, want)
			}
		}
	}
}

// Less than three numbers of readers show nothing of readers.
func TestDiskReadersNone(t *testing.T) {
	rep := newReport("")
	rep.Results = []results.Result{diskResult("raw", "direct", 4, rawBytes, 1),
		failing(diskResult("raw", "direct", 8, rawBytes, 1)),
		diskResult("tensor", "direct", 4, rawBytes, 1), diskResult("raw", "warm", 8, rawBytes, 1)}
	if got := diskReaders(one(rep)); len(got) != 0 {
		t.Errorf("have %+v", got)
	}
	for _, n := range []int64{1, 2} {
		rep.Results = append(rep.Results, diskResult("raw", "warm", n, rawBytes, 1))
	}
	compare(t, summary(diskReaders(one(rep)))[:1],
		[]string{"0 raw samples, warm: 3; 1 1.953e+07 1.878e+07-1.993e+07; 8 1.953e+07 1.878e+07-1.993e+07"})
}

// A quantile that is not known, cannot be drawn or does not hold the median gives no interval.
func TestDiskLatencies(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		value  string
		spread span
	}{
		{1e-3, 3e-3, "2.000 ms, 95 %: 3.000 ms", span{1e-3, 3e-3}},
		{0, 3e-3, "2.000 ms, 95 %: 3.000 ms", span{}},
		{1e-3, 1e-3, "2.000 ms, 95 %: 1.000 ms", span{}},
		{1e-3, math.Inf(1), "2.000 ms", span{}},
	} {
		r := diskResult("raw", "direct", 1, rawBytes, 1)
		r.Metric("read_latency").Quantiles = []results.Quantile{{P: 0.05, Value: c.lo}, {P: 0.5, Value: 2e-3},
			{P: 0.95, Value: c.hi}}
		row := diskLatencies(with(r, diskResult("raw", "warm", 1, rawBytes, 1)))[0].(bars).Groups[0].Rows[0]
		if row.Value != c.value || row.Spread != c.spread {
			t.Errorf("%+v: have %q, %v", c, row.Value, row.Spread)
		}
	}
}
