package disk

import (
	"fmt"
	"slices"
	"strings"

	"dlbench/bench"
	"dlbench/bench/pagecache"
	"dlbench/bench/theory"
	"dlbench/loader"
	"dlbench/results"
)

// Limits of the disk suite's checks.
const (
	overrunShare = 0.05 // of the reads of a simulated disk that may really take longer
	unsteady     = 0.2  // relative median absolute deviation of the samples' rates
	drift        = 0.2  // change from the first to the last third, or pass
	driftSamples = 9    // needed to see a drift
	passSamples  = 3    // of the first pass over the data, and of later ones, to tell them apart
)

// Check fails when a simulated disk is faster than the real reads behind it, or when
// the median sample missed its time by more than 1 %.
func (d *diskRunner) Check() error {
	s := d.stats
	slower := s.Overruns > 1 && float64(s.Overruns) > overrunShare*float64(s.Reads)
	if d.env.Disk.Emulated() && (slower || results.Median(d.behind) > bench.PaceMargin) {
		return fmt.Errorf("reads or wake-ups here take longer than those of the simulated disk %s: "+
			"this machine is too busy or too slow to simulate it", d.env.Disk.Name)
	}
	return nil
}

// Report adds the references, what proves the state of the cache, and what was odd.
func (d *diskRunner) Report(r *results.Result) {
	r.Warnings = append(append(r.Warnings, d.warnings...), bench.WentBad(d.bad)...)
	proof := &results.DiskProof{Samples: len(d.proofs), Pages: d.pages,
		Reads: int64(d.stats.Reads), BytesAsked: d.stats.Bytes, BytesRead: d.stats.BytesRead}
	r.Proof = results.RecordOf(proof)
	if m := r.Metric("time"); m != nil && d.stats.Samples > 0 && d.Cache != results.Remote {
		batch := m.Median * results.MedianOf(r, "bandwidth")
		r.References = append(r.References, d.references(batch)...)
	}
	if disk := d.env.Disk; disk.Emulated() {
		rate := results.FormatValue(disk.Rate, results.BytesPerSecond)
		proof.Disk = fmt.Sprintf("%s: %s, latency %v, simulated", disk.Name, rate, disk.Latency)
		return
	}
	if d.Cache == results.Remote {
		d.reportRemote(r, proof)
		return
	}
	var before, after float64
	for _, p := range d.proofs {
		if p.Verdict != "" {
			proof.Why = p.Verdict
		}
		before, after = max(before, p.Before), max(after, p.After)
	}
	all := d.total()
	if d.Cache != results.Warm {
		r.Warnings = append(r.Warnings, all.Warnings()...)
	}
	proof.Proven = new(proof.Why == "" && len(d.proofs) > 0)
	r.Warnf("%s", results.After("unproven: ", proof.Why))
	d.steady(r)
	if len(d.proofs) == 0 {
		return // nothing was counted
	}
	proof.ResidentBefore = results.Finite(before)
	if d.Cache == results.Direct {
		proof.ResidentAfter = results.Finite(after)
	}
	proof.FromDevice, proof.OfDevice = pagecache.KnownBytes(all.FromDevice), pagecache.KnownBytes(all.DeviceBytes)
}

