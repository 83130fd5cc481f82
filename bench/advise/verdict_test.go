package advise

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"dlbench/bench/theory"
	"dlbench/results"
)

func TestVerdict(t *testing.T) {
	const (
		read, prep, copies = results.PartRead, results.PartPreprocess, results.PartCopy
		holds, open        = results.Holds, results.Inconclusive
	)
	h100, article := Demanded{GPU: "h100"}, Demanded{Step: 216 * time.Millisecond}
	disk := usualParts.with(func(l *loaderParts) { l.read, l.disk = 0.4384, "hdd" })
	link := usualParts.with(func(l *loaderParts) { l.copy, l.device = 97.2e-3, "sim:gen1x1" })
	restless := usualParts.with(func(l *loaderParts) { l.restarts = []float64{0.6, 1, 1.5} })
	restlessAlike := restless.with(func(l *loaderParts) { l.read = 15e-3 })
	apart := usualParts.with(func(l *loaderParts) { l.whole, l.read = 2, 20e-3 })
	alike := usualParts.with(func(l *loaderParts) { l.read = 40e-3 })
	once := usualParts.with(func(l *loaderParts) { l.restarts = []float64{1} })
	slow := usualParts.with(func(l *loaderParts) { l.decoder = "Go image/jpeg" })
	for _, c := range []struct {
		name                        string
		parts                       loaderParts
		demand                      Demanded
		status, bound, loader, next string
		says, never                 []string // in text, changes, notes and the finding
	}{
		{"the processor", usualParts, h100, holds, prep, prep, read,
			[]string{"762 images/s", "free: JPEGs stored with a short side of 256", "purchase: 4 cores instead of 2",
				"libjpeg-turbo 2.1.5", "link is assumed", "B4 holds", "preprocess is the limit, not the GPU"},
			[]string{"the GPU is the limit"}},
		{"the disk", disk, h100, holds, read, read, prep, []string{"free: tar shards instead of files",
			"free: the data in RAM", "purchase: disk nvme", "disk is assumed"}, nil},
		{"the link", link, h100, holds, copies, copies, prep,
			[]string{"free: uint8 batches", "purchase: link Gen4 x16"}, nil},
		{"the GPU, as the user says", usualParts, article, holds, boundGPU, prep, read,
			[]string{"nothing: the GPU is the limit"}, []string{"purchase"}},
		{"the GPU, by default", usualParts, Demanded{}, holds, boundGPU, prep, read,
			[]string{"there the GPU is the limit, and nothing below would help", "free: JPEGs stored"}, nil},
		{"restarts that differ", restlessAlike, h100, open, "", "", "",
			[]string{"between restarts", "quiet machine"}, []string{"free: ", "purchase: "}},
		{"restarts that differ, but are enough", restlessAlike, article, holds, boundGPU, "", "",
			[]string{"nothing: the GPU is the limit"}, []string{"bounds it"}},
		{"restarts that differ, and one part far ahead", restless, h100, holds, prep, prep, read,
			[]string{"508 to 1270"}, nil},
		{"parts that do not add up", apart, h100, open, "", "", "",
			[]string{"the parts, measured one by one, make 50 %"}, []string{"free: ", "purchase: "}},
		{"as fast as the GPU", usualParts, Demanded{Step: 42 * time.Millisecond}, open, "", prep, read,
			[]string{"is not certain", "B4 inconclusive"}, nil},
		{"two that cost the same", alike, h100, open, "", "", "", []string{"cost about as much",
			"which is more: loading is the limit of the training, whichever its part",
			"B4 holds", "loading is the limit, not the GPU"}, nil},
		{"two that cost the same, by default", alike, Demanded{}, open, "", "", "",
			[]string{"which is less: there the GPU is the limit", "B4 fails",
				"the GPU is the limit, not loading"}, nil},
		{"half as fast again", usualParts, Demanded{Step: 63 * time.Millisecond}, holds, boundGPU, prep, read,
			[]string{"a step of 63ms for 32 images takes 508 images/s and the loader feeds 50 % more than that"}, nil},
		{"a single run", once, Demanded{Step: 44 * time.Millisecond}, open, "", prep, read,
			[]string{"not certain from 1 run"}, nil},
		{"a single run far ahead", once, article, holds, boundGPU, prep, read,
			[]string{"nothing: the GPU is the limit"}, nil},
		{"Go's decoder", slow, h100, holds, prep, prep, read,
			[]string{"free: install libjpeg-turbo", "libjpeg-turbo is missing"}, nil},
	} {
		rep := c.parts.report()
		Conclude(rep, c.demand)
		v := rep.Verdict
		if v == nil || v.Status != c.status || v.Bound != c.bound || v.Loader != c.loader || v.Next != c.next {
			t.Errorf("%s: %+v", c.name, v)
			continue
		}
		f := rep.Findings[len(rep.Findings)-1]
		texts := slices.Concat([]string{v.Text, f.Claim + " " + f.Verdict, f.Text}, v.Changes, v.Notes)
		all := strings.Join(texts, "\n")
		for _, s := range c.says {
			if !strings.Contains(all, s) {
				t.Errorf("%s: no %q in\n%s", c.name, s, all)
			}
		}
		for _, s := range c.never {
			if strings.Contains(all, s) {
				t.Errorf("%s: %q in\n%s", c.name, s, all)
			}
		}
		paid := false
		for _, change := range v.Changes {
			if strings.HasPrefix(change, "purchase") {
				paid = true
			} else if paid && strings.HasPrefix(change, "free") {
				t.Errorf("%s: a purchase before what is free:\n%s", c.name, all)
			}
		}
	}
}

