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
	const read, prep, copies = results.PartRead, results.PartPreprocess, results.PartCopy
	const no, enough, close = results.AnswerNo, results.AnswerEnoughCores, results.AnswerClose
	h100, article := Question{GPU: "h100-mlperf"}, Question{Step: 216 * time.Millisecond}
	disk := usualParts.with(func(l *loaderParts) { l.read, l.disk = 0.4384, "hdd" })
	link := usualParts.with(func(l *loaderParts) { l.copy, l.device = 97.2e-3, "sim:gen1x1" })
	restless := usualParts.with(func(l *loaderParts) { l.restarts = []float64{0.6, 1, 1.5} })
	restlessAlike := restless.with(func(l *loaderParts) { l.read = 15e-3 })
	apart := usualParts.with(func(l *loaderParts) { l.whole, l.read = 2, 20e-3 })
	alike := usualParts.with(func(l *loaderParts) { l.read = 40e-3 })
	once := usualParts.with(func(l *loaderParts) { l.restarts = []float64{1} })
	slow := usualParts.with(func(l *loaderParts) { l.decoder = "Go image/jpeg" })
	for _, c := range []struct {
		name               string
		parts              loaderParts
		question           Question
		answer, part, next string
		changes            []string // in this order, among others
		says               string
	}{
		{"the processor", usualParts, h100, no, prep, read, []string{"JPEGs at 256 pixels", "4 cores"},
			"feeds 762 images/s, ResNet-50, H100, emulated (MLPerf) needs 1786: the limit is decode+crop"},
		{"the disk", disk, h100, no, read, prep, []string{"the data in RAM", "tar shards", "disk nvme"}, "the limit is read"},
		{"the link", link, h100, no, copies, prep, []string{"uint8 batches", "link Gen4 x16"}, "the limit is copy"},
		{"the GPU, as the user says", usualParts, article, enough, prep, read, nil, "B4 fails"},
		{"several GPUs", usualParts, Question{Step: 216 * time.Millisecond, GPUs: 8}, no, prep, read, nil,
			"8 x a step of 216ms for 32 images needs 1185"},
		{"no question", usualParts, Question{}, results.AnswerNone, prep, read, []string{"JPEGs at 256 pixels"},
			"ResNet-152, the article's GPU, FP32 (Dettmers) needs 148: the limit is the GPU"},
		{"runs that differ", restlessAlike, h100, no, "", "", nil,
			"what limits the loader is not certain: decode+crop or read; runs differ by"},
		{"runs that differ, and one part far ahead", restless, h100, no, prep, read, nil, ""},
		{"parts that do not add up", apart, h100, no, "", "", nil, "take 50 % of the time of all together"},
		{"two that cost the same", alike, h100, no, "", "", nil, "read or decode+crop; runs differ by 0 %"},
		{"a single run", once, Question{Step: 44 * time.Millisecond}, close, prep, read, nil, "the limit is not certain"},
		{"a single run far ahead", once, article, enough, prep, read, nil, ""},
		{"Go's decoder", slow, h100, no, prep, read, []string{"install libjpeg-turbo"},
			"decoded by Go image/jpeg; the loaders of Python use libjpeg-turbo"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rep := c.parts.report()
			Conclude(rep, c.question)
			v := rep.Verdict
			if v == nil || v.Answer != c.answer || v.Bottleneck != c.part || v.Next != c.next ||
				v.Loader != results.OwnLoader {
				t.Fatalf("got %+v", v)
			}
			var names []string
			for i, change := range v.Changes {
				names = append(names, change.Name)
				if i > 0 && change.Cost == results.Free && v.Changes[i-1].Cost == results.Purchase {
					t.Errorf("a purchase before what is free: %+v", v.Changes)
				}
			}
			at := 0
			for _, want := range c.changes {
				i := slices.IndexFunc(names[at:], func(s string) bool { return strings.HasPrefix(s, want) })
				if i < 0 {
					t.Fatalf("changes %q, want %q in this order", names, c.changes)
				}
				at += i
			}
			f := rep.Findings[len(rep.Findings)-1]
			all := strings.Join(append([]string{f.Claim + " " + f.Verdict + ": " + f.Text, v.Limit, v.Why}, v.Notes...), "\n")
			if !strings.Contains(all, c.says) {
				t.Errorf("no %q in\n%s", c.says, all)
			}
		})
	}
}

