package advise

import (
	"fmt"
	"math"
	"strings"

	"dlbench/bench/theory"
	"dlbench/results"
)

// change is something that could be done about a loader.
type change struct {
	name, kind, cost string
	note             string
	apply            func(*scenario) error
	beyond           bool   // whatever was checked
	measured         bool   // its part was measured in the pipeline itself
	assumes          string // what a part that is not there is told to be: link, disk
}

// Kinds of changes and of checks.
const (
	kindCores, kindLink, kindDisk, kindRead      = "cores", "link", "disk", "read"
	kindMemory, kindPrefetch, kindImages         = "memory", "prefetch", "images"
	kindDType, kindStrategy, kindGPUs, kindParts = "dtype", "strategy", "gpus", "parts"
	kindStep                                     = "step"
)

// coresChange is so many cores in all.
func (m *loaderModel) coresChange(n float64) change {
	c := change{name: fmt.Sprintf("%s cores instead of %s", number(n), number(m.cores)), kind: kindCores, cost: results.Purchase, beyond: n > m.cores}
	if n < m.cores {
		c.cost = ""
	}
	after := m.scenario()
	if after.setCores(n); after.workers != m.replay.Workers {
		c.note = fmt.Sprintf("%s instead of %d, beside %s that the step keeps busy", results.Plural(after.workers, "worker"), m.replay.Workers, results.Plural(m.replay.Busy, "thread"))
	}
	c.apply = func(s *scenario) error {
		s.setCores(n)
		if last := len(m.rates) - 1; last > 0 && s.workers+s.r.Busy > m.rates[last].Threads { // up to linear from one thread
			s.up = 1 / m.efficiency(m.rates, s.workers+s.r.Busy)
		}
		return nil
	}
	return c
}

func number(x float64) string { return strings.TrimSuffix(fmt.Sprintf("%.4g", x), ".0") }

// linkChange is another link, with the share of its line rate that this one reaches.
func (m *loaderModel) linkChange(l theory.Link) change {
	c := change{name: "link " + l.Title(), kind: kindLink, cost: results.Purchase, assumes: "link"}
	c.apply = func(s *scenario) error {
		own, ok := m.ownLink()
		if m.link <= 0 || !ok {
			return fmt.Errorf("the link of %s is not known, so what another one would bring is not", m.base.Params.Text("device"))
		}
		s.setLink(m.link / own.LineRate() * l.LineRate())
		return nil
	}
	c.beyond = true
	lo, hi := m.linkRange()
	if own, ok := m.ownLink(); ok && m.link > 0 {
		rate := m.link / own.LineRate() * l.LineRate()
		c.beyond = rate < 0.99*lo || rate > 1.01*hi
		if l.LineRate() < own.LineRate() {
			c.cost = ""
		}
	}
	return c
}

// ownLink is the link of the base's device.
func (m *loaderModel) ownLink() (theory.Link, bool) {
	device := m.base.Params.Text("device")
	if rate := linkRate(device, "pinned"); rate > 0 {
		l, err := theory.ParseLink(strings.Split(strings.TrimPrefix(device, "sim:"), ":")[0])
		return l, err == nil
	}
	for _, g := range m.rep.Host.GPUs {
		if g.Index != nil && device == fmt.Sprintf("cuda:%d", *g.Index) && g.Link.State == results.LinkKnown {
			return theory.LinkOf(g.Link.MaxGTs, g.Link.Width) // idle ones fall to a lower rate
		}
	}
	return theory.Link{}, false
}

// linkRange is the rates of the links that were measured, B/s.
func (m *loaderModel) linkRange() (lo, hi float64) {
	lo, hi = m.link, m.link
	for _, r := range m.p.Find("free", results.FreeLoading) {
		if x := linkRate(r.Params.Text("device"), "pinned"); x > 0 {
			lo, hi = min(lo, x), max(hi, x)
		}
	}
	return lo, hi
}

// memoryChange is another kind of host memory.
func (m *loaderModel) memoryChange(mem string) change {
	c := change{name: mem + " memory", kind: kindMemory, cost: results.Free}
	c.apply = func(s *scenario) error {
		if mem == m.base.Params.Text("mem") {
			return nil
		}
		rate := m.memoryRate(mem)
		if rate <= 0 {
			return &NeedsError{"pcie", mem + " memory"}
		}
		s.setMemory(mem, rate)
		return nil
	}
	return c
}

