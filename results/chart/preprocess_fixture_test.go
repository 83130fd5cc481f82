package chart

import (
	"dlbench/bench/theory"
	"dlbench/results"
)

// preprocessResult is a result of suite preprocess: rate images/s with so many
// threads, of which each is kept busy for the stages (read, decode, resample and
// collate, s) and a little else.
func preprocessResult(strategy, decoder string, threads int64, rate, control float64,
	stages [4]float64) results.Result {
	proof := &results.PreprocessProof{CPUs: []int{0}}
	r := results.Result{Suite: "preprocess", Status: results.OK, Proof: results.RecordOf(proof)}
	r.Params = results.Params{{Key: "threads", Value: threads}}
	if decoder != "" {
		r.Params = append(r.Params, results.Param{Key: "decoder", Value: decoder})
	}
	r.Params = append(r.Params, results.Param{Key: "strategy", Value: strategy},
		results.Param{Key: "layout", Value: "nhwc", Implied: true},
		results.Param{Key: "dtype", Value: "float32", Implied: true}, results.Param{Key: "antialias", Value: "on",
			Implied: true})
	if decoder == "turbo" {
		proof.Decoder = "libjpeg-turbo 2.1.5"
	}
	r.Name = r.Params.Name(r.Suite)
	cpu := (stages[0] + stages[1] + stages[2] + stages[3]) * 1.03
	r.Metrics = []results.Metric{
		{Name: "throughput", Unit: results.PerSecond, Better: results.Higher, Median: rate, Min: rate * 0.95,
			Max: rate * 1.02, Lo: new(rate * 0.98), Hi: new(rate * 1.01)},
		{Name: "control", Unit: results.PerSecond, Better: results.Higher, Median: control, Min: control, Max: control},
		{Name: "cpu", Unit: results.Seconds, Better: results.Lower, Median: cpu, Min: cpu, Max: cpu},
	}
	for i, name := range []string{"read", "decode", "resample", "collate"} {
		if t := stages[i]; t > 0 {
			r.Metrics = append(r.Metrics,
				results.Metric{Name: name, Unit: results.Seconds, Better: results.Lower, Median: t, Min: t, Max: t})
		}
	}
	r.References = append(r.References, results.Reference{Name: "linear", Metric: "throughput",
		Value: new(float64(threads) * rate)})
	for _, d := range theory.Demands {
		r.References = append(r.References,
			results.Reference{Name: "demand: " + d.Name, Metric: "throughput", Value: new(d.Rate()), Source: d.Source})
	}
	return r
}

// machine is what a fixture of preprocessing scales by.
type machine struct {
	counts []int64
	cores  int64   // threads above share cores
	fast   int64   // threads above run on slower cores, 0 for none
	turbo  float64 // images/s of one thread
	law    theory.Scaling
	fit    bool
}

// busy is how many threads' worth of work n threads do at most.
func (m machine) busy(n int64) float64 {
	full, half := min(n, m.cores), max(0, n-m.cores)
	slow := int64(0)
	if m.fast > 0 {
		slow = max(0, full-m.fast)
	}
	return float64(full-slow) + 0.55*float64(slow) + 0.25*float64(half)
}

// preprocessReport is a machine that ran the whole suite.
func preprocessReport(label string, m machine) *results.Report {
	rep := newReport(label)
	most := m.counts[len(m.counts)-1]
	rep.Host.CPU.Cores, rep.Host.CPU.Threads, rep.Host.CPU.Governor, rep.Host.CPU.Hz = int(m.cores), int(max(most,
		m.cores)), "performance", 3.1e9
	for _, w := range []struct {
		strategy, decoder string
		times             float64
		stages            [4]float64
	}{
		{"online", "turbo", 1, [4]float64{8e-6, 520e-6, 95e-6, 21e-6}},
		{"online", "go", 0.62, [4]float64{8e-6, 905e-6, 95e-6, 21e-6}},
		{"offline", "", 8.3, [4]float64{55e-6, 0, 0, 23e-6}},
	} {
		for _, n := range m.counts {
			one := m.turbo * w.times
			control := one * m.busy(n)
			loss, _ := m.law.At(float64(n))
			slower := float64(n) / m.busy(n)
			stages := w.stages
			for i := range stages {
				stages[i] *= slower
			}
			r := preprocessResult(w.strategy, w.decoder, n, control*loss/m.law.X1/float64(n), control, stages)
			proof := results.As[results.PreprocessProof](r.Proof)
			proof.Siblings = int(max(0, n-m.cores))
			if m.fast > 0 {
				proof.Slower = int(max(0, min(n, m.cores)-m.fast))
			}
			r.Proof = results.RecordOf(proof)
			if n == most && m.fit {
				r.Fit = fitMap(rep, w.strategy, w.decoder, r)
			}
			rep.Results = append(rep.Results, r)
		}
	}
	nchw := preprocessResult("online", "turbo", 1, m.turbo*0.98, m.turbo, [4]float64{8e-6, 520e-6, 108e-6, 24e-6})
	nchw.Params = nchw.Params.With("layout", "nchw")
	plain := preprocessResult("online", "turbo", 1, m.turbo*1.04, m.turbo, [4]float64{8e-6, 520e-6, 70e-6, 21e-6})
	plain.Params = plain.Params.With("antialias", "off")
	rep.Results = append(rep.Results, nchw, plain)
	return rep
}

// fitMap fits what rep has of a way, and last, as a suite would write it.
func fitMap(rep *results.Report, strategy, decoder string, last results.Result) results.Record {
	var rates []theory.Rate
	for _, r := range append(rep.Results[:len(rep.Results):len(rep.Results)], last) {
		if r.Params.Text("strategy") == strategy && r.Params.Text("decoder") == decoder {
			rates = append(rates, theory.Rate{Threads: int(r.Params.Int("threads")), Value: r.Metrics[0].Median})
		}
	}
	s, ok := theory.FitScaling(rates)
	if !ok {
		return results.Record{}
	}
	return results.RecordOf(results.NewFit(s))
}

// Machines that people have.
var (
	notebook    = machine{counts: []int64{1, 2}, cores: 2, turbo: 1150, law: theory.Scaling{X1: 1, Sigma: 0.02}}
	workstation = machine{counts: []int64{1, 2, 4, 6, 8, 10, 12, 16}, cores: 8, turbo: 820,
		law: theory.Scaling{X1: 1, Sigma: 0.015}, fit: true}
	hybridPC = machine{counts: []int64{1, 2, 4, 6, 8, 12, 14, 20}, cores: 14, fast: 6, turbo: 1310,
		law: theory.Scaling{X1: 1, Sigma: 0.01}, fit: true}
	server = machine{counts: []int64{1, 2, 4, 8, 16, 32, 48, 64}, cores: 64, turbo: 690,
		law: theory.Scaling{X1: 1, Sigma: 0.006, Kappa: 2.5e-4}, fit: true}
)
