package advise

import (
	"errors"
	"fmt"
	"slices"

	"dlbench/bench/theory"
	"dlbench/results"
)

// loaderModel is the loader of a report, told by what its parts took: the case at top
// speed, and those with parts made free.
type loaderModel struct {
	rep      *results.Report
	p        results.PipelineCases
	base     *results.Result
	batch    theory.Batch
	replay   theory.Replay // of base
	alone    theory.Replay // of its parts as they were measured alone
	readCPU  float64       // of Work, what reading takes, s a batch
	stored   float64       // bytes that are read for a batch
	link     float64       // B/s of copies; 0 where they are not known
	cores    float64
	rates    []theory.Rate // preprocessing by threads
	controls []theory.Rate // of independent work, likewise
	parts    float64       // replay of the parts over the measured base, less 1, before they were held against it
	spread   float64       // of the base between restarts, relative, to the longer side
	split    bool          // reading and preprocessing are known apart
	apart    bool          // and were measured so, in the pipeline

	intervals bool // checks are to have them, which takes most of the time
}

// NeedsError says which suite a report lacks.
type NeedsError struct{ Suite, What string }

func (e *NeedsError) Error() string {
	also := ""
	if e.Suite != "pipeline" {
		also = ",pipeline"
	}
	return fmt.Sprintf("%s: needs the %s suite: dlbench run --suite %s%s", e.What, e.Suite, e.Suite, also)
}

// errNoTopSpeed says that the pipeline suite ran without what a model is made of.
var errNoTopSpeed = errors.New("the loader's top speed was not measured (a case of the pipeline with step 0s that went well)")

// newLoaderModel takes the parts from a report.
func newLoaderModel(rep *results.Report) (*loaderModel, error) {
	m := &loaderModel{rep: rep, p: results.PipelineCases{Rs: rep.Results}}
	if !slices.ContainsFunc(rep.Results, func(r results.Result) bool { return r.Suite == "pipeline" }) {
		return nil, &NeedsError{"pipeline", "a prediction"}
	}
	if m.base = m.p.Fastest(); m.base == nil || m.base.Metric("step_time") == nil || !(m.base.Metric("throughput").Median > 0) {
		return nil, errNoTopSpeed
	}
	if len(rep.Config.Shape) != 3 {
		return nil, errors.New("the report does not say the shape of an image")
	}
	m.batch = theory.Batch{Images: rep.Config.Batch, Height: rep.Config.Shape[0], Width: rep.Config.Shape[1], Channels: rep.Config.Shape[2], DType: rep.Config.DType}
	if t := m.base.Params.Text("dtype"); t != "" {
		m.batch.DType = t
	}
	if err := m.batch.Check(); err != nil {
		return nil, fmt.Errorf("the report's batch: %w", err)
	}
	if d := rep.Dataset; d != nil && d.Images > 0 {
		m.stored = float64(d.Bytes) / float64(d.Images) * float64(m.batch.Images)
	}
	if l := results.UsualLine(rep.Results, results.Online); l != nil {
		m.rates = l.Rates
		m.controls = controlsOf(l)
	}
	m.cores = max(rep.Host.CPU.Usable, 0.01)
	p := m.base.Params
	m.replay = theory.Replay{Cores: m.cores,
		Prefetch: within(p.Int("prefetch"), 0, results.MostPrefetch), Workers: within(p.Int("workers"), 1, results.MostThreads), Busy: within(p.Int("step-cpu"), 0, results.MostThreads)}
	m.replay.Pieces = pieces(m.replay.Workers, m.batch.Images)
	if err := m.takeCopy(); err != nil {
		return nil, err
	}
	m.takeLoading()
	m.alone = m.replay
	m.hold(float64(m.batch.Images) / m.base.Metric("throughput").Median) // of which the median step differs where there are few
	if !(m.typical(m.replay) > 0) {
		return nil, errors.New("the report says that the parts of the loader take no time")
	}
	if medians := results.MediansOfRuns(m.base.Metric("step_time")); len(medians) > 0 && slices.Min(medians) > 0 {
		m.spread = (slices.Max(medians)/slices.Min(medians) - 1) / 2
	}
	return m, nil
}

