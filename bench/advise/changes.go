package advise

import (
	"cmp"
	"fmt"
	"math"

	"dlbench/bench/theory"
	"dlbench/results"
)

// change is something that could be done about a loader.
type change struct {
	name, kind, cost string
	note             string
	apply            func(*scenario)
	err              error  // why it makes no sense, or cannot be predicted
	beyond           bool   // whatever was checked
	measured         bool   // its part was measured in the pipeline itself
	assumes          string // a part that is not there: link, disk
}

// refuse says why the change makes no sense.
func (c *change) refuse(format string, args ...any) {
	c.err = fmt.Errorf("%s: "+format, append([]any{c.name}, args...)...)
}

// Kinds of changes and of checks.
const (
	kindCores, kindLink, kindDisk, kindRead      = "cores", "link", "disk", "read"
	kindMemory, kindPrefetch, kindImages         = "memory", "prefetch", "images"
	kindDType, kindStrategy, kindGPUs, kindParts = "dtype", "strategy", "gpus", "parts"
	kindStep                                     = "step"
)

// coresChange is so many cores in all.
func (m *model) coresChange(n float64) change {
	after := m.scenario(m.loader)
	after.setCores(n)
	cores := fmt.Sprintf("%.4g cores", n)
	if n == 1 {
		cores = "1 core"
	}
	c := change{name: fmt.Sprintf("%s instead of %.4g", cores, m.cores), kind: kindCores, beyond: n > m.cores,
		note: fmt.Sprintf("%s next to %s", results.Plural(after.workers, "worker"),
			results.Plural(m.parts.busy, "training thread"))}
	if n >= m.cores {
		c.cost = results.Purchase
	}
	c.apply = func(s *scenario) {
		s.setCores(n)
		threads := s.workers + s.busy
		if last := len(m.rates) - 1; last > 0 && threads > m.rates[last].Threads { // up to linear from one thread
			s.up = 1 / theory.EfficiencyOf(m.rates, threads)
		}
	}
	return c
}

// workersChange is more or fewer workers on the same cores.
func (m *model) workersChange(n int) change {
	return change{name: fmt.Sprintf("%s instead of %d", results.Plural(n, "worker"), m.parts.workers),
		kind: kindCores, cost: results.Free, beyond: true, apply: func(s *scenario) { s.workers = n }}
}

// prefetchChange is batches ahead.
func (m *model) prefetchChange(n int) change {
	have := m.parts.prefetch
	return change{name: fmt.Sprintf("prefetch %d instead of %d", n, have), kind: kindPrefetch, cost: results.Free,
		beyond: n > max(2, have), apply: func(s *scenario) { s.prefetch = n }}
}

// gpusChange is several GPUs that share the cores and the disk; each has its own link
// and its own step, with as many busy threads.
func (m *model) gpusChange(n int) change {
	c := change{name: fmt.Sprintf("%d GPUs, each", n), kind: kindGPUs, beyond: true}
	c.apply = func(s *scenario) {
		share := s.cores / float64(n)
		if s.workers == workersOn(s.cores, s.busy) { // else as many as the user wants
			s.workers = workersOn(share, s.busy)
		}
		s.cores, s.loaders = share, n
		s.wait *= float64(n) // the disk reads for the other GPUs too
	}
	return c
}

// linkChange is another link, with the share of its line rate that this one reaches.
func (m *model) linkChange(l theory.Link) change {
	own, ok := m.ownLink()
	by := own.LineRate() / l.LineRate()
	c := change{name: "link " + l.Title(), kind: kindLink, cost: results.Purchase, assumes: "link", beyond: true,
		apply: func(s *scenario) { s.copy *= by }}
	if !ok || m.parts.copy <= 0 {
		c.refuse("the link of %s is not known, so nothing is known of another one either", m.params.Device)
	}
	if by > 1 {
		c.cost = ""
	}
	return c
}

// ownLink is the link of the base's device.
func (m *model) ownLink() (theory.Link, bool) {
	device := m.params.Device
	if d, err := theory.ParseDevice(device); err == nil && d.Sim() {
		return d.Link, true
	}
	for _, g := range m.report.Host.GPUs {
		if g.Index != nil && device == fmt.Sprintf("cuda:%d", *g.Index) && g.Link.State == results.LinkKnown {
			return theory.LinkOf(g.Link.MaxGTs, g.Link.Width) // idle ones fall to a lower rate
		}
	}
	return theory.Link{}, false
}