func TestNoVerdict(t *testing.T) {
	rep := &results.Report{}
	if Conclude(rep, Demanded{}); rep.Verdict != nil {
		t.Errorf("without a pipeline: %+v", rep.Verdict)
	}
	rep = usualParts.report()
	for i := range rep.Results {
		if rep.Results[i].Params.Text("step") == "0s" {
			rep.Results[i].Metrics, rep.Results[i].Status = nil, results.Failed
		}
	}
	if Conclude(rep, Demanded{}); rep.Verdict == nil || rep.Verdict.Status != results.NotMeasured ||
		!strings.Contains(rep.Verdict.Text, "top speed was not measured") {
		t.Errorf("without the top speed: %+v", rep.Verdict)
	}
}

func TestVerdictOfMemory(t *testing.T) {
	for memory, want := range map[int64]string{80 << 30: "less than", 16 << 30: "at least as much as"} {
		rep := usualParts.report()
		rep.Findings = []results.Finding{{Claim: "A5", Verdict: results.Holds}}
		if memory > rep.Host.Memory.Total {
			rep.Findings[0].Verdict = results.Fails
		}
		if Conclude(rep, Demanded{}); !strings.Contains(strings.Join(rep.Verdict.Notes, "\n"),
			want+" the article asks for") {
			t.Errorf("a GPU of %d bytes: %v", memory, rep.Verdict.Notes)
		}
	}
}

func TestPredict(t *testing.T) {
	rep := usualParts.report()
	none := 0
	for _, c := range []struct {
		name    string
		w       WhatIf
		want    float64 // of the last prediction
		beyond  bool
		cost    string
		several int
	}{
		{"as it is", WhatIf{}, 32 / 0.042, false, "", 1},
		{"a slower link hides", WhatIf{Link: theory.Link{Gen: 3, Lanes: 4}}, 32 / 0.042, true, "", 1},
		{"another generation", WhatIf{Link: theory.Link{Gen: 5, Lanes: 16}}, 32 / 0.042, true, results.Purchase, 1},
		{"a link that bounds", WhatIf{Link: theory.Link{Gen: 1, Lanes: 1}}, 32 / 0.0972, true, "", 1},
		{"two workers", WhatIf{Cores: 3}, 2 * 32 / 0.042, true, results.Purchase, 1},
		{"one core", WhatIf{Cores: 1}, 32 / 0.084, false, "", 1},
		{"a disk", WhatIf{Disk: theory.DiskSpec{Name: "stream100", Rate: 100e6}}, 32 / (0.042 + 0.032), true, "", 1},
		{"a serial step", WhatIf{Prefetch: &none, Step: 100 * time.Millisecond}, 0.1 + 0.042 + 0.0015, false,
			results.Free, 1},
		{"two at once", WhatIf{Cores: 3, Link: theory.Link{Gen: 1, Lanes: 1}}, 32 / 0.0972, true, results.Purchase, 3},
		{"GPUs", WhatIf{GPUs: 2}, 32 / 0.084, true, "", 1},
	} {
		ps, err := Predict(rep, c.w)
		if err != nil || len(ps) != c.several {
			t.Errorf("%s: %d predictions, %v", c.name, len(ps), err)
			continue
		}
		p := ps[len(ps)-1]
		if math.Abs(*p.Value/c.want-1) > 0.03 || p.Extrapolated != c.beyond || p.Cost != c.cost || *p.Lo > *p.Value ||
			*p.Hi < *p.Value {
			t.Errorf("%s: %v [%v, %v], extrapolated %v, cost %q; want %v, %v, %q", c.name, *p.Value, *p.Lo, *p.Hi,
				p.Extrapolated, p.Cost, c.want, c.beyond, c.cost)
		}
	}
}