// controlsOf are the rates of independent work beside those of a line, by threads.
func controlsOf(l *results.ScalingLine) (rates []theory.Rate) {
	for i, r := range l.Cases {
		if c := r.Metric("control"); c != nil && i < len(l.Rates) && c.Median > 0 {
			rates = append(rates, theory.Rate{Threads: l.Rates[i].Threads, Value: c.Median})
		}
	}
	return rates
}

// within is n, which a report may say anything of, within bounds.
func within(n int64, least, most int) int { return int(min(max(n, int64(least)), int64(most))) }

// pieces is into how many pieces a batch is split among workers in a replay: enough
// that none of them waits long for the others, and not so many that it takes long.
func pieces(workers, images int) int {
	if workers < 2 {
		return 1
	}
	return min(images, 2*workers)
}

// diskOf is the disk that a case reads from.
func (m *loaderModel) diskOf(r *results.Result) (d theory.DiskSpec, emulated bool) {
	d, err := theory.ParseDisk(r.Params.Text("disk"))
	return d, err == nil && d.Emulated()
}

// reads is how many discontiguous reads a batch of the base takes.
func (m *loaderModel) reads() float64 {
	if m.base.Params.Text("strategy") != results.Online || m.rep.Dataset != nil && m.rep.Dataset.Store == "tar" {
		return 1
	}
	return float64(m.batch.Images)
}

// diskTime is what a disk takes for a batch of so many bytes in so many reads, one
// after the other.
func (m *loaderModel) diskTime(d theory.DiskSpec, bytes, reads float64) float64 {
	t := bytes / d.Rate
	if d.Seek {
		t += reads * d.Latency.Seconds()
	}
	return t
}

// mostHold bounds the factor by which hold changes parts: more is no drift.
const mostHold = 3

// hold holds the parts, which were measured one by one, against the time of a step of the
// base, which is all of them: whatever the machine did meanwhile is in their ratio.
func (m *loaderModel) hold(measured float64) {
	m.replay = m.alone
	r := &m.replay
	r.Work = slices.Clone(r.Work)
	told := m.typical(m.replay)
	if !(measured > 0) || !(told > 0) {
		return
	}
	m.parts = told/measured - 1
	by := min(max(measured/told, 1/mostHold), mostHold)
	if o := r.Run(); o.By.Copy > o.By.Read+o.By.Preprocess {
		r.Copy, r.Hold = theory.Times(r.Copy, by), theory.Times(r.Hold, by)
		return
	}
	rest := m.readCPU // of Work, and what reading waits for: small, or paced
	if len(r.Read) > 0 {
		rest += results.Middle(r.Read)
	}
	if worked := results.Middle(r.Work) + rest - m.readCPU; by > 0 && worked > rest {
		by = max(0.1, (by*worked-rest)/(worked-rest))
	}
	for i := range r.Work {
		r.Work[i] = by*max(0, r.Work[i]-m.readCPU) + m.readCPU
	}
}

// stretchOf is how many steps make a sample of a case.
func stretchOf(r *results.Result) int {
	if m := r.Metric("step_time"); m != nil && len(m.Samples) > 0 {
		return min(max(1, m.Samples[0].N), mostStretch)
	}
	return 1
}

// mostStretch bounds the samples that are replayed, and leastStretches is how many of
// them there are.
const (
	mostStretch    = 64
	leastStretches = 8
)

// typical is the time of a step in a replay, as the suite takes it: the median of
// stretches of steps, as long as those of the base.
func (m *loaderModel) typical(r theory.Replay) float64 {
	n := stretchOf(m.base)
	r.Batches = max(intervalBatches, leastStretches*n)
	return typicalStep(r.Run(), n)
}

func typicalStep(o theory.Replayed, n int) float64 {
	var means []float64
	for i := 0; i+n <= len(o.Steps); i += n {
		sum := 0.0
		for _, s := range o.Steps[i : i+n] {
			sum += s
		}
		means = append(means, sum/float64(n))
	}
	return results.Middle(means)
}