// memoryChange is another kind of host memory.
func (m *model) memoryChange(mem string) change {
	rate := m.memoryRate(mem)
	c := change{name: mem + " memory", kind: kindMemory, cost: results.Free,
		apply: func(s *scenario) { s.copy = float64(m.batch.Bytes()) / rate }}
	if rate <= 0 {
		c.err = needs("pcie", mem+" memory")
	}
	return c
}

// memoryRate is the rate of copies of a batch from a kind of host memory over the
// base's device, B/s; 0 where it was not measured.
func (m *model) memoryRate(mem string) float64 {
	r := results.CaseOf(m.report.Results, "pcie", func(p results.PCIeParams) bool {
		return p.Device == m.params.Device && p.Dir == results.H2D && p.Mem == mem && p.Bytes == m.batch.Bytes() &&
			p.Source != results.SourceCold && p.Undisturbed()
	})
	if rate := median(r, "bandwidth"); rate > 0 || mem == results.Staged {
		return rate
	}
	return linkRate(m.params.Device, mem)
}

// dtypeChange is another element type on the link.
func (m *model) dtypeChange(dtype string) change {
	c := change{name: dtype + " batches instead of " + m.batch.DType, kind: kindDType, cost: results.Free, beyond: true}
	if dtype == "uint8" {
		c.note = "the GPU normalises"
	}
	bytes := float64(theory.SizeOf(dtype)) / float64(theory.SizeOf(m.batch.DType))
	work := m.dtypeTime(dtype) / m.dtypeTime(m.batch.DType)
	if m.params.Strategy != results.Online || !(work > 0) || math.IsInf(work, 0) {
		work = 1
	}
	c.apply = func(s *scenario) {
		s.copy *= bytes
		s.preprocess *= work
	}
	return c
}

// dtypeTime is how long one thread preprocesses an image into an element type, s; NaN
// where it was not measured.
func (m *model) dtypeTime(dtype string) float64 {
	for _, l := range results.ScalingLines(m.report.Results) {
		p := results.As[results.PreprocessParams](l.First().Params)
		if p.Strategy == results.Online && p.Threads == 1 && p.DType == dtype && p.Layout != results.NCHW &&
			p.Antialias != results.Off && p.Decoder != "go" && p.Clock == 0 {
			return cpuOf(l)
		}
	}
	return math.NaN()
}

// cpuOf is the CPU time that one thread of a line takes for an image, s, which other
// programs do not lengthen as they do the time by the clock; that where it is shorter.
func cpuOf(l *results.ScalingLine) float64 {
	clock := 1 / l.Rates[0].Value
	return min(clock, cmp.Or(median(l.First(), "cpu"), clock))
}

// diskChange is another disk.
func (m *model) diskChange(d theory.DiskSpec) change {
	name := fmt.Sprintf("disk %s (%s)", d.Name, results.FormatValue(d.Rate, results.BytesPerSecond))
	c := change{name: name, kind: kindDisk, cost: results.Purchase, assumes: "disk", beyond: true,
		apply: func(s *scenario) { s.readFrom(d) }}
	if m.parts.stored <= 0 {
		c.refuse("the report does not say how large the data is")
	}
	own := m.parts.disk
	if !own.Emulated() || own.Rate >= d.Rate && own.Latency <= d.Latency { // a real one: what is read is in memory
		c.cost = ""
	}
	return c
}

// memoryData is the data in the page cache, whose copies stay.
func (m *model) memoryData() change {
	c := change{name: "the data in RAM", kind: kindRead, cost: results.Purchase,
		apply: func(s *scenario) { s.readFrom(theory.DiskSpec{}) }}
	free := m.report.Host.Memory.Available
	if d := m.report.Dataset; d != nil && free > 2*d.Bytes {
		c.cost = results.Free
		c.note = fmt.Sprintf("the %s that were read fit into the %s available",
			results.FormatBytes(d.Bytes), results.FormatBytes(free))
	}
	return c
}

// coldData is data that does not fit into RAM.
func (m *model) coldData() change {
	c := change{name: "data larger than RAM, from this disk", kind: kindRead}
	r := results.DiskCase(m.report.Results, m.store, results.ColdData)
	if r == nil {
		c.err = needs("disk", "data larger than RAM")
	}
	direct := m.pastCache()
	c.beyond = direct == nil || !results.ProvenCold(direct) || median(direct, "read") < median(r, "time")
	c.apply = func(s *scenario) {
		s.readFrom(theory.DiskSpec{})
		s.wait = median(r, "time")
	}
	return c
}

