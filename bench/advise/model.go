// Package advise predicts from a report what a change to the loader would bring, compares
// predictions with what was measured, and says what the bottleneck is.
package advise

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"dlbench/bench/theory"
	"dlbench/results"
)

// model is the loader of a report: its case at top speed, by what the cases with parts
// made free took.
type model struct {
	report   *results.Report
	base     *results.Result // the case at top speed
	rate     float64         // that it reached, images/s
	params   results.PipelineParams
	batch    theory.Batch
	parts    loader        // of the base, as they were measured one by one
	loader   loader        // the same, calibrated to what all of them took together
	missed   float64       // what parts predict of the base, relative to it, less 1
	store    string        // of the samples: files, tar, ...
	cores    float64       // that this process may use
	rates    []theory.Rate // of preprocessing by threads
	controls []theory.Rate // of work that shares nothing, by threads
	spread   float64       // of the base between runs: half of what the slowest is slower than the fastest
	split    bool          // reading and preprocessing are known separately,
	apart    bool          // and were measured so in the pipeline
	checked  []check       // predictions of cases that were measured
}

// needs says which suite a report lacks.
func needs(suite, what string) error {
	return fmt.Errorf("%s: needs the %s suite: dlbench run --suite %s,pipeline", what, suite, suite)
}

// newModel is the loader of a report.
func newModel(rep *results.Report) (*model, error) {
	m := &model{report: rep, cores: max(rep.Host.CPU.Usable, 0.01)}
	m.base = results.PipelineCases(rep.Results).Fastest()
	if m.base == nil || m.base.Metric("step_time") == nil || !(m.base.Metric("throughput").Median > 0) {
		return nil, errors.New("what the loader feeds was not measured: dlbench run --suite pipeline")
	}
	m.params = paramsOf(m.base)
	m.parts = loader{cores: m.cores}.with(m.params)
	m.parts.disk, _ = theory.ParseDisk(m.params.Disk) // none of a real one
	if err := m.setBatch(); err != nil {
		return nil, err
	}
	if l := results.UsualLine(rep.Results, results.Online); l != nil {
		m.rates, m.controls = l.Rates, controlsOf(l)
	}
	if err := m.setCopy(); err != nil {
		return nil, err
	}
	m.setLoading()
	m.rate = m.base.Metric("throughput").Median
	together := float64(m.batch.Images) / m.rate // s a batch
	m.loader, m.missed = m.parts.calibrated(together), m.parts.stepTime()/together-1
	if !(m.loader.stepTime() > 0) {
		return nil, errors.New("the report says that the parts of the loader take no time")
	}
	medians := results.RunMedians(m.base.Metric("step_time").Samples)
	if len(medians) > 0 && slices.Min(medians) > 0 {
		m.spread = (slices.Max(medians)/slices.Min(medians) - 1) / 2
	}
	m.checked = m.checks()
	return m, nil
}

// setBatch sets the batch and the bytes that are read for one.
func (m *model) setBatch() error {
	c := m.report.Config
	if len(c.Shape) != 3 {
		return errors.New("the report does not say the shape of an image")
	}
	m.batch = theory.Batch{Images: c.Batch, Height: c.Shape[0], Width: c.Shape[1], Channels: c.Shape[2], DType: c.DType}
	if m.params.DType != "" {
		m.batch.DType = m.params.DType
	}
	if err := m.batch.Check(); err != nil {
		return fmt.Errorf("the report's batch: %w", err)
	}
	m.parts.reads = float64(m.batch.Images)
	m.store = "files"
	if d := m.report.Dataset; d != nil {
		m.store = d.Store
		if d.Images > 0 {
			m.parts.stored = float64(d.Bytes) / float64(d.Images) * m.parts.reads
		}
	}
	if m.params.Strategy != results.Online || m.store == "tar" {
		m.parts.reads = 1
	}
	return nil
}

// controlsOf are the rates of independent work that was measured with a line, by threads.
func controlsOf(l *results.ScalingLine) (rates []theory.Rate) {
	for _, r := range l.Cases {
		if median(r, "control") > 0 {
			rates = append(rates, results.RateOf(r, "control"))
		}
	}
	return rates
}

// paramsOf are the parameters of a case of the pipeline.
func paramsOf(r *results.Result) results.PipelineParams {
	return results.As[results.PipelineParams](r.Params)
}

// alike is the case that differs from the base in a parameter; nil without one.
func (m *model) alike(change func(*results.PipelineParams)) *results.Result {
	want := m.params
	change(&want)
	equal := func(p results.PipelineParams) bool { return p == want }
	return results.CaseOf(m.report.Results, "pipeline", equal)
}

