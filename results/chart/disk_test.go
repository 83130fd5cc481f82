package chart

import (
	"fmt"
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

// failing turns a result into a failed one.
func failing(r results.Result) results.Result {
	r.Status, r.Reason = results.Failed, "read shard 3 at 4096: input/output error"
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
	for _, c := range []string{"files cold-data 1 6.9", "files warm 1 1.4", "files direct 1 5.5", "tar cold-data 1 2.5",
		"tar warm 1 1.6", "tar direct 1 1000 failing", "raw cold-data 1 16.8", "raw warm 1 3", "raw direct 1 13.2",
		"tensor cold-data 1 13.7 unproven", "tensor warm 1 4", "tensor direct 1 14", "files cold-data 1 5.1 sequential",
		"files cold-data 4 2.2", "raw direct 4 7.1", "tensor direct 4 6.6", "files cold-data 16 1.31",
		"raw direct 16 6.4 unproven", "tensor direct 16 6.1 failing"} {
		rep.Results = append(rep.Results, diskCaseOf(c))
	}
	return rep
}

// diskCaseOf is the result of a store, a state of the cache, a number of readers and ms, and what is special of it.
func diskCaseOf(text string) results.Result {
	var store, cache, special string
	var readers int64
	var ms float64
	_, _ = fmt.Sscan(text, &store, &cache, &readers, &ms, &special)
	bytes := map[string]int64{"files": filesBytes, "tar": filesBytes, "raw": rawBytes, "tensor": articleBytes}[store]
	r := diskResult(store, cache, readers, bytes, ms/1e3)
	switch special {
	case "failing":
		return failing(r)
	case "unproven":
		r.Proof = results.RecordOf(map[string]any{"proven": false, "why": "0.4 % of the data were cached before"})
	case "sequential":
		r.Params = r.Params.With("order", special)
	}
	return r
}

// hddReport is a machine that emulated a hard disk, with several readers too.
func hddReport(label, disk string) *results.Report {
	rep := newReport(label)
	rep.Host.Disks = []results.Disk{{Name: "vda", Kind: results.DiskVirtio, FileSystem: "overlay", Link: "unknown"}}
	for _, c := range []string{"files warm 1 440", "files warm 4 440", "tar warm 1 35.6", "tar warm 4 35.6",
		"raw warm 1 604", "raw warm 4 604", "tensor warm 1 207.3", "tensor warm 4 207.3"} {
		rep.Results = append(rep.Results, emulate(diskCaseOf(c), disk))
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

// Of several machines each has its own link.
func TestDiskMarks(t *testing.T) {
	r := diskResult("raw", "warm", 1, rawBytes, 1)
	for several, want := range map[bool]string{false: "link of the disk, 7.877 GB/s", true: "link of the disk"} {
		if have := diskMarks(diskCase{measured: measured{Result: &r}}, several)[0].Text; have != want {
			t.Errorf("several %t: have %q, want %q", several, have, want)
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
		row := diskLatencies(with(r, diskResult("raw", "warm", 1, rawBytes, 1)))[0].(bars).Rows[0]
		if row.Value != c.value || row.Spread != c.spread {
			t.Errorf("%+v: have %q, %v", c, row.Value, row.Spread)
		}
	}
}