// tarShards is the same images one behind the other.
func (m *model) tarShards() change {
	c := change{name: "tar shards instead of files", kind: kindDisk, cost: results.Free, beyond: true}
	files := results.DiskCase(m.report.Results, "files", results.Warm)
	tar := results.DiskCase(m.report.Results, "tar", results.Warm)
	switch {
	case m.store == "tar":
		c.refuse("the data is in tar shards already")
	case m.parts.disk.Emulated(): // arithmetic
		c.apply = func(s *scenario) {
			s.reads = 1
			s.readFrom(s.disk)
		}
	case files == nil || tar == nil:
		c.err = needs("disk", "tar shards")
	default:
		by := median(tar, "time") / median(files, "time")
		c.apply = func(s *scenario) { s.reads, s.wait, s.readCPU = 1, by*s.wait, by*s.readCPU }
	}
	return c
}

// usualSide is the shorter side that photographs of ImageNet's kind have, and smallSide
// the one to which they are commonly scaled before they are stored.
const (
	usualSide = 375
	smallSide = 256
)

// smallImages is the same images stored with a short side of so many pixels. What
// decoding takes goes with the pixels, what resampling takes with the rows; the bytes of
// smaller JPEGs are somewhat more a pixel.
func (m *model) smallImages(side int) change {
	c := change{name: fmt.Sprintf("JPEGs at %d pixels", side), kind: kindImages,
		cost: results.Free, beyond: true,
		note: "not measured: decoding is taken as proportional to the pixels; crops lose detail"}
	by := float64(side) / m.side()
	switch {
	case m.params.Strategy != results.Online:
		c.refuse("the images are not decoded online")
	case by >= 1:
		c.refuse("the images' short side has %.0f pixels: none larger can be stored", m.side())
	}
	decode, resample, rest := m.stages()
	likely := decode*by*by + resample*by + rest
	c.apply = func(s *scenario) {
		s.preprocess *= likely / (decode + resample + rest)
		s.scaleReads(math.Pow(by, 1.7))
		s.down, s.up = likely/(decode*by+resample+rest), 1.05
	}
	return c
}

// side is the images' shorter side, by what a case says of them.
func (m *model) side() float64 {
	return cmp.Or(max(0, results.As[results.PipelineProof](m.base.Proof).ShortSide), usualSide)
}

// stages is what an image takes to be decoded, resampled and put into the batch, s; by
// the preprocess suite, or the shares that are usual.
func (m *model) stages() (decode, resample, rest float64) {
	l := results.UsualLine(m.report.Results, results.Online)
	if l == nil || !(median(l.First(), "decode") > 0) {
		return 0.75, 0.20, 0.05
	}
	return median(l.First(), "decode"), median(l.First(), "resample"), median(l.First(), "collate")
}

// prepared is the strategy offline: images preprocessed before, read as uint8 records; by the
// pipeline's own case where there is one.
func (m *model) prepared() change {
	c := m.preparedApart()
	if r := m.alike(func(p *results.PipelineParams) { p.Strategy = results.Offline }); r != nil {
		work := median(r, "step_time") * float64(m.parts.workers) * m.parts.share()
		c.note += "; " + measuredHere
		c.measured, c.err = true, nil
		c.apply = func(s *scenario) { s.readRecords(work) }
	}
	return c
}

// preparedApart is the strategy offline by the preprocess suite, which reads records from the page
// cache.
func (m *model) preparedApart() change {
	c := change{name: "images prepared before", kind: kindStrategy, cost: results.Free,
		note: "offline: the same crops each epoch, so not the same training"}
	l := results.UsualLine(m.report.Results, results.Offline)
	if l == nil || l.Rates[0].Threads != 1 || m.params.Strategy != results.Online {
		c.err = needs("preprocess", "images prepared before (offline), on data with a raw store")
		return c
	}
	threads := m.parts.workers + m.parts.busy // which slow each other down more than that one thread knows
	down := min(theory.EfficiencyOf(l.Rates, threads), theory.EfficiencyOf(controlsOf(l), threads))
	c.apply = func(s *scenario) {
		s.readRecords(float64(m.batch.Images) * cpuOf(l))
		s.down = down
	}
	return c
}