// without is the case like the base with parts made free.
func (m *model) without(free string) *results.Result {
	return m.alike(func(p *results.PipelineParams) { p.Free = free })
}

// pastCache is the case like the base that reads past the page cache.
func (m *model) pastCache() *results.Result {
	return m.alike(func(p *results.PipelineParams) { p.Cache = results.Direct })
}

// median is that of a metric of a case, 0 where there is none.
var median = results.MedianOf

// setCopy sets the time of copies: measured back to back, in turn with steps, or of an
// simulated link.
func (m *model) setCopy() error {
	at := m.params
	rate := linkRate(at.Device, at.Mem)
	serial := results.CaseOf(m.report.Results, "pipeline", func(p results.PipelineParams) bool {
		return p.Free == results.FreeLoading && p.Prefetch == 0 &&
			p.Device == at.Device && p.Mem == at.Mem && p.DType == at.DType
	})
	switch r := m.without(results.FreeLoading); {
	case r != nil:
		m.parts.copy = median(r, "step_time")
	case serial != nil:
		m.parts.copy = max(0, median(serial, "step_time")-time.Duration(paramsOf(serial).Step).Seconds())
	case rate > 0:
		m.parts.copy = float64(m.batch.Bytes()) / rate
	default:
		return errors.New("copies alone were not measured: dlbench run --suite pipeline without -a free")
	}
	return nil
}

// linkRate is what a simulated link is given for a kind of memory, B/s; 0 for a GPU.
func linkRate(device, mem string) float64 {
	if d, err := theory.ParseDevice(device); err == nil && d.Sim() {
		return d.Rates.Of(mem)
	}
	return 0
}

// setLoading sets what reading and preprocessing take, each measured with the other
// made free, or else both together and reading from elsewhere.
func (m *model) setLoading() {
	l := &m.parts
	each := float64(l.workers) * l.share() // CPU time in a second of all workers
	l.readFrom(l.disk)                     // which takes no time where it is a real one
	preprocess := m.without(results.PartRead + "+" + results.PartCopy)
	read := m.without(results.PartPreprocess + "+" + results.PartCopy)
	if preprocess == nil || read == nil {
		m.splitLoading(each)
		return
	}
	m.split, m.apart = true, true
	l.preprocess = median(preprocess, "step_time") * each
	if l.disk.Emulated() {
		return
	}
	t := median(read, "step_time")
	l.readCPU = min(t*each, cmp.Or(median(read, "cpu"), t*each)) // unless some of it was a wait
	l.wait = max(0, t*float64(l.workers)-l.readCPU/l.share())
}

// oneThread is how many images a second one thread prepares, 0 where that is not known.
func (m *model) oneThread() float64 {
	if len(m.rates) == 0 || m.rates[0].Threads != 1 {
		return 0
	}
	return m.rates[0].Value
}

// splitLoading splits the base's time, of which the workers have so much CPU time a
// second, by what is known of reading: from the disk that is emulated, from what reads
// took, or from the preprocess suite.
func (m *model) splitLoading(each float64) {
	l := &m.parts
	whole := median(m.base, "step_time") * each
	hidden := median(m.base, "step_time") <= 1.05*l.copy // by the link
	read, direct := median(m.base, "read"), results.Bypassed(m.base)
	line := results.UsualLine(m.report.Results, results.Online)
	m.split = true
	switch {
	case l.disk.Emulated():
		whole = max(0, whole-l.wait*each)
	case m.params.Cache == results.Remote && m.oneThread() > 0:
		// Of the two times the one without a network varies less.
		prep := min(whole, float64(m.batch.Images)/m.oneThread())
		l.wait, whole = (whole-prep)/l.share(), prep
	case read > 0 && direct:
		l.wait = read
		whole = max(0, whole-read*l.share())
	case read > 0:
		l.readCPU = min(read*l.share(), whole)
	case line != nil && line.First().Metric("read") != nil:
		l.readCPU = min(median(line.First(), "read")*float64(m.batch.Images), whole)
	default:
		m.split = false
	}
	if m.oneThread() > 0 && hidden {
		whole = float64(m.batch.Images) / m.oneThread()
	}
	l.preprocess = max(0, whole-l.readCPU)
}

// decoder is what decoded in the base, "" where it is not known.
func (m *model) decoder() string { return results.As[results.PipelineProof](m.base.Proof).Decoder }

// slowDecoder tells whether Go decodes, for want of libjpeg-turbo or as the user wishes.
func (m *model) slowDecoder() bool { return strings.HasPrefix(m.decoder(), "Go") }

// slowDisk tells whether the base's data comes from a disk, and not from memory.
func (m *model) slowDisk() bool { return m.parts.disk.Emulated() || results.Bypassed(m.base) }
