package chart

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dlbench/bench/theory"
	"dlbench/results"
)

func TestScalings(t *testing.T) {
	m := machine{counts: []int64{1, 2, 4, 6}, cores: 4, fast: 2, turbo: 1000, law: theory.Scaling{X1: 1, Sigma: 0.1},
		fit: true}
	got := scalingCurves(one(preprocessReport("", m)))
	golden(t, "scalings", summaries(got))
	if l := got[0].Lines[1]; l.Name != "" || len(l.Points) != 4 || l.Points[3].Median != 3600 {
		t.Errorf("line %+v, want the control", l)
	}
	stops := []mark{{At: 2, Text: "slower cores →"}, {At: 4, Text: "SMT siblings →"}}
	for i, s := range got[0].Stops {
		if s.At != stops[i].At || s.Text != stops[i].Text {
			t.Errorf("%+v joins, want %+v", s, stops[i])
		}
	}
}

// scalingCurves are the charts' data.
func scalingCurves(reports []*results.Report) (all []lines) {
	for _, d := range scalings(reports) {
		all = append(all, d.lines())
	}
	return all
}

func TestStageTimes(t *testing.T) {
	rep := preprocessReport("rig", workstation)
	rep.Results[7] = failing(rep.Results[7]) // turbo with 16 threads
	v := stageTimes(one(rep))
	golden(t, "stage-times", v.summary())
	want := []string{"8", "520", "95", "21", "19.3"}
	for i, x := range v.Groups[0].Rows[0].Parts {
		if have := fmt.Sprintf("%.3g", x*1e6); have != want[i] {
			t.Errorf("part %d: %s µs, want %s", i, have, want[i])
		}
	}
}

func TestDecoderRates(t *testing.T) {
	rep := preprocessReport("", notebook)
	rep.Results[2] = failing(rep.Results[2])
	golden(t, "decoder-rates", decoderRates(one(rep)).summary())
}

func TestPreprocessOfSeveral(t *testing.T) {
	a, b := preprocessReport("a", workstation), preprocessReport("b", notebook)
	for i := range b.Results {
		if b.Results[i].Params.Text("decoder") == "turbo" {
			b.Results[i].Proof = results.RecordOf(results.PreprocessProof{Decoder: "libjpeg-turbo 3.0.1"})
		}
	}
	reports := []*results.Report{a, b}
	compare(t, decoderRates(reports).summary()[:2], []string{
		"online, libjpeg-turbo: 0 libjpeg-turbo 2.1.5 820 images/s; 1 libjpeg-turbo 3.0.1 1150 images/s;",
		"online, Go decoder: 0 508.4 images/s; 1 713 images/s;",
	})
	compare(t, stageTimes(reports).summary()[1:2], []string{
		"online, Go decoder: 0 1 thread 1.060 ms, 508.4 images/s; 1 1 thread 1.060 ms, 713 images/s;",
	})
	golden(t, "preprocess-of-several", summaries(scalingCurves(reports)))
}

func TestFitOf(t *testing.T) {
	good := map[string]any{"model": "usl", "x1": 100.0, "sigma": 0.1, "kappa": 0.01, "error": 0.02, "least": 1,
		"most": int64(8)}
	want := theory.Scaling{Law: theory.USL, X1: 100, Sigma: 0.1, Kappa: 0.01, Error: 0.02, Least: 1, Most: 8}
	if have, ok := fitOf(results.As[results.Fit](results.RecordOf(good))); !ok || have != want {
		t.Errorf("have %+v, %v, want %+v", have, ok, want)
	}
	if _, ok := fitOf(results.Fit{}); ok {
		t.Error("a fit of nothing")
	}
	for key, v := range map[string]any{"model": "cubic", "x1": -1.0, "sigma": 2.0, "kappa": "x", "least": 8,
		"most": 1e300} {
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
		"3.1 % serial (Amdahl, error 0.8 %)":                {Law: theory.Amdahl, Sigma: 0.0312, Error: 0.008},
		"0.0 % serial (Amdahl, error below 0.1 %)":          {Law: theory.Amdahl},
		"peak at 10 threads (USL, error 2 %)":               {Law: theory.USL, Kappa: 0.01, Error: 0.02, Most: 10},
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
	l := scalingLine{curve: curve{Points: []curvePoint{{X: 2}, {X: 8}}}}
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
	d := scalings(one(preprocessReport("", notebook)))[0] // to 2 300 images/s
	for i := range d.Lines {
		d.Lines[i].demands = []demand{{"a", 57}, {"b", 58}, {"c", 3449}, {"d", 3451}}
	}
	c := d.lines()
	if len(c.Levels) != 2 || c.Levels[0].Name != "b" || c.Levels[1].Name != "c" || c.y.max < 3449 || c.y.max > 4000 {
		t.Errorf("levels %+v on an axis up to %g", c.Levels, c.y.max)
	}
	compare(t, slices.Concat(c.captions[1:]...), []string{
		"demands above the chart ↑: d 3451 images/s",
		"demands too low to draw ↓: a 57 images/s",
	})
	c = scalings(setups()["notebook, demands"])[0].lines()
	if text := fmt.Sprint(c.captions); len(c.Levels) != maxDemands || !strings.Contains(text, "further demands: ") {
		t.Errorf("%d levels and %s", len(c.Levels), text)
	}
}
