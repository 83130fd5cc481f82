package chart

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"dlbench/bench/theory"
	"dlbench/results"
)

// summary writes what was extracted.
func (d scaling) summary() []string {
	all := []string{fmt.Sprintf("%s: %v", d.Strategy, d.Demands)}
	for _, l := range d.Lines {
		s := fmt.Sprintf("%s, joins %d %d:", d.legendName(l), l.Fast, l.Cores)
		for i, p := range l.Points {
			s += fmt.Sprintf(" %d %s", p.Threads, p.text(1))
			if i < len(l.Control) {
				s += fmt.Sprintf(" control %.4g", l.Control[i].Median)
			}
			s += ";"
		}
		all = append(all, s)
	}
	return all
}

func TestScalings(t *testing.T) {
	m := machine{counts: []int64{1, 2, 4, 6}, cores: 4, fast: 2, turbo: 1000, law: theory.Scaling{X1: 1, Sigma: 0.1}, fit: true}
	got := scalingsOf([]*results.Report{preprocessReport("", m)})
	if len(got) != 2 {
		t.Fatalf("%d charts, want one for each strategy", len(got))
	}
	const demands = "[{ResNet-152 148.14814814814815} {ResNet-50 on A100 919.5402298850574} {ResNet-50 on H100 1785.7142857142858}]"
	compare(t, append(got[0].summary(), got[1].summary()...), []string{
		"online: " + demands,
		"libjpeg-turbo 2.1.5: 29.6 % serial (Amdahl, error 7.4 %), joins 2 4: 1 1000 980-1010 control 1000; 2 1818 1782-1836 control 2000; 4 2385 2337-2408 control 3100; 6 2400 2352-2424 control 3600;",
		"Go decoder: 29.6 % serial (Amdahl, error 7.4 %), joins 2 4: 1 620 607.6-626.2 control 620; 2 1127 1105-1139 control 1240; 4 1478 1449-1493 control 1922; 6 1488 1458-1503 control 2232;",
		"offline: " + demands,
		"offline: 29.6 % serial (Amdahl, error 7.4 %), joins 2 4: 1 8300 8134-8383 control 8300; 2 1.509e+04 1.479e+04-1.524e+04 control 1.66e+04; 4 1.979e+04 1.94e+04-1.999e+04 control 2.573e+04; 6 1.992e+04 1.952e+04-2.012e+04 control 2.988e+04;",
	})
}

// A report that was read from its file has the same charts.
func TestPreprocessOfFile(t *testing.T) {
	rep := preprocessReport("", workstation)
	data, err := json.Marshal(rep)
	if err != nil {
		t.Fatal(err)
	}
	var again results.Report
	if err := json.Unmarshal(data, &again); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ have, want any }{
		{scalingsOf([]*results.Report{&again})[0].summary(), scalingsOf([]*results.Report{rep})[0].summary()},
		{stageTimesOf([]*results.Report{&again})[0].Groups, stageTimesOf([]*results.Report{rep})[0].Groups},
		{decoderRatesOf([]*results.Report{&again})[0].Bars, decoderRatesOf([]*results.Report{rep})[0].Bars},
	} {
		if have, want := fmt.Sprint(c.have), fmt.Sprint(c.want); have != want {
			t.Errorf("have %s\nwant %s", have, want)
		}
	}
}

func TestScalingJoins(t *testing.T) {
	if have, want := scalingsOf([]*results.Report{preprocessReport("", workstation)})[0].joins(), []join{{8, "SMT siblings"}}; !slices.Equal(have, want) {
		t.Errorf("have %v, want %v", have, want)
	}
}