func TestPredictRefuses(t *testing.T) {
	rep := usualParts.report()
	for want, w := range map[string]WhatIf{"disk": {Cold: true}, "preprocess": {Prepared: true},
		"pcie": {Memory: results.Staged}} {
		if _, err := Predict(rep, w); err == nil || !strings.Contains(err.Error(), "dlbench run --suite "+want+",") {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := Predict(&results.Report{}, WhatIf{Cores: 2}); err == nil || !strings.Contains(err.Error(),
		"needs the pipeline suite: dlbench run --suite pipeline") {
		t.Errorf("an empty report: %v", err)
	}
	if _, err := Predict(rep, WhatIf{Side: 2000}); err == nil || !strings.Contains(err.Error(),
		"none larger can be stored") {
		t.Errorf("larger images: %v", err)
	}
}

// Several GPUs share what cores there are: busy as before, they are no faster for it.
func TestGPUsOnCrowdedCores(t *testing.T) {
	m := modelOf(t, usualParts.report())
	m.rates = []theory.Rate{{Threads: 1, Value: 100}, {Threads: 2, Value: 110}}
	m.controls = m.rates
	one := *m.scenario(m.loader).predict(0, 0).Value
	s := m.scenario(m.loader)
	m.gpusChange(2).apply(s)
	if each := *s.predict(0, 0).Value; math.Abs(2*each/one-1) > 0.01 {
		t.Errorf("2 GPUs are fed %.0f images/s each, one %.0f: want half", each, one)
	}
}

// As many workers as the user wants stay for each of several GPUs.
func TestGPUsKeepWorkers(t *testing.T) {
	m := modelOf(t, usualParts.report())
	for workers, want := range map[int]int{0: 3, 5: 5} {
		s := m.scenario(m.loader)
		for _, c := range m.changes(WhatIf{Cores: 8, Workers: workers, GPUs: 2}) {
			c.apply(s)
		}
		if s.workers != want || s.cores != 4 {
			t.Errorf("--workers %d: %d on %v cores, want %d on 4", workers, s.workers, s.cores, want)
		}
	}
}

// Reports may say anything.
func TestVerdictOfOddReports(t *testing.T) {
	for name, c := range map[string]struct {
		spoil  func(*results.Metric, *results.Result)
		status string
	}{
		"no samples": {func(m *results.Metric, _ *results.Result) { m.Samples = nil }, results.Holds},
		"a huge run": {func(m *results.Metric, _ *results.Result) { m.Samples[0].Run = math.MaxInt }, results.Holds},
		"no time": {func(m *results.Metric, r *results.Result) { m.Median, r.Series = 0, nil },
			results.NotMeasured},
		"no step_time": {func(m *results.Metric, r *results.Result) { r.Metrics = r.Metrics[1:] }, results.NotMeasured},
	} {
		rep := usualParts.report()
		for i := range rep.Results {
			r := &rep.Results[i]
			c.spoil(&r.Metrics[0], r)
		}
		if Conclude(rep, Demanded{}); rep.Verdict.Status != c.status {
			t.Errorf("%s: %+v, want %s", name, rep.Verdict, c.status)
		}
	}
}