// total is the samples' proofs together. Read-ahead that a sample started and that
// ended after it is in the process's count and not in the device's: up to two windows a
// sample is no difference.
func (d *diskRunner) total() (all pagecache.Proof) {
	for _, p := range d.proofs {
		all.Asked += p.Asked
		if p.FromDevice < 0 || p.DeviceBytes < 0 {
			all.FromDevice, all.DeviceBytes = pagecache.UnknownBytes, pagecache.UnknownBytes
			return all
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

// steady warns of rates that jump or drift, or that differ between the first pass over the data and
// later ones.
func (d *diskRunner) steady(r *results.Result) {
	m := r.Metric("bandwidth")
	if m == nil || m.Median <= 0 || d.Cache == results.Warm {
		return // what jumps then is the machine, which the noise control shows
	}
	differ := func(what, rest string, first, later []float64) bool {
		a, b := results.Median(first), results.Median(later)
		is := min(a, b) < (1-drift)*max(a, b)
		if is {
			r.Warnf("%s read %s, %s %s: something on the way to the data may cache or throttle, or a cloud volume "+
				"have burst credit or be slow on the first touch of a snapshot; the median is over all samples", what,
				results.FormatValue(a, results.BytesPerSecond), rest, results.FormatValue(b, results.BytesPerSecond))
		}
		return is
	}
	if min(len(d.first), len(d.later)) >= passSamples {
		later := results.Median(d.later)
		apart := slices.Max(d.first) < later || slices.Min(d.first) > later
		if apart && differ("the first pass over the data", "later ones", d.first, d.later) {
			return // that is the reason
		}
	}
	if m.MAD/m.Median > unsteady {
		r.Warnf("unsteady: the samples' rates differ by more than 20 %% from their median")
	}
	if third := len(d.rates) / 3; len(d.rates) >= driftSamples {
		differ("the first third of the samples", "the last third", d.rates[:third], d.rates[len(d.rates)-third:])
	}
}

// references for a batch of so many bytes.
func (d *diskRunner) references(batch float64) []results.Reference {
	var refs []results.Reference
	add := func(name, source string, rate float64) {
		refs = append(refs, bench.RateReferences(name, source, batch, rate, rate)...)
	}
	add("100MB/s", "the article's hard disk, streaming (claim A9)", theory.ArticleDiskRate)
	add("sata3-peak", "the SATA3 interface's sequential peak (claim A10)", theory.SATA3Rate)
	add("nvme-peak", "an NVMe drive's sequential peak (claim A10)", theory.NVMeRate)
	if rate := d.env.Data.Disk.LinkRate; rate > 0 && !d.env.Disk.Emulated() {
		add("device-link", d.env.Data.Disk.Link, rate)
	}
	if d.Store == loader.Tensor && d.env.Batch == theory.ArticleBatch {
		refs = append(refs, results.Reference{Name: "article", Metric: "time", Value: new(theory.ArticleDiskTime),
			Source: "claim A9: the batch over 100 MiB/s; at 100 MB/s it is 194.4 ms"})
	}
	return refs
}

var storeTitle = map[string]string{loader.Files: "JPEG files", loader.Tar: "tar shards",
	loader.Raw: "records of preprocessed images", loader.Tensor: "whole tensors"}

func claims(env bench.Env, rs []results.Result) []bench.Claim {
	cache, missing, where := results.ColdData, "no batch was read cold", "from this disk, read cold"
	if env.Data.Remote != nil {
		cache, missing, where = results.Remote, "no batch was read", "from the object store"
	}
	if env.Disk.Emulated() {
		cache, missing, where = results.Warm, "no batch was read", "from the simulated disk "+env.Disk.Name
	}
	all := []bench.Claim{{Name: "A9", Missing: missing, Found: hiddenBatch(env, rs, cache, where),
		Needs: bench.Needs(func(p params) bool { return p.Cache == cache && p.Readers == 1 })}}
	if env.Disk.Emulated() {
		return all
	}
	fromDisk := func(p params) bool { return cold(p) || p.Cache == results.Direct }
	return append(all, bench.Claim{Name: "A10", Missing: "nothing was read from the disk itself",
		Found: interfacePeak(env.Data.Disk, rs, fromDisk), Needs: bench.Needs(fromDisk)})
}

// interfacePeak is claim A10: whether a SATA or NVMe drive stays below the peak that the claim has for its
// interface.
func interfacePeak(d results.Disk, rs []results.Result, fromDisk func(params) bool) (f results.Finding) {
	var best results.Interval
	for _, r := range results.Cases(rs, "disk", fromDisk) {
		if m := r.Metric("bandwidth"); m != nil && len(r.Assumed) == 0 && m.Median > best.Value {
			best = results.IntervalOf(m)
		}
	}
	if best.Value == 0 {
		return f
	}
	peaks := map[string]float64{results.DiskSATA: theory.SATA3Rate, results.DiskNVMe: theory.NVMeRate}
	verdict := ""
	if peak, ok := peaks[d.Kind]; ok {
		verdict = best.Verdict(0, peak)
	}
	return best.Finding(verdict, results.BytesPerSecond, fmt.Sprintf("at most %s were read from this disk (%s); "+
		"the peak of SATA3 drives is %s, of M.2 drives %s", results.FormatValue(best.Value, results.BytesPerSecond), d.Kind,
		results.FormatExact(theory.SATA3Rate, results.BytesPerSecond),
		results.FormatExact(theory.NVMeRate, results.BytesPerSecond)))
}

// hiddenBatch is claim A9: whether loading a batch, read in a state of the cache, hides behind a
// step.
func hiddenBatch(env bench.Env, rs []results.Result, cache, where string) (f results.Finding) {
	step := theory.Demands[0]
	limit := step.Step / float64(step.Batch) * float64(env.Batch.Images)
	var parts []string
	for _, store := range []string{loader.Tensor, loader.Raw, loader.Files, loader.Tar} {
		r := results.DiskCase(rs, store, cache)
		if r == nil {
			continue
		}
		m := r.Metric("time")
		part := results.FormatSeconds(m.Median) + " as " + storeTitle[store]
		verdict := results.IntervalOf(m).Verdict(0, limit)
		if proven, known := r.Proven(); known && !proven {
			part, verdict = part+" (unproven)", results.Inconclusive
		}
		if parts = append(parts, part); len(parts) == 1 { // the first is judged: tensors are what the article means
			f = results.IntervalOf(m).Finding(verdict, m.Unit, "")
		}
	}
	if len(parts) > 0 {
		f.Text = fmt.Sprintf("a batch of %d takes %s: %s; %s's step takes %.0f ms for %d, "+
			"and loading ahead hides what is shorter. "+
			"The article's 185 ms is the float32 batch over 100 MiB/s; at 100 MB/s it is 194.4 ms",
			env.Batch.Images, where, strings.Join(parts, ", "), step.Name, 1e3*step.Step, step.Batch)
	}
	if env.Disk.Emulated() {
		f.Assumed = []string{"disk"}
	}
	return f
}
