package advise

import (
	"math"
	"slices"
	"testing"

	"dlbench/bench/theory"
	"dlbench/results"
)

// A loader whose parts are known exactly is predicted exactly, and what is assumed is no
// check.
func TestChecks(t *testing.T) {
	hdd := usualParts.with(func(l *loaderParts) { l.read, l.disk = 0.4384, "hdd" })
	link := usualParts.with(func(l *loaderParts) { l.copy, l.device = 97.2e-3, "sim:gen1x1" })
	for _, c := range []struct {
		parts loaderParts
		want  []string
	}{
		{usualParts, []string{"no copy", "nothing to preprocess", "samples in memory",
			"the parts together, each measured alone"}},
		{hdd, []string{"samples in memory"}},
		{link, []string{"no copy"}},
	} {
		m := modelOf(t, c.parts.report())
		var names []string
		for _, c := range m.checks() {
			names = append(names, c.Change)
			if math.Abs(*c.Error) > 0.01 || *c.Lo > *c.Measured || *c.Hi < *c.Measured {
				t.Errorf("%s: predicted %v [%v, %v], measured %v", c.Change, *c.Value, *c.Lo, *c.Hi, *c.Measured)
			}
		}
		if slices.Sort(names); !slices.Equal(names, c.want) {
			t.Errorf("checks %q, want %q", names, c.want)
		}
	}
}

// Where every batch takes another time, at least eight in ten outcomes lie within what
// was predicted.
func TestIntervalsCover(t *testing.T) {
	within, all := 0, 0
	for seed := range uint64(20) {
		m := modelOf(t, usualParts.with(func(l *loaderParts) { l.noise, l.seed = 0.3, seed }).report())
		for _, c := range m.checks() {
			if all++; *c.Lo <= *c.Measured && *c.Measured <= *c.Hi {
				within++
			}
		}
	}
	if float64(within) < 0.8*float64(all) {
		t.Errorf("%d of %d outcomes within their intervals", within, all)
	}
}

// withParts is a report of cases, with what the parts of the usual one take.
func withParts(cases ...results.Result) *results.Report {
	for free, s := range map[string]float64{results.FreeLoading: 0.001,
		results.PartRead + "+" + results.PartCopy: 0.049, results.PartPreprocess + "+" + results.PartCopy: 0.001} {
		p := usual
		p.Free = free
		cases = append(cases, measured(p, steady(s), steady(s), steady(s)))
	}
	return reportOf(cases...)
}

// Data brought into RAM is predicted from a case past the page cache: from its steps and
// its reads, restart by restart.
func TestCheckCold(t *testing.T) {
	for _, c := range []struct {
		name       string
		cold, read float64 // s a batch
		want       float64 // s a batch in RAM; 0 for no prediction
	}{
		{"reads and the rest add up", 0.060, 0.011, 0.050},
		{"what others made slower is no read", 0.070, 0.011, 0.060},
		{"reads take all that is more", 0.090, 0.041, 0.050},
		{"reads unknown", 0.060, 0, 0},
		{"unproven", 0.060, 0.011, 0},
	} {
		past := usual
		past.Cache = results.Direct
		warm := measured(usual, steady(0.050), steady(0.050), steady(0.050))
		cold := measured(past, steady(c.cold), steady(c.cold+0.1), steady(c.cold-0.01))
		read := results.Metric{Name: "read", Unit: results.Seconds}
		for run, more := range []float64{0, 0.1, -0.01} {
			read.Samples = append(read.Samples, results.Sample{Value: c.read + more, N: 1, Run: run})
		}
		results.Summarize(&read, results.SummaryOptions{})
		if c.read > 0 {
			cold.Metrics = append(cold.Metrics, read)
		}
		proven := c.name != "unproven"
		cold.Proof = results.RecordOf(results.PipelineProof{Proven: &proven})
		m := modelOf(t, withParts(warm, cold))
		got, ok := m.checkCold(&m.report.Results[1])
		if ok != (c.want > 0) {
			t.Errorf("%s: predicted %v: %+v", c.name, ok, got)
		} else if ok && (math.Abs(32 / *got.Value / c.want - 1) > 0.02 || *got.Measured != 32/0.050) {
			t.Errorf("%s: %g s a batch, want %g; %+v", c.name, 32 / *got.Value, c.want, got.Prediction)
		}
	}
}

