package advise

import (
	"math/rand/v2"

	"dlbench/results"
)

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

// report is what measuring such a loader gives.
func (l loaderParts) report() *results.Report {
	random := rand.New(rand.NewPCG(l.seed, 3))
	if l.disk == "" {
		l.disk = "real"
	}
	if l.device == "" {
		l.device = "sim:gen3x16"
	}
	rep := &results.Report{SchemaVersion: 1, Config: results.Config{Batch: 32, Shape: []int{225, 225, 3},
		DType: "float32"},
		Dataset: &results.Dataset{Store: "files", Images: 640, Bytes: 640 * 100e3}}
	rep.Host.CPU.Usable = 2
	rep.Host.Memory.Total, rep.Host.Memory.Available = 24<<30, 20<<30
	draw := func(mean, noise float64, n int) (v []float64) {
		for range n {
			v = append(v, mean*(1+noise*(2*random.Float64()-1)))
		}
		return v
	}
	add := func(device, disk, free, step string, prefetch int, factors []float64, seconds float64) {
		p := results.Params{{Key: "device", Value: device}, {Key: "mem", Value: "pinned"}, {Key: "prefetch",
			Value: int64(prefetch)}, {Key: "workers", Value: int64(1)},
			{Key: "strategy", Value: results.Online}, {Key: "free", Value: free}, {Key: "disk", Value: disk},
			{Key: "step", Value: step}, {Key: "dtype", Value: "float32"}, {Key: "cpus", Value: "all"},
			{Key: "step-cpu", Value: int64(1)}}
		r := results.Result{Suite: "pipeline", Name: p.Name("pipeline"), Params: p, Status: results.OK,
			Proof: results.RecordOf(map[string]any{"decoder": l.decoder}), Assumed: []string{"link"}}
		if step != "0s" {
			r.Assumed = append(r.Assumed, "step")
		}
		if disk != "real" {
			r.Assumed = append(r.Assumed, "disk")
		}
		noise := l.noise
		if step != "0s" || free == results.FreeLoading { // paced
			noise = 0
		}
		time, rate := results.Metric{Name: "step_time", Unit: results.Seconds}, results.Metric{Name: "throughput",
			Unit: results.PerSecond}
		for run, f := range factors {
			for range 12 {
				s := 0.0
				for _, x := range draw(seconds*f, noise, 4) {
					s += x / 4
				}
				time.Samples = append(time.Samples, results.Sample{Value: s, N: 4, Run: run})
				rate.Samples = append(rate.Samples, results.Sample{Value: 32 / s, N: 4, Run: run})
			}
		}
		results.Summarize(&time, results.SummaryOptions{})
		results.Summarize(&rate, results.SummaryOptions{})
		r.Metrics = []results.Metric{time, rate}
		r.Series = []results.Series{{Name: "step_time", Unit: results.Seconds, V: draw(seconds, noise, 48)}}
		rep.Results = append(rep.Results, r)
	}
	once, whole := []float64{1}, l.restarts
	if whole == nil {
		whole = []float64{1, 1, 1}
	}
	if l.whole == 0 {
		l.whole = 1
	}
	for _, link := range []string{"sim:gen3x4", "sim:gen3x8", "sim:gen3x16"} {
		copied := 19440000 / linkRate(link, "pinned")
		add(link, l.disk, results.FreeLoading, "216ms", 0, once, 0.216+copied)
		add(link, l.disk, results.FreeLoading, "216ms", 1, once, 0.216)
	}
	makes := l.read + l.preprocess
	add(l.device, l.disk, results.FreeNothing, "0s", 2, whole, l.whole*max(makes, l.copy))
	add(l.device, l.disk, results.PartRead, "0s", 2, once, max(l.preprocess, l.copy))
	add(l.device, l.disk, results.PartPreprocess, "0s", 2, once, max(l.read, l.copy))
	add(l.device, l.disk, results.PartCopy, "0s", 2, once, makes)
	add(l.device, l.disk, results.FreeLoading, "0s", 2, once, l.copy)
	add(l.device, l.disk, results.PartRead+"+"+results.PartCopy, "0s", 2, once, l.preprocess)
	add(l.device, l.disk, results.PartPreprocess+"+"+results.PartCopy, "0s", 2, once, l.read)
	add(l.device, l.disk, results.FreeAll, "0s", 2, once, 1e-6)
	add(l.device, l.disk, results.FreeNothing, "216ms", 2, once, max(0.216, makes, l.copy))
	add(l.device, l.disk, results.FreeNothing, "216ms", 0, once, 0.216+makes+l.copy)
	return rep
}

// usualParts are those of photographs on a fast disk.
var usualParts = loaderParts{read: 2e-3, preprocess: 40e-3, copy: 1.5e-3, decoder: "libjpeg-turbo 2.1.5"}
