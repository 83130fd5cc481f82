package chart

import (
	"fmt"
	"testing"

	"gonum.org/v1/plot/plotter"

	"dlbench/bench/theory"
	"dlbench/results"
)

// preprocessResult is a result of suite preprocess: rate images/s with so many
// threads, of which each is kept busy for the stages (read, decode, resample and
// collate, s) and a little else.
func preprocessResult(strategy, decoder string, threads int64, rate float64, stages [4]float64) results.Result {
	r := caseOf("preprocess", "threads", threads, "decoder", decoder, "strategy", strategy, "layout", "nhwc",
		"dtype", "float32", "antialias", "on")
	r.Metrics = []results.Metric{sampled("throughput", results.PerSecond, rate, 0.98, 1.01)}
	cpu := 0.0
	for i, name := range []string{"read", "decode", "resample", "collate", "cpu"} {
		t := cpu * 1.03
		if i < len(stages) {
			t = stages[i]
			cpu += t
		}
		if t > 0 {
			r.Metrics = append(r.Metrics, results.Metric{Name: name, Unit: results.Seconds, Median: t, Min: t, Max: t})
		}
	}
	r.References = demanded()
	return r
}

// machine is what a fixture of preprocessing scales by.
type machine struct {
	counts []int64
	cores  int64   // threads above share cores
	fast   int64   // threads above run on slower cores, 0 for none
	turbo  float64 // images/s of one thread
}

// busy is how many threads' worth of work n threads do at most.
func (m machine) busy(n int64) float64 {
	full, half := min(n, m.cores), max(0, n-m.cores)
	return float64(full) - 0.45*float64(m.slower(n)) + 0.25*float64(half)
}

// slower is how many of n threads run on slower cores.
func (m machine) slower(n int64) int64 {
	if m.fast == 0 {
		return 0
	}
	return max(0, min(n, m.cores)-m.fast)
}

// preprocessReport is a machine that ran the whole suite.
func preprocessReport(label string, m machine) *results.Report {
	rep := newReport(label)
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
			stages := w.stages
			for i := range stages {
				stages[i] *= float64(n) / m.busy(n)
			}
			rate := m.turbo * w.times * m.busy(n) / (1 + 0.015*float64(n-1))
			r := preprocessResult(w.strategy, w.decoder, n, rate, stages)
			proof := results.PreprocessProof{Siblings: int(max(0, n-m.cores)), Slower: int(m.slower(n))}
			if w.decoder == "turbo" {
				proof.Decoder = "libjpeg-turbo 2.1.5"
			}
			r.Proof = results.RecordOf(proof)
			if len(m.counts) > 3 {
				r.Fit = results.RecordOf(results.Fit{Model: theory.Amdahl, Serial: new(0.015), Error: 0.021})
			}
			rep.Results = append(rep.Results, r)
		}
	}
	for key, value := range map[string]string{"layout": "nchw", "antialias": "off"} {
		other := preprocessResult("online", "turbo", 1, m.turbo*1.02, [4]float64{8e-6, 520e-6, 70e-6, 21e-6})
		other.Params = other.Params.With(key, value)
		rep.Results = append(rep.Results, other)
	}
	return rep
}

// Machines that people have.
var (
	notebook    = machine{counts: []int64{1, 2, 4}, cores: 4, turbo: 575}
	workstation = machine{counts: []int64{1, 2, 4, 6, 8, 10, 12, 16}, cores: 8, turbo: 820}
	hybridPC    = machine{counts: []int64{1, 2, 4, 6, 8, 12, 14, 20}, cores: 14, fast: 6, turbo: 1310}
	server      = machine{counts: []int64{1, 2, 4, 8, 16, 32, 48, 64}, cores: 64, turbo: 690}
	smallHybrid = machine{counts: []int64{1, 2, 4, 6}, cores: 4, fast: 2, turbo: 1000}
)

// failed is rep whose i-th case failed.
func failed(rep *results.Report, i int) []*results.Report {
	rep.Results[i] = failing(rep.Results[i])
	return one(rep)
}

func TestStageParts(t *testing.T) {
	want := []string{"8", "520", "95", "21", "19.3"}
	for i, x := range stageTimes(one(preprocessReport("rig", workstation)))[0].(bars).Rows[0].Parts {
		if have := fmt.Sprintf("%.3g", x*1e6); have != want[i] {
			t.Errorf("part %d: %s µs, want %s", i, have, want[i])
		}
	}
}

// machinesOfDecoders are two machines with different versions of a decoder.
func machinesOfDecoders() []*results.Report {
	a, b := preprocessReport("a", workstation), preprocessReport("b", notebook)
	for i := range b.Results {
		if b.Results[i].Params.Text("decoder") == "turbo" {
			b.Results[i].Proof = results.RecordOf(results.PreprocessProof{Decoder: "libjpeg-turbo 3.0.1"})
		}
	}
	return []*results.Report{a, b}
}

func TestFitText(t *testing.T) {
	for want, f := range map[string]results.Fit{
		"3.1 % serial (Amdahl, error 0.8 %)":          {Model: theory.Amdahl, Serial: new(0.0312), Error: 0.008},
		"0.0 % serial (Amdahl, error 0.0 %)":          {Model: theory.Amdahl, Serial: new(0.0)},
		"peak at 10 threads (USL, error 2.0 %)":       {Model: theory.USL, Peak: new(10.0), Error: 0.02, Most: 10},
		"no peak up to 9 threads (USL, error 0.0 %)":  {Model: theory.USL, Peak: new(10.0), Most: 9},
		"no peak up to 64 threads (USL, error 0.0 %)": {Model: theory.USL, Most: 64},
		"": {Model: "cubic"},
	} {
		if have := fitText(f); have != want {
			t.Errorf("have %q, want %q", have, want)
		}
	}
}

func TestNeedsOfChart(t *testing.T) {
	reports := one(preprocessReport("", notebook)) // to 2 300 images/s
	for i := range reports[0].Results {
		reports[0].Results[i].References = nil
	}
	var needs []results.Reference
	for name, rate := range map[string]float64{"a": 30, "b": 58, "c": 3000, "d": 4000} {
		needs = append(needs, against(results.DemandPrefix+name, "throughput", rate))
	}
	reports[0].Results[0].References = needs
	d := scalings(reports)[0].(lines)
	var have []string
	for _, l := range d.Levels {
		if l.style.Width > 0 {
			have = append(have, l.Name)
		}
	}
	compare(t, have, []string{"b", "c"})
	if end := d.under[0].(*plotter.Line).XYs[1]; end.Y != d.Lines[0].Points[0].Median*d.x.max {
		t.Errorf("linear scaling ends at %v", end)
	}
}

func TestJoins(t *testing.T) {
	d := scalings(one(preprocessReport("", smallHybrid)))[0].(lines)
	var have []string
	for _, s := range d.Stops {
		have = append(have, fmt.Sprint(s.At, " ", s.Text))
	}
	compare(t, have, []string{"2 slower cores →", "4 SMT siblings →"})
}
