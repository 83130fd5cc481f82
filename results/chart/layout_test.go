package chart

import (
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"

	"dlbench/results"
)

// drawn is something on the canvas and the rectangle that it covers.
type drawn struct {
	what string
	vg.Rectangle
}

// matrix maps what is drawn to the canvas: x' = a x + b y + e, y' = c x + d y + f.
type matrix struct{ a, b, c, d, e, f vg.Length }

func (m matrix) apply(p vg.Point) vg.Point {
	return vg.Point{X: m.a*p.X + m.b*p.Y + m.e, Y: m.c*p.X + m.d*p.Y + m.f}
}

func (m matrix) bounds(what string, pts ...vg.Point) drawn {
	inf := vg.Length(math.Inf(1))
	d := drawn{what, vg.Rectangle{Min: vg.Point{X: inf, Y: inf}, Max: vg.Point{X: -inf, Y: -inf}}}
	for _, p := range pts {
		p = m.apply(p)
		d.Min = vg.Point{X: min(d.Min.X, p.X), Y: min(d.Min.Y, p.Y)}
		d.Max = vg.Point{X: max(d.Max.X, p.X), Y: max(d.Max.Y, p.Y)}
	}
	return d
}

// record draws f and returns its texts and shapes and the size of the canvas.
func record(t *testing.T, f *figure) (texts, shapes []drawn, w, h vg.Length) {
	t.Helper()
	w, h, err := f.size()
	if err != nil {
		t.Fatal(err)
	}
	var rec recorder.Canvas
	f.draw(draw.NewCanvas(&rec, w, h))
	m := matrix{a: 1, d: 1}
	var stack []matrix
	for _, a := range rec.Actions {
		switch a := a.(type) {
		case *recorder.Push:
			stack = append(stack, m)
		case *recorder.Pop:
			m, stack = stack[len(stack)-1], stack[:len(stack)-1]
		case *recorder.Rotate:
			sin, cos := vg.Length(math.Sin(a.Angle)), vg.Length(math.Cos(a.Angle))
			m.a, m.b, m.c, m.d = m.a*cos+m.b*sin, m.b*cos-m.a*sin, m.c*cos+m.d*sin, m.d*cos-m.c*sin
		case *recorder.Translate, *recorder.Scale:
			t.Fatalf("%T: this test does not follow it", a)
		case *recorder.FillString:
			if a.Size < 11*px {
				t.Errorf("%q is %.1f pixels high, want at least 11", a.String, float64(a.Size/px))
			}
			sty := letters(float64(a.Size/px), ink)
			sty.Font.Weight = a.Font.Weight
			r := covers(sty, a.Point.X, a.Point.Y, a.String)
			texts = append(texts, m.bounds(a.String, r.Min, r.Max))
		case *recorder.Stroke:
			shapes = append(shapes, m.bounds("stroke", corners(a.Path)...))
		case *recorder.Fill:
			shapes = append(shapes, m.bounds("fill", corners(a.Path)...))
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

// setups are sets of reports that real machines and hostile files could give.
func setups() map[string][]*results.Report {
	all := map[string][]*results.Report{
		"sim":    {simReport("")},
		"1 GPU":  {gpuReport("", 1, "gen3x16")},
		"3 GPUs": {gpuReport("", 3, "gen4x16")},
		"8 GPUs": {gpuReport("", 8, "gen5x16")},
		"mixed":  {simReport("laptop"), gpuReport("rig", 2, "gen3x16")},
	}
	for i, link := range []string{"gen1x16", "gen3x4", "gen3x8", "gen4x4", "gen3x16", "gen4x16", "gen5x16", "gen6x16"} {
		all["8 machines"] = append(all["8 machines"], gpuReport(fmt.Sprintf("box %c", 'A'+i), 1, link))
	}
	for i := range 8 {
		r := gpuReport(strings.Repeat("W", 30*i)+strings.Repeat(" 机器", i), 1, "gen4x16")
		r.Host.CPU.Model = strings.Repeat("long model ", 40)
		r.Host.GPUs[0].Name = strings.Repeat("GPU", 50)
		all["long names"] = append(all["long names"], r)
	}
	h100 := gpuReport("", 1, "gen5x16")
	h100.Host.GPUs[0].Name = "NVIDIA H100 80GB HBM3"
	all["H100"] = []*results.Report{h100}
	for name, times := range map[string]float64{"slow": 1e5, "very slow": 1e14, "fast": 1e-5, "very fast": 1e-14} {
		r := gpuReport("", 1, "gen3x4")
		for i := range r.Results {
			for j := range r.Results[i].Metrics {
				m, f := &r.Results[i].Metrics[j], times
				if m.Name == "bandwidth" {
					f = 1 / times
				}
				m.Median, m.Lo, m.Hi = m.Median*f, nil, nil
			}
		}
		all[name] = []*results.Report{r}
	}
	for _, n := range []int{2, 4, 8} {
		all[fmt.Sprint("fleet of ", n)] = fleet(n)
	}
	maps.Copy(all, diskSetups())
	maps.Copy(all, preprocessSetups())
	maps.Copy(all, pipeSetups())
	maps.Copy(all, verdictSetups())
	return all
}

// Every text and shape lies on the canvas, and no text covers another.
func TestLayout(t *testing.T) {
	for name, reports := range setups() {
		charts, err := Charts(reports)
		if err != nil || len(charts) == 0 {
			t.Errorf("%s: %d charts, %v", name, len(charts), err)
		}
		for _, c := range charts {
			t.Run(name+"/"+c.Name, func(t *testing.T) {
				texts, shapes, w, h := record(t, c.figure())
				for _, d := range append(shapes, texts...) {
					if !inside(d, w, h) {
						t.Errorf("%q at %v is not within %v x %v", d.what, d.Rectangle, w, h)
					}
				}
				for i, a := range texts {
					for _, b := range texts[:i] {
						if overlap(a, b) {
							t.Errorf("%q at %v covers %q at %v", a.what, a.Rectangle, b.what, b.Rectangle)
						}
					}
				}
			})
		}
	}
}

// The test above must see what it is to find.
func TestLayoutFindsFaults(t *testing.T) {
	f := &figure{title: "title", plot: plot.New(), data: 100 * px}
	f.plot.HideAxes()
	f.plot.Add(faults{})
	texts, shapes, w, h := record(t, f)
	var off, over int
	for _, d := range append(shapes, texts...) {
		if !inside(d, w, h) {
			off++
		}
	}
	for i, a := range texts {
		for _, b := range texts[:i] {
			if overlap(a, b) {
				over++
			}
		}
	}
	if off != 3 || over != 2 {
		t.Errorf("%d things off the canvas and %d overlaps found, want 3 and 2", off, over)
	}
}

type faults struct{}

func (faults) Plot(c draw.Canvas, _ *plot.Plot) {
	write(c, labelText, c.Max.X, c.Min.Y+30, "beyond the right edge")
	write(c, labelText, c.Min.X, c.Min.Y+60, "one")
	write(c, labelText, c.Min.X+3, c.Min.Y+63, "two")
	fillBox(c, ink, c.Min.X-50, c.Min.Y, c.Min.X, c.Max.Y)
	c.Push()
	c.Rotate(math.Pi / 2)
	write(c, labelText, c.Min.Y, -c.Max.X, strings.Repeat("upwards ", 10))
	c.Pop()
}