// A chart holds what belongs in it and leaves the rest of a report alone.
func TestPreprocessLeavesOut(t *testing.T) {
	change := func(f func(*results.Result)) results.Result {
		r := preprocessResult("online", "turbo", 2, 500, 500, [4]float64{1, 1, 1, 1})
		f(&r)
		return r
	}
	rep := newReport("")
	rep.Results = []results.Result{
		change(func(r *results.Result) { r.Suite = "pipeline" }),
		change(func(r *results.Result) { r.Status = results.Skipped }),
		change(func(r *results.Result) { r.Metrics = nil }),
		change(func(r *results.Result) { r.Metrics[0].Median = 0 }),
		change(func(r *results.Result) { r.Metrics[0].Median = 1e300 }),
		change(func(r *results.Result) { r.Metrics[0].Median = 1e-300 }),
		change(func(r *results.Result) { r.Assumed = []string{"disk"} }),
		change(func(r *results.Result) { r.Params = r.Params.With("threads", int64(1)<<40) }),
		preprocessResult("online", "turbo", 1, 100, 100, [4]float64{1, 2, 3, 4}),
		preprocessResult("online", "turbo", 1, 300, 300, [4]float64{1, 2, 3, 4}), // some other parameter
	}
	reports := []*results.Report{rep}
	if got := scalingsOf(reports); got != nil {
		t.Errorf("have %+v of one count", got)
	}
	if got := decoderRatesOf(reports); got != nil {
		t.Errorf("have %+v of one way", got)
	}
	got := stageTimesOf(reports)
	if len(got) != 1 || len(got[0].Groups) != 1 || len(got[0].Groups[0].Bars) != 1 || got[0].Groups[0].Bars[0].Rate != 100 {
		t.Errorf("have %+v, want the plain case alone", got)
	}
	rep.Results = []results.Result{failing(rep.Results[8]), failing(change(func(*results.Result) {}))}
	if a, b, c := scalingsOf(reports), decoderRatesOf(reports), stageTimesOf(reports); a != nil || b != nil || c != nil {
		t.Errorf("have %+v, %+v, %+v of failures alone", a, b, c)
	}
}

func TestStageTimes(t *testing.T) {
	rep := preprocessReport("rig", workstation)
	rep.Results[7] = failing(rep.Results[7]) // turbo with 16 threads
	got := stageTimesOf([]*results.Report{rep, preprocessReport("", notebook)})
	var have []string
	for _, g := range got[0].Groups[:6] {
		s := strings.Join(g.Title, " | ") + ":"
		for _, b := range g.Bars {
			s += fmt.Sprintf(" %s", threadsText(b.Threads))
			if b.Failed {
				s += " failed"
			}
			for _, x := range b.Times {
				s += fmt.Sprintf(" %.3g", x*1e6)
			}
			s += ";"
		}
		have = append(have, s)
	}
	compare(t, have, []string{
		"online, libjpeg-turbo 2.1.5: 1 thread 8 520 95 21 19.3; 16 threads failed;",
		"online, Go decoder: 1 thread 8 905 95 21 30.9; 16 threads 12.8 1.45e+03 152 33.6 49.4;",
		"online, libjpeg-turbo 2.1.5, nchw: 1 thread 8 520 108 24 19.8;",
		"online, libjpeg-turbo 2.1.5, no antialiasing: 1 thread 8 520 70 21 18.6;",
		"offline: 1 thread 55 0 0 23 2.34; 16 threads 88 0 0 36.8 3.74;",
		"online, libjpeg-turbo 2.1.5: 1 thread 8 520 95 21 19.3; 2 threads 8 520 95 21 19.3;",
	})
}

func TestDecoderRates(t *testing.T) {
	rep := preprocessReport("", notebook)
	rep.Results[2] = failing(rep.Results[2])
	got := decoderRatesOf([]*results.Report{rep})
	if len(got) != 1 {
		t.Fatalf("have %+v, want one chart", got)
	}
	var have []string
	for _, b := range got[0].Bars {
		have = append(have, b.Name+": "+b.value(true))
	}
	compare(t, have, []string{
		"online, libjpeg-turbo 2.1.5: 1\u00a0150 images/s, 1.02 ×", "online, Go decoder: failed", "online, libjpeg-turbo 2.1.5, nchw: 1\u00a0127 images/s, 1 ×",
		"online, libjpeg-turbo 2.1.5, no antialiasing: 1\u00a0196 images/s, 1.06 ×", "offline: 9\u00a0545 images/s, 8.47 ×",
	})
}

