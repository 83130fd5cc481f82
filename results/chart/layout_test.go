package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"

	"dlbench/bench/theory"
	"dlbench/results"
)

// drawn is something on the canvas and the rectangle that it covers.
type drawn struct {
	what string
	vg.Rectangle
}

func bounds(what string, pts ...vg.Point) drawn {
	inf := vg.Length(math.Inf(1))
	d := drawn{what, vg.Rectangle{Min: vg.Point{X: inf, Y: inf}, Max: vg.Point{X: -inf, Y: -inf}}}
	for _, p := range pts {
		d.Min = vg.Point{X: min(d.Min.X, p.X), Y: min(d.Min.Y, p.Y)}
		d.Max = vg.Point{X: max(d.Max.X, p.X), Y: max(d.Max.Y, p.Y)}
	}
	return d
}

// record draws f and returns its texts and shapes and the size of the canvas.
func record(t *testing.T, f *figure) (texts, shapes []drawn, w, h vg.Length) {
	t.Helper()
	w, h = f.size(layoutWidth)
	var rec recorder.Canvas
	f.draw(draw.NewCanvas(&rec, w, h))
	for _, a := range rec.Actions {
		switch a := a.(type) {
		case *recorder.Translate, *recorder.Scale, *recorder.Rotate:
			t.Fatalf("%T: this test does not follow it", a)
		case *recorder.FillString:
			if a.Size < 11*px {
				t.Errorf("%q is %.1f pixels high, want at least 11", a.String, float64(a.Size/px))
			}
			sty := letters(float64(a.Size/px), ink)
			sty.Font.Weight = a.Font.Weight
			e := sty.FontExtents()
			texts = append(texts, bounds(a.String, a.Point.Sub(vg.Point{Y: e.Descent}),
				a.Point.Add(vg.Point{X: width(sty, a.String), Y: e.Ascent})))
		case *recorder.Stroke:
			shapes = append(shapes, bounds("stroke", corners(a.Path)...))
		case *recorder.Fill:
			shapes = append(shapes, bounds("fill", corners(a.Path)...))
		}
	}
	return texts, shapes, w, h
}

func corners(p vg.Path) []vg.Point {
	var pts []vg.Point
	for _, c := range p {
		if c.Type == vg.MoveComp || c.Type == vg.LineComp {
			pts = append(pts, c.Pos)
		}
	}
	return pts
}

func inside(d drawn, w, h vg.Length) bool {
	const slack = 0.01
	return d.Min.X >= -slack && d.Min.Y >= -slack && d.Max.X <= w+slack && d.Max.Y <= h+slack
}

func overlap(a, b drawn) bool {
	const slack = 0.5 * px
	return a.Min.X < b.Max.X-slack && b.Min.X < a.Max.X-slack && a.Min.Y < b.Max.Y-slack && b.Min.Y < a.Max.Y-slack
}

// machinesOf are machines that each have cases of one suite.
var machinesOf = map[string]func() *results.Report{
	"GPU":        func() *results.Report { return gpuReport("", 1, "gen3x16") },
	"3 GPUs":     func() *results.Report { return gpuReport("", 3, "gen4x16") },
	"no GPU":     func() *results.Report { return simReport("") },
	"disk":       func() *results.Report { return nvmeReport("") },
	"hard disk":  func() *results.Report { return hddReport("", "100MB/s:8ms") },
	"notebook":   func() *results.Report { return preprocessReport("", notebook) },
	"SMT":        func() *results.Report { return preprocessReport("", workstation) },
	"slow cores": func() *results.Report { return preprocessReport("", hybridPC) },
	"64 cores":   func() *results.Report { return preprocessReport("", server) },
	"pipeline":   func() *results.Report { return gpuPipeReport("") },
	"simulated":  func() *results.Report { return simPipeReport("") },
	"advice":     func() *results.Report { return verdictReport("") },
	"simulation": func() *results.Report { return verdictReport("rig", "link", "step") },
}

// setups are sets of reports that real machines and hostile files could give.
func setups() map[string][]*results.Report {
	all := map[string][]*results.Report{
		"mixed disks":  {nvmeReport("rig"), hddReport("laptop", "hdd")},
		"8 GPUs":       one(gpuReport("", 8, "gen5x16")),
		"two disks":    with(append(nvmeReport("").Results, hddReport("", "stream100").Results...)...),
		"fleet of 2":   fleet(2),
		"fleet of 4":   fleet(4),
		"fleet of 8":   fleet(8),
		"40 counts":    with(),
		"odd verdicts": one(verdictReport("")),
	}
	for i, link := range []string{"gen1x16", "gen3x4", "gen3x8", "gen4x4", "gen3x16", "gen4x16", "gen5x16", "gen6x16"} {
		all["8 links"] = append(all["8 links"], gpuReport(fmt.Sprintf("box %c", 'A'+i), 1, link))
	}
	for name, report := range machinesOf {
		all[name] = one(report())
		demands, failed := report(), report()
		for i := range demands.Results {
			for j := range 30 {
				demands.Results[i].References = append(demands.Results[i].References, results.Reference{
					Name: results.DemandPrefix + strings.Repeat("net ",
						j), Metric: "throughput", Value: new(100 * math.Pow(1.5, float64(j)))})
			}
			if i%3 == 1 {
				failed.Results[i] = failing(failed.Results[i])
			}
		}
		all[name+", demands"], all[name+", failures"] = one(demands), one(failed)
		for i := range 8 {
			r := report()
			r.Label, r.Config.Batch = string(rune('A'+i)), 32<<(i%2)
			all[name+", 8 machines"] = append(all[name+", 8 machines"], r)
			all[name+", long names"] = append(all[name+", long names"], wordy(report(), i))
		}
		for speed, times := range map[string]float64{"slow": 1e6, "very slow": 1e14, "fast": 1e-6, "very fast": 1e-14} {
			all[name+", "+speed] = one(slowed(report(), times))
		}
	}
	// far from what was measured, with intervals that do not hold them
	for i := range all["odd verdicts"][0].Verdict.Changes {
		c := &all["odd verdicts"][0].Verdict.Changes[i]
		c.Value *= math.Pow(10, float64(4*i-4))
		c.Lo, c.Hi = 2*c.Value, math.Inf(1)
	}
	all["loaders"] = one(loadersReport(""))
	for i := range int64(40) {
		all["40 counts"][0].Results = append(all["40 counts"][0].Results,
			diskResult("raw", "direct", i+1, rawBytes, 4e-3),
			preprocessResult("online", "go", i+1, 500*float64(i+1), [4]float64{1e-6, 1e-3, 1e-4, 1e-5}))
	}
	return all
}

