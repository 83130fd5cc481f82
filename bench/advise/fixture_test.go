package advise

import (
	"math/rand/v2"
	"slices"
	"testing"

	"dlbench/results"
)

// usual is a case of the pipeline at top speed, with one worker and one thread that the
// step keeps busy.
var usual = results.PipelineParams{Device: "sim:gen3x16", Mem: "pinned", Prefetch: 2, Workers: 1,
	Strategy: results.Online, Free: results.FreeNothing, Disk: "real", DType: "float32", StepCPU: 1}

// measured is a case whose samples of a step took so many seconds, by restart.
func measured(p results.PipelineParams, restarts ...[]float64) results.Result {
	params, err := results.ParamsOf(p, func(string, string) bool { return false })
	if err != nil {
		panic(err)
	}
	r := results.Result{Suite: "pipeline", Name: params.Name("pipeline"), Params: params, Status: results.OK,
		Assumed: []string{"link"}}
	if p.Step > 0 {
		r.Assumed = append(r.Assumed, "step")
	}
	if p.Disk != "real" {
		r.Assumed = append(r.Assumed, "disk")
	}
	time := results.Metric{Name: "step_time", Unit: results.Seconds}
	rate := results.Metric{Name: "throughput", Unit: results.PerSecond}
	for run, samples := range restarts {
		for _, s := range samples {
			time.Samples = append(time.Samples, results.Sample{Value: s, N: 4, Run: run})
			rate.Samples = append(rate.Samples, results.Sample{Value: 32 / s, N: 4, Run: run})
		}
	}
	results.Summarize(&time, results.SummaryOptions{})
	results.Summarize(&rate, results.SummaryOptions{})
	r.Metrics = []results.Metric{time, rate}
	return r
}

// steady is samples of the same time.
func steady(seconds float64) []float64 { return slices.Repeat([]float64{seconds}, 12) }

// reportOf is a report of cases on two cores.
func reportOf(cases ...results.Result) *results.Report {
	rep := &results.Report{SchemaVersion: 1, Results: cases,
		Config:  results.Config{Batch: 32, Shape: []int{225, 225, 3}, DType: "float32"},
		Dataset: &results.Dataset{Store: "files", Images: 640, Bytes: 640 * 100e3}}
	rep.Host.CPU.Usable = 2
	rep.Host.Memory.Total, rep.Host.Memory.Available = 24<<30, 20<<30
	return rep
}

// modelOf is the model of a report.
func modelOf(t *testing.T, rep *results.Report) *model {
	t.Helper()
	m, err := newModel(rep)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// loaderParts is a loader of one worker on two cores, one of which the step keeps busy:
// what its parts take for a batch, s.
type loaderParts struct {
	read, preprocess, copy float64
	disk, device           string
	restarts               []float64 // factors of the whole; nil: three that are the same
	whole                  float64   // factor of what all parts take together; 0 is 1
	decoder                string
	noise                  float64 // relative, of each batch
	seed                   uint64
}

// usualParts are those of photographs on a fast disk.
var usualParts = loaderParts{read: 2e-3, preprocess: 40e-3, copy: 1.5e-3, disk: "real", device: "sim:gen3x16",
	decoder: "libjpeg-turbo 2.1.5", restarts: []float64{1, 1, 1}, whole: 1}

// with is l changed.
func (l loaderParts) with(change func(*loaderParts)) loaderParts {
	change(&l)
	return l
}

// report is what measuring such a loader gives.
func (l loaderParts) report() *results.Report {
	random := rand.New(rand.NewPCG(l.seed, 3))
	rep := reportOf()
	add := func(p results.PipelineParams, seconds float64, factors ...float64) {
		var restarts [][]float64
		for _, f := range factors {
			samples := steady(seconds * f)
			for i := range samples {
				noise := 0.0
				for range 4 { // steps of a sample
					noise += l.noise * (2*random.Float64() - 1) / 4
				}
				if p.Step == 0 && p.Free != results.FreeLoading { // else paced
					samples[i] *= 1 + noise
				}
			}
			restarts = append(restarts, samples)
		}
		r := measured(p, restarts...)
		r.Proof = results.RecordOf(results.PipelineProof{Decoder: l.decoder})
		rep.Results = append(rep.Results, r)
	}
	at := usual
	at.Disk, at.Free, at.Step = l.disk, results.FreeLoading, results.Duration(216e6)
	for _, at.Device = range []string{"sim:gen3x4", "sim:gen3x8", "sim:gen3x16"} {
		at.Prefetch = 0
		add(at, 0.216+19440000/linkRate(at.Device, "pinned"), 1)
		at.Prefetch = 1
		add(at, 0.216, 1)
	}
	at.Device, at.Prefetch, at.Step = l.device, 2, 0
	makes := l.read + l.preprocess
	at.Free = results.FreeNothing
	add(at, l.whole*max(makes, l.copy), l.restarts...)
	for _, c := range []struct {
		free    string
		seconds float64
	}{
		{results.PartRead, max(l.preprocess, l.copy)},
		{results.PartPreprocess, max(l.read, l.copy)},
		{results.PartCopy, makes},
		{results.FreeLoading, l.copy},
		{results.PartRead + "+" + results.PartCopy, l.preprocess},
		{results.PartPreprocess + "+" + results.PartCopy, l.read},
		{results.FreeAll, 1e-6},
	} {
		at.Free = c.free
		add(at, c.seconds, 1)
	}
	at.Free, at.Step = results.FreeNothing, results.Duration(216e6)
	add(at, max(0.216, makes, l.copy), 1)
	at.Prefetch = 0
	add(at, 0.216+makes+l.copy, 1)
	return rep
}
