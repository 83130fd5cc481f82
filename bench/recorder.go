package bench

import (
	"maps"
	"time"

	"github.com/montanaflynn/stats"

	"dlbench/results"
)

// Recorder takes what one sample measured.
type Recorder struct {
	// Warmup marks a sample that is thrown away: a runner should keep nothing of it.
	Warmup       bool
	Elapsed      time.Duration
	Items, bytes int64
	set          map[string]float64   // by metric
	observed     map[string][]float64 // likewise, s
}

// Add records timed work: items images or copies, bytes moved, in elapsed. A
// sample may add several times.
func (r *Recorder) Add(elapsed time.Duration, items, bytes int64) {
	r.Elapsed += elapsed
	r.Items += items
	r.bytes += bytes
}

// Set records a metric of the whole sample, in the metric's unit.
func (r *Recorder) Set(metric string, value float64) {
	if r.set == nil {
		r.set = map[string]float64{}
	}
	r.set[metric] = value
}

// SetKnown is Set of what cannot be 0: that stands for what could not be measured.
func (r *Recorder) SetKnown(metric string, value float64) {
	if value > 0 {
		r.Set(metric, value)
	}
}

// Observe records one of many single durations of a metric. The sample's value
// is their mean; quantiles are taken over the observations of all samples.
func (r *Recorder) Observe(metric string, d time.Duration) {
	if r.observed == nil {
		r.observed = map[string][]float64{}
	}
	r.observed[metric] = append(r.observed[metric], d.Seconds())
}

// values gives a sample's value of each metric that it recorded. time is per repetition;
// bandwidth and throughput are rates over the timed work.
func (r *Recorder) values(n int) map[string]float64 {
	v := map[string]float64{}
	if sec := r.Elapsed.Seconds(); sec > 0 {
		v["time"], v["bandwidth"], v["throughput"] = sec/float64(n), float64(r.bytes)/sec, float64(r.Items)/sec
	}
	for name, all := range r.observed {
		v[name], _ = stats.Mean(all) // there is an observation
	}
	maps.Copy(v, r.set)
	return v
}

// distribution is the quantiles that a distribution is drawn from, as far as there
// are observations for them.
var distribution = []float64{0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7,
	0.75, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 0.9999}

// tally gathers the samples of one case.
type tally struct {
	defs     []MetricDef
	samples  map[string][]results.Sample
	observed map[string][]float64
}

// NewTally is an empty one for these metrics.
func NewTally(defs []MetricDef) *tally {
	return &tally{defs: defs, samples: map[string][]results.Sample{}, observed: map[string][]float64{}}
}

// Add adds the values of a sample and what it observed.
func (t *tally) Add(r *Recorder, s results.Sample) {
	for name, v := range r.values(s.N) {
		s.Value = v
		t.samples[name] = append(t.samples[name], s)
	}
	for name, o := range r.observed {
		t.observed[name] = append(t.observed[name], o...)
	}
}

// flag marks the samples taken since a time in seconds of the run.
func (t *tally) flag(since float64, flag string) {
	for _, s := range t.samples {
		for i := range s {
			if s[i].T >= since {
				s[i].Flags = append(s[i].Flags, flag)
			}
		}
	}
}

// Metrics summarises the samples, in the order of the definitions. A metric
// without a sample is left out.
func (t *tally) Metrics() []results.Metric {
	var ms []results.Metric
	for _, d := range t.defs {
		if len(t.samples[d.Name]) == 0 {
			continue
		}
		m := results.Metric{Name: d.Name, Unit: d.Unit, Better: d.Better, Samples: t.samples[d.Name]}
		resolution := d.Resolution
		if d.Name == "time" { // the clock reads a sample, of which this is one repetition
			resolution /= float64(m.Samples[0].N)
		}
		results.Summarize(&m, results.SummaryOptions{Resolution: resolution, NoInterval: d.NoInterval})
		ps := []float64{0.95, 0.99, 0.999}
		if d.Distribution {
			ps = distribution
		}
		m.Quantiles = results.Quantiles(t.observed[d.Name], ps...)
		ms = append(ms, m)
	}
	return ms
}