func with(all ...results.Result) []*results.Report {
	r := newReport("")
	r.Results = all
	return one(r)
}

// worded gives rep that label, words in all texts that a report may hold, and odd numbers.
func worded(rep *results.Report, label string, words func(string) string) *results.Report {
	rep.Label, rep.Host.CPU.Model, rep.Tool.Version, rep.Host.CPU.Usable = label, words("model"), words("v"), 1e-300
	rep.Host.Disks = []results.Disk{{Name: words("sda"), Model: words("disk"), Kind: words("kind"), Link: words("link"),
		FileSystem: words("ext")}}
	rep.Host.GPUs = []results.GPU{{Index: new(0), Name: words("GPU")}}
	for i := range rep.Results {
		r := &rep.Results[i]
		for _, p := range r.Params {
			if s, ok := p.Value.(string); ok && !slices.Contains([]string{"step", "dir", "source", "dtype"}, p.Key) {
				r.Params = r.Params.With(p.Key, words(s))
			}
		}
		r.Proof = results.RecordOf(map[string]any{"decoder": words("decoder"), "siblings": words("0"), "slower": -1e300,
			"proven": words("yes")})
		r.Fit = results.RecordOf(map[string]any{"model": theory.USL, "error": 1e300, "peak": -1e300, "most": 8})
		for j := range r.References {
			r.References[j].Name = words(r.References[j].Name)
		}
	}
	for i := range rep.Predictions {
		p := &rep.Predictions[i]
		p.Change, p.Kind, p.Cost, p.Assumed = words("change"), words("kind"), words("cost"), []string{words("link")}
	}
	if rep.Verdict != nil {
		rep.Verdict.NeedsFrom, rep.Verdict.NoEffect = words("demand"), []string{words("disk")}
		for i := range rep.Verdict.Changes {
			rep.Verdict.Changes[i].Name = words("change")
		}
	}
	return rep
}

// wordy gives rep names that are longer the greater n, and hold what fonts lack.
func wordy(rep *results.Report, n int) *results.Report {
	words := func(s string) string { return strings.Repeat(s+" 机器\u202e\x07 🚀", 30) }
	return worded(rep, strings.Repeat("W", 30*n), words)
}

// slowed is rep so many times slower, without intervals.
func slowed(rep *results.Report, times float64) *results.Report {
	for i := range rep.Results {
		r := &rep.Results[i]
		for j := range r.Metrics {
			m := &r.Metrics[j]
			m.Lo, m.Hi = nil, nil
			switch m.Unit {
			case results.Seconds:
				m.Median *= times
			case results.PerSecond, results.BytesPerSecond:
				m.Median /= times
			}
			for k := range m.Quantiles {
				m.Quantiles[k].Value *= times
			}
		}
	}
	return rep
}

// faultsOf are the texts and shapes off the canvas, and the texts that cover others.
func faultsOf(t *testing.T, f *figure) (off, over []string) {
	t.Helper()
	texts, shapes, w, h := record(t, f)
	for _, d := range append(shapes, texts...) {
		if !inside(d, w, h) {
			off = append(off, fmt.Sprintf("%q at %v is not within %v x %v", d.what, d.Rectangle, w, h))
		}
	}
	for i, a := range texts {
		for _, b := range texts[:i] {
			if overlap(a, b) {
				over = append(over, fmt.Sprintf("%q at %v covers %q at %v", a.what, a.Rectangle, b.what, b.Rectangle))
			}
		}
	}
	return off, over
}

// Every text and shape lies on the canvas, and no text covers another.
func TestLayout(t *testing.T) {
	for name, reports := range setups() {
		charts := Charts(reports)
		if len(charts) == 0 {
			t.Errorf("%s: no charts", name)
		}
		for _, c := range charts {
			off, over := faultsOf(t, c.figure())
			for _, s := range append(off, over...) {
				t.Errorf("%s, %s: %s", name, c.Name, s)
			}
		}
	}
}

// The test above must see what it is to find.
func TestLayoutFindsFaults(t *testing.T) {
	f := &figure{title: "title", plot: plot.New(), data: 100 * px}
	f.plot.HideAxes()
	f.plot.Add(faults{})
	if off, over := faultsOf(t, f); len(off) != 2 || len(over) != 1 {
		t.Errorf("%d things off the canvas and %d overlaps found, want 2 and 1", len(off), len(over))
	}
}

type faults struct{}

func (faults) Plot(c draw.Canvas, _ *plot.Plot) {
	write(c, labelText, c.Max.X, c.Min.Y+30, "beyond the right edge")
	write(c, labelText, c.Min.X, c.Min.Y+60, "one")
	write(c, labelText, c.Min.X+3, c.Min.Y+63, "two")
	fillBox(c, ink, c.Min.X-50, c.Min.Y, c.Min.X, c.Max.Y)
}