func TestQuestion(t *testing.T) {
	found := &results.Report{Config: results.Config{Batch: 32}}
	found.Host.GPUs = []results.GPU{{Name: "NVIDIA A100-SXM4-80GB"}, {Name: "NVIDIA A100-SXM4-80GB"}}
	unknown := &results.Report{Config: results.Config{Batch: 32}}
	unknown.Host.GPUs = []results.GPU{{Name: "NVIDIA H200"}}
	none := &results.Report{Config: results.Config{Batch: 32}}
	for _, c := range []struct {
		q    Question
		rep  *results.Report
		rate float64
		says string
	}{
		{Question{}, found, 4940, "2 x ResNet-50, A100 80 GB, mixed precision (NVIDIA)"},
		{Question{GPUs: 8}, found, 16621, "8 x ResNet-50"},
		{Question{Need: 100}, found, 100, "--need"},
		{Question{Need: 100, GPUs: 3}, none, 300, "3 x your GPU (--need)"},
		{Question{GPU: "V100"}, found, 1200, "V100"},
		{Question{Step: 100 * time.Millisecond}, none, 320, "a step of 100ms for 32 images"},
		{Question{}, unknown, 0, "no figure for NVIDIA H200 is published"},
		{Question{}, none, 0, "no GPU is found"},
	} {
		n := c.q.need(c.rep)
		if math.Abs(n.rate-c.rate) > 1e-9*c.rate || !strings.Contains(n.from, c.says) {
			t.Errorf("%+v: got %+v, want %.0f, %q", c.q, n, c.rate, c.says)
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
		{"a serial step", WhatIf{Prefetch: &none}, 0.1 + 0.042 + 0.0015, false, results.Free, 1},
		{"two at once", WhatIf{Cores: 3, Link: theory.Link{Gen: 1, Lanes: 1}}, 32 / 0.0972, true, results.Purchase, 3},
		{"GPUs", WhatIf{GPUs: 2}, 32 / 0.084, true, "", 1},
	} {
		steps := map[string]time.Duration{"a serial step": 100 * time.Millisecond}
		ps, err := Predict(rep, c.w, Question{Step: steps[c.name]})
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
		_, err := Predict(rep, w, Question{})
		if err == nil || !strings.Contains(err.Error(), "dlbench run --suite "+want+",") {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := Predict(&results.Report{}, WhatIf{Cores: 2}, Question{}); err == nil || !strings.Contains(err.Error(),
		"was not measured: dlbench run --suite pipeline") {
		t.Errorf("an empty report: %v", err)
	}
	if _, err := Predict(rep, WhatIf{Side: 2000}, Question{}); err == nil || !strings.Contains(err.Error(),
		"none larger can be stored") {
		t.Errorf("larger images: %v", err)
	}
}

// Several GPUs share what cores there are: busy as before, they are no faster for it.
func TestGPUsOnCrowdedCores(t *testing.T) {
	m := modelOf(t, usualParts.report())
	m.rates = []theory.Rate{{Threads: 1, Value: 100}, {Threads: 2, Value: 110}}
	m.controls = m.rates
	one := *m.scenario(m.loader).predict(0).Value
	s := m.scenario(m.loader)
	m.gpusChange(2).apply(s)
	if each := *s.predict(0).Value; math.Abs(2*each/one-1) > 0.01 {
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
		spoil       func(*results.Result)
		answer, why string
	}{
		"no samples": {func(r *results.Result) { r.Metrics[0].Samples = nil }, results.AnswerEnoughCores, ""},
		"a huge run": {func(r *results.Result) { r.Metrics[0].Samples[0].Run = math.MaxInt }, results.AnswerEnoughCores, ""},
		"no time": {func(r *results.Result) { r.Metrics[0].Median, r.Series = 0, nil },
			results.AnswerUnknown, ""},
		"no step_time": {func(r *results.Result) { r.Metrics = r.Metrics[1:] }, results.AnswerUnknown, ""},
		"no top speed": {func(r *results.Result) {
			if r.Params.Text("step") == "0s" {
				r.Metrics, r.Status = nil, results.Failed
			}
		}, results.AnswerUnknown, "what the loader feeds was not measured"},
		"a busy machine": {func(r *results.Result) {
			for _, m := range r.Metrics {
				for k := range m.Samples {
					m.Samples[k].Flags = []string{"noisy"}
				}
			}
		}, results.AnswerBusy, whyBusy},
	} {
		rep := usualParts.report()
		for i := range rep.Results {
			c.spoil(&rep.Results[i])
		}
		Conclude(rep, Question{GPU: "article"})
		if v := rep.Verdict; v.Answer != c.answer || !strings.Contains(v.Why, c.why) || len(v.Changes) > 0 {
			t.Errorf("%s: %+v, want %s, %q and no advice", name, v, c.answer, c.why)
		}
		unchecked := func(p results.Prediction) bool { return p.Measured == nil }
		if c.answer == results.AnswerBusy && slices.ContainsFunc(rep.Predictions, unchecked) {
			t.Errorf("%s: %+v, want checks alone", name, rep.Predictions)
		}
	}
	rep := &results.Report{}
	if Conclude(rep, Question{}); rep.Verdict != nil {
		t.Errorf("without a pipeline: %+v", rep.Verdict)
	}
}