// A case with the base's restarts is compared with it restart by restart, and one restart
// that differs does not decide.
func TestCheckPaired(t *testing.T) {
	free := usual
	free.Free = results.PartRead
	m := modelOf(t, withParts(measured(usual, steady(0.050), steady(0.080), steady(0.060)),
		measured(free, steady(0.050), steady(0.080), steady(0.020)))) // which reading has no part in
	c, ok := m.checkCase(&m.report.Results[1])
	if !ok || math.Abs(*c.Error) > 0.05 {
		t.Errorf("%+v, error %v", c.Prediction, *c.Error)
	}
}

// Checks whose step is longer than the prediction's hide errors of the loader.
func TestErrorOf(t *testing.T) {
	off := func(kind string, e, step float64) check {
		return check{results.Prediction{Kind: kind, Error: &e}, step}
	}
	all := []check{off(kindLink, 0.001, 0.216), off(kindLink, -0.09, 0),
		off(kindMemory, 0.001, 0.216), off(kindCores, 0.05, 0)}
	for _, c := range []struct {
		kind string
		step float64
		e    float64
		n    int
	}{
		{kindLink, 0, 0.09, 1},
		{kindLink, 1, 0.09, 2},
		{kindMemory, 0, 0.05, 0},
		{kindMemory, 0.1, 0.05, 0},
		{kindMemory, 0.216, 0.001, 1},
	} {
		if e, n := errorOf(all, c.kind, c.step); e != c.e || n != c.n {
			t.Errorf("%s, step %g s: %v from %d checks, want %v from %d", c.kind, c.step, e, n, c.e, c.n)
		}
	}
	if e, n := errorOf(all[:1], kindCores, 0); !math.IsNaN(e) || n != 0 {
		t.Errorf("without checks: %v from %d", e, n)
	}
}

// Fewer busy cores leave more to each by the control, more of them less by the loader.
func TestCrowding(t *testing.T) {
	m := &model{cores: 2, parts: loader{workers: 1, busy: 1},
		controls: []theory.Rate{{Threads: 1, Value: 100}, {Threads: 2, Value: 160}},
		rates:    []theory.Rate{{Threads: 1, Value: 800}, {Threads: 2, Value: 1200}, {Threads: 4, Value: 1600}}}
	for _, c := range []struct {
		threads     int
		cores, want float64
	}{
		{2, 2, 1}, {2, 1, 1 / 0.8}, {1, 2, 1 / 0.8}, {4, 4, 0.5 / 0.75}, {4, 2, 1}, {3, 3, 0.625 / 0.75},
		{2, 0.5, 1 / 0.8},
	} {
		if got := m.crowding(c.threads, c.cores); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%d threads on %g cores: %g, want %g", c.threads, c.cores, got, c.want)
		}
	}
	if got := (&model{cores: 2, parts: m.parts}).crowding(2, 1); got != 1 {
		t.Errorf("without a control: %g", got)
	}
}

// A loader's copies have the rate of those that nothing disturbs.
func TestMemoryRateIsThatOfCopiesAlone(t *testing.T) {
	at := func(rate float64, params ...string) results.Result {
		p := results.Params{{Key: "device", Value: "cuda:0"}, {Key: "dir", Value: results.H2D},
			{Key: "mem", Value: "pinned"}, {Key: "source", Value: results.SourceWarm},
			{Key: "bytes", Value: theory.ArticleBatch.Bytes()}}
		for i := 0; i < len(params); i += 2 {
			p = p.With(params[i], params[i+1])
		}
		return results.Result{Suite: "pcie", Params: p, Status: results.OK,
			Metrics: []results.Metric{{Name: "bandwidth", Median: rate}}}
	}
	m := model{batch: theory.ArticleBatch, params: results.PipelineParams{Device: "cuda:0"}}
	m.report = reportOf(at(5e9, "concurrent", results.ConcurrentDevices), at(6e9, "numa", results.NUMARemote),
		at(7e9, "source", results.SourceCold), at(12e9))
	if rate := m.memoryRate("pinned"); rate != 12e9 {
		t.Errorf("%g B/s", rate)
	}
}