// memoryRate is the rate of copies of a batch from a kind of host memory over the
// base's device, B/s; 0 where it was not measured.
func (m *loaderModel) memoryRate(mem string) float64 {
	device := m.base.Params.Text("device")
	for i := range m.rep.Results {
		r := &m.rep.Results[i]
		if r.Suite == "pcie" && r.Status == results.OK && r.Params.Text("device") == device && r.Params.Text("dir") == results.H2D && r.Params.Text("mem") == mem &&
			r.Params.Int("bytes") == m.batch.Bytes() && r.Params.Text("source") != results.SourceCold && results.As[results.PCIeParams](r.Params).Undisturbed() {
			if x := r.Metric("bandwidth"); x != nil && x.Median > 0 {
				return x.Median
			}
		}
	}
	if mem == results.Staged {
		return 0
	}
	return linkRate(device, mem)
}

// diskChange is a disk that is told.
func (m *loaderModel) diskChange(d theory.DiskSpec) change {
	c := change{name: fmt.Sprintf("disk %s (%s)", d.Name, results.FormatValue(d.Rate, results.BytesPerSecond)), kind: kindDisk, cost: results.Purchase, assumes: "disk"}
	c.apply = func(s *scenario) error {
		if m.stored <= 0 {
			return &NeedsError{"pipeline", "another disk"}
		}
		s.setDisk(d)
		return nil
	}
	lo, hi := m.diskRange()
	c.beyond = d.Rate < 0.99*lo || d.Rate > 1.01*hi
	if own, ok := m.diskOf(m.base); !ok || own.Rate >= d.Rate && own.Latency <= d.Latency { // a real one: what is read is in memory
		c.cost = ""
	}
	return c
}

// diskRange is the rates of the emulated disks from which batches were loaded; no
// number lies in it where there was none.
func (m *loaderModel) diskRange() (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, r := range m.p.Find("free", results.FreeNothing) {
		if d, ok := m.diskOf(r); ok {
			lo, hi = min(lo, d.Rate), max(hi, d.Rate)
		}
	}
	return lo, hi
}

// memoryData is the data in the page cache.
func (m *loaderModel) memoryData() change {
	c := change{name: "the data in RAM", kind: kindRead, cost: results.Purchase, apply: func(s *scenario) error { s.inMemory(); return nil }}
	if d := m.rep.Dataset; d != nil && m.rep.Host.Memory.Available > 2*d.Bytes {
		c.cost = results.Free
		c.note = fmt.Sprintf("the %s that were read fit into the %s available", results.FormatBytes(d.Bytes), results.FormatBytes(m.rep.Host.Memory.Available))
	}
	return c
}

// coldData is data that does not fit into RAM.
func (m *loaderModel) coldData() change {
	store := "files"
	if m.rep.Dataset != nil {
		store = m.rep.Dataset.Store
	}
	r := results.DiskCase(m.rep.Results, store, results.ColdData)
	return change{name: "data larger than RAM, from this disk", kind: kindRead, beyond: r == nil || m.coldest() < r.Metric("time").Median, apply: func(s *scenario) error {
		if r == nil {
			return &NeedsError{"disk", "data larger than RAM"}
		}
		s.disk, s.known = theory.DiskSpec{}, false
		s.r.OneDisk, s.r.Latency, s.r.Read = false, 0, values(r.Metric("time"))
		return nil
	}}
}

// coldest is the longest that reading a batch past the page cache took in a case of the
// pipeline like the base, s; 0 where there is none.
func (m *loaderModel) coldest() (s float64) {
	for _, r := range m.p.Find("cache", results.Direct) {
		if x := r.Metric("read"); x != nil && results.ProvenCold(r) && results.SameBut(r, m.base, "cache") {
			s = max(s, x.Median)
		}
	}
	return s
}

// values are those of a metric's samples.
func values(m *results.Metric) (v []float64) {
	for _, s := range m.Samples {
		if s.Value >= 0 && !math.IsInf(s.Value, 0) {
			v = append(v, s.Value)
		}
	}
	if v == nil {
		v = []float64{m.Median}
	}
	return v
}

// tarShards is the same images one behind the other.
func (m *loaderModel) tarShards() change {
	return change{name: "tar shards instead of files", kind: kindDisk, cost: results.Free, beyond: true, apply: func(s *scenario) error {
		if m.rep.Dataset != nil && m.rep.Dataset.Store == "tar" {
			return fmt.Errorf("the data is in tar shards already")
		}
		s.reads = 1
		if s.disk.Emulated() { // arithmetic
			s.known = true
			return nil
		}
		files, tar := results.DiskCase(m.rep.Results, "files", results.Warm), results.DiskCase(m.rep.Results, "tar", results.Warm)
		if files == nil || tar == nil {
			return &NeedsError{"disk", "tar shards"}
		}
		by := tar.Metric("time").Median / files.Metric("time").Median
		s.r.Read, s.readCPU = theory.Times(s.r.Read, by), s.readCPU*by
		return nil
	}}
}
