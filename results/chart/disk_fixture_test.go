package chart

import (
	"math"

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
	r.Metrics = []results.Metric{
		{Name: "time", Unit: results.Seconds, Better: results.Lower, Median: t, Min: t * 0.96, Max: t * 1.2,
			Lo: new(t * 0.98), Hi: new(t * 1.04)},
		{Name: "bandwidth", Unit: results.BytesPerSecond, Better: results.Higher, Median: rate, Min: rate / 1.2,
			Max: rate / 0.96, Lo: new(rate / 1.04), Hi: new(rate / 0.98)},
		{Name: "read_latency", Unit: results.Seconds, Better: results.Lower},
	}
	reads := map[string]float64{"files": 32, "tar": 4, "raw": 32, "tensor": 1}[store]
	for _, p := range []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.995,
		0.999} {
		z := math.Log(p / (1 - p)) // a logistic distribution of logarithms, with a tail
		q := t / max(reads, 1) * math.Exp(0.12*z+0.01*max(0, z)*max(0, z))
		r.Metrics[2].Quantiles = append(r.Metrics[2].Quantiles, results.Quantile{P: p, Value: q})
	}
	refer := func(name string, rate float64) {
		r.References = append(r.References,
			results.Reference{Name: name, Metric: "time", Value: new(float64(bytes) / rate)},
			results.Reference{Name: name, Metric: "bandwidth", Value: &rate})
	}
	refer("100MB/s", 100e6)
	refer("sata3-peak", 600e6)
	refer("nvme-peak", 3.4e9)
	refer("device-link", 7.877e9)
	if store == "tensor" && bytes == articleBytes {
		r.References = append(r.References, results.Reference{Name: "article", Metric: "time", Value: new(0.185)})
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