func TestFitOf(t *testing.T) {
	good := map[string]any{"model": "usl", "x1": 100.0, "sigma": 0.1, "kappa": 0.01, "error": 0.02, "least": 1, "most": int64(8)}
	want := theory.Scaling{Law: theory.USL, X1: 100, Sigma: 0.1, Kappa: 0.01, Error: 0.02, Least: 1, Most: 8}
	if have, ok := fitOf(results.As[results.Fit](results.RecordOf(good))); !ok || have != want {
		t.Errorf("have %+v, %v, want %+v", have, ok, want)
	}
	if _, ok := fitOf(results.Fit{}); ok {
		t.Error("a fit of nothing")
	}
	for key, v := range map[string]any{"model": "cubic", "x1": -1.0, "sigma": 2.0, "kappa": "x", "least": 8, "most": 1e300} {
		bad := map[string]any{}
		for k, x := range good {
			bad[k] = x
		}
		bad[key] = v
		s, ok := fitOf(results.As[results.Fit](results.RecordOf(bad)))
		if key == "most" {
			ok = s.Most > maxThreads
		}
		if ok {
			t.Errorf("%s of %v is accepted", key, v)
		}
	}
	for want, s := range map[string]theory.Scaling{
		"3.1 % serial (Amdahl, error 0.80 %)":               {Law: theory.Amdahl, Sigma: 0.0312, Error: 0.008},
		"0.0 % serial (Amdahl, error below 0.1 %)":          {Law: theory.Amdahl},
		"peak at 10 threads (USL, error 2.0 %)":             {Law: theory.USL, Kappa: 0.01, Error: 0.02, Most: 10},
		"no peak up to 9 threads (USL, error below 0.1 %)":  {Law: theory.USL, Kappa: 0.01, Most: 9},
		"no peak up to 64 threads (USL, error below 0.1 %)": {Law: theory.USL, Most: 64},
		"100.0 % serial (Amdahl, error below 0.1 %)":        {Law: theory.Amdahl, Sigma: 1},
	} {
		if have := fitText(s); have != want {
			t.Errorf("have %q, want %q", have, want)
		}
	}
}

// A fit is drawn where it and measurements are, and nowhere else.
func TestFitDrawn(t *testing.T) {
	l := scalingLine{Points: []scalingPoint{{Threads: 2}, {Threads: 8}}}
	for _, c := range []struct {
		fit         theory.Scaling
		least, most float64
	}{
		{theory.Scaling{}, 0, 0},
		{theory.Scaling{X1: 1, Least: 1, Most: 16}, 2, 8},
		{theory.Scaling{X1: 1, Least: 4, Most: 6}, 4, 6},
		{theory.Scaling{X1: 1, Least: 12, Most: 16}, 12, 8},
	} {
		l.Fit = c.fit
		if least, most := l.drawn(); least != c.least || most != c.most {
			t.Errorf("%+v: %g to %g, want %g to %g", c.fit, least, most, c.least, c.most)
		}
	}
}

func TestDemandsOfChart(t *testing.T) {
	d := scalingsOf([]*results.Report{preprocessReport("", notebook)})[0] // to 2\u00a0300 images/s
	d.Demands = []demand{{"a", 57}, {"b", 58}, {"c", 3449}, {"d", 3451}}
	s := d.demands()
	if fmt.Sprint(s) != "{[{b 58} {c 3449}] [{a 57}] [{d 3451}] []}" {
		t.Errorf("have %v", s)
	}
	if f := d.figure(); f.plot.Y.Max < 3449 || f.plot.Y.Max > 4000 {
		t.Errorf("axis up to %g", f.plot.Y.Max)
	}
	compare(t, slices.Concat(d.demandCaptions()...), []string{"demands above the chart ↑: d 3\u00a0451 images/s", "demands too low to draw ↓: a 57.00 images/s"})
	d = scalingsOf(preprocessSetups()["preprocess many demands"])[0]
	if s := d.demands(); len(s.Drawn) != maxDemands || len(s.Drawn)+len(s.Low)+len(s.High)+len(s.Further) != 33 {
		t.Errorf("have %v", s)
	}
}

func TestCPUTitle(t *testing.T) {
	for want, c := range map[string]results.CPU{
		"cores unknown":                                           {Governor: "unknown"},
		"8 threads, 0.5 usable":                                   {Threads: 8, Usable: 0.5},
		"8 cores, 3.1 GHz, governor powersave":                    {Cores: 8, Threads: 8, Usable: 8, Hz: 3.1e9, Governor: "powersave"},
		"8 cores with 16 threads, 4 usable, governor performance": {Cores: 8, Threads: 16, Usable: 4, Governor: "performance"},
	} {
		if have := cpuTitle(c); have != want {
			t.Errorf("have %q, want %q", have, want)
		}
	}
}
