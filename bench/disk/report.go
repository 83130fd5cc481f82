package disk

import (
	"fmt"

	"dlbench/bench"
	"dlbench/bench/pagecache"
	"dlbench/bench/theory"
	"dlbench/loader"
	"dlbench/results"
)

// Limits of the disk suite's checks.
const (
	overrunShare = 0.05 // of the reads of an emulated disk that may really take longer
	unsteady     = 0.2  // relative median absolute deviation of the samples' rates
	drift        = 0.2  // change from the first to the last third
	driftSamples = 9    // needed to see a drift
)

// Check fails when an emulated disk is faster than the real reads behind it, or when
// the median sample missed its time by more than 1 %.
func (d *diskRunner) Check() error {
	if !d.emulated.Emulated() || d.stats.Reads == 0 {
		return nil
	}
	if d.stats.Overruns > 1 && float64(d.stats.Overruns) > overrunShare*float64(d.stats.Reads) {
		return fmt.Errorf("the real reads are slower than the emulated disk %s: it cannot stand in here", d.emulated.Name)
	}
	if len(d.behind) > 0 && results.Middle(d.behind) > bench.PaceMargin {
		return fmt.Errorf("batches take more than 1 %% longer than from the emulated disk %s: this machine is too busy or too slow to stand in for it", d.emulated.Name)
	}
	return nil
}

// Report adds the references, what proves the state of the cache, and what was odd.
func (d *diskRunner) Report(r *results.Result) {
	r.Warnings = append(r.Warnings, d.warnings...)
	proof := &results.DiskProof{Samples: len(d.proofs), Pages: d.threads.pages, Reads: int64(d.stats.Reads), BytesAsked: d.stats.Bytes, BytesRead: d.stats.BytesRead}
	r.Proof = results.RecordOf(proof)
	if m := r.Metric("time"); m != nil && d.stats.Samples > 0 {
		batch := m.Median * results.MedianOf(r, "bandwidth")
		r.References = append(r.References, d.references(batch)...)
	}
	if d.emulated.Emulated() {
		proof.Disk = fmt.Sprintf("%s: %s, latency %v, paced", d.emulated.Name, results.FormatValue(d.emulated.Rate, results.BytesPerSecond), d.emulated.Latency)
		return
	}
	proven, why := true, ""
	var before, after float64
	for _, p := range d.proofs {
		if p.Verdict != "" {
			proven, why = false, p.Verdict
		}
		before, after = max(before, p.Before), max(after, p.After)
	}
	all := d.total()
	if d.cache != results.Warm {
		r.Warnings = append(r.Warnings, all.Warnings()...)
	}
	proof.Proven, proof.Why = new(proven && len(d.proofs) > 0), why
	if why != "" {
		r.Warnings = append(r.Warnings, "unproven: "+why)
	}
	proof.ResidentBefore = results.Finite(before)
	if d.cache == results.Direct {
		proof.ResidentAfter = results.Finite(after)
	}
	if all.FromDevice >= 0 {
		proof.FromDevice = &all.FromDevice
	}
	if all.DeviceBytes >= 0 {
		proof.OfDevice = &all.DeviceBytes
	}
	d.steady(r)
}

// total is the samples' proofs together. Read-ahead that a sample started and that
// ended after it is in the process's count and not in the device's: up to two windows a
// sample is no difference.
func (d *diskRunner) total() pagecache.Proof {
	var all pagecache.Proof
	for _, p := range d.proofs {
		all.Asked += p.Asked
		if p.FromDevice < 0 || p.DeviceBytes < 0 {
			return pagecache.Proof{Asked: all.Asked, FromDevice: pagecache.UnknownBytes, DeviceBytes: pagecache.UnknownBytes}
		}
		all.FromDevice += p.FromDevice
		device := p.DeviceBytes
		if late := p.FromDevice - device; late > 0 && late <= 2*d.env.Data.Disk.ReadAhead {
			device = p.FromDevice
		}
		all.DeviceBytes += device
	}
	return all
}

// steady warns of rates that jump or drift.
func (d *diskRunner) steady(r *results.Result) {
	m := r.Metric("bandwidth")
	if m == nil || m.Median <= 0 || d.cache == results.Warm {
		return // what jumps then is the machine, which the noise control tells
	}
	if m.MAD/m.Median > unsteady {
		r.Warnings = append(r.Warnings, "unsteady: the samples' rates differ by more than 20 % from their median")
	}
	if len(d.rates) < driftSamples {
		return
	}
	third := len(d.rates) / 3
	first, last := results.Middle(d.rates[:third]), results.Middle(d.rates[len(d.rates)-third:])
	switch {
	case last < (1-drift)*first:
		r.Warnings = append(r.Warnings, "slower at the end than at the start: a volume that bursts or is throttled?")
	case last > (1+drift)*first:
		r.Warnings = append(r.Warnings, "faster at the end than at the start: does something below cache, such as a virtual machine's host?")
	}
}

// references for a batch of so many bytes.
func (d *diskRunner) references(batch float64) []results.Reference {
	var refs []results.Reference
	add := func(name, source string, rate float64) {
		t := batch / rate
		refs = append(refs, results.Reference{Name: name, Metric: "time", Value: &t, Source: source},
			results.Reference{Name: name, Metric: "bandwidth", Value: &rate, Source: source})
	}
	add("100MB/s", "the article's hard disk, streaming (claim A9)", theory.ArticleDiskRate)
	add("sata3-peak", "the SATA3 interface's sequential peak (claim A10)", theory.SATA3Rate)
	add("nvme-peak", "an NVMe drive's sequential peak (claim A10)", theory.NVMeRate)
	if rate := d.env.Data.Disk.LinkRate; rate > 0 && !d.emulated.Emulated() {
		add("device-link", d.env.Data.Disk.Link, rate)
	}
	if d.store == loader.Tensor && d.env.Batch == theory.ArticleBatch {
		t := theory.ArticleDiskTime
		refs = append(refs, results.Reference{Name: "article", Metric: "time", Value: &t,
			Source: "claim A9: the batch over 100 MiB/s; at 100 MB/s it is 194.4 ms"})
	}
	return refs
}
