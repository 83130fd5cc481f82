package chart

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"strings"
	"testing"

	"dlbench/results"
)

func TestCharts(t *testing.T) {
	for _, c := range []struct {
		name    string
		reports []*results.Report
		want    string
	}{
		{"nothing", nil, ""},
		{"empty report", []*results.Report{newReport("")}, ""},
		{"assumed", []*results.Report{simReport("")}, "pcie-batch-time"},
		{"measured", []*results.Report{gpuReport("", 1, "gen4x16")}, "pcie-batch-time pcie-bandwidth-size"},
		{"disk", []*results.Report{nvmeReport("")}, "disk-batch-time disk-readers disk-latency"},
		{"preprocess", []*results.Report{preprocessReport("", notebook)},
			"preprocess-scaling preprocess-scaling-2 preprocess-decoders preprocess-stages"},
		{"pipeline", []*results.Report{simPipeReport("")}, "pipeline-step-time pipeline-feed pipeline-time"},
		{"verdict", []*results.Report{verdictReport("")}, "verdict-predictions verdict-predictions-2 verdict-whatifs"},
		{"many", []*results.Report{gpuReport("", 9, "gen4x16")},
			"pcie-batch-time pcie-bandwidth-size pcie-bandwidth-size-2 pcie-bandwidth-size-3"},
	} {
		charts, err := Charts(c.reports)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, x := range charts {
			names = append(names, x.Name)
			if x.Title == "" {
				t.Errorf("%s: %s has no title", c.name, x.Name)
			}
		}
		if have := strings.Join(names, " "); have != c.want {
			t.Errorf("%s: have %q, want %q", c.name, have, c.want)
		}
	}
	if _, err := Charts(make([]*results.Report, MaxReports+1)); err == nil {
		t.Error("nine reports are accepted")
	}
}

func TestOptions(t *testing.T) {
	charts, err := Charts([]*results.Report{simReport("")})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{{Format: "gif"}, {Format: "PNG"}, {Width: MinWidth - 1}, {Width: MaxWidth + 1},
		{Width: -1}} {
		if err := charts[0].Write(io.Discard, o); err == nil || !strings.Contains(err.Error(), "want") {
			t.Errorf("%+v: error %v, want one that says what is allowed", o, err)
		}
	}
}

func TestPNG(t *testing.T) {
	for _, reports := range [][]*results.Report{{gpuReport("", 1, "gen4x16")}, {gpuReport("", 2, "gen4x16")}} {
		charts, err := Charts(reports)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range charts {
			for width, want := range map[int]int{0: DefaultWidth, MinWidth: MinWidth, 801: 801} {
				var b, again bytes.Buffer
				if err := c.Write(&b, Options{Width: width}); err != nil {
					t.Fatal(err)
				}
				if width == MinWidth {
					if err := c.Write(&again, Options{Width: width}); err != nil || !bytes.Equal(b.Bytes(),
						again.Bytes()) {
						t.Errorf("%s: two drawings differ, %v", c.Name, err)
					}
				}
				img, err := png.Decode(&b)
				if err != nil {
					t.Fatal(err)
				}
				r := img.Bounds()
				if r.Dx() != want || r.Dy() < want/3 {
					t.Errorf("%s: %d x %d pixels, want %d wide", c.Name, r.Dx(), r.Dy(), want)
				}
				pix, ok := img.(*image.RGBA)
				if !ok {
					t.Fatalf("%s: decoded as %T", c.Name, img)
				}
				pinned := 0
				for y := range r.Dy() {
					for x := range r.Dx() {
						p := pix.RGBAAt(x, y)
						if p == memColor["pinned"] {
							pinned++
						}
						edge := x == 0 || y == 0 || x == r.Dx()-1 || y == r.Dy()-1
						if edge && p != (color.RGBA{255, 255, 255, 255}) {
							t.Fatalf("%s: something is drawn at the edge, %d, %d", c.Name, x, y)
						}
					}
				}
				if pinned < 20 {
					t.Errorf("%s: %d pixels in the colour of pinned memory", c.Name, pinned)
				}
			}
		}
	}
}

// A report decides what is drawn, not how much memory that takes: what is too much for
// one picture goes to others.
func TestTooMuchForAPicture(t *testing.T) {
	rep := newReport("")
	for i := range 500 {
		rep.Results = append(rep.Results, copyOf("cuda:0", "h2d", fmt.Sprintf("m%d", i), "gen4x16", articleBytes, 1e10))
	}
	if charts, err := Charts(one(rep)); err != nil || len(charts) != 8 {
		t.Fatalf("%d charts, %v", len(charts), err)
	}
	high := Chart{figure: func() *figure { return &figure{plot: newPlot(), data: (maxHeight + 1) * px} }}
	for _, format := range []string{PNG, SVG} {
		if err := high.Write(io.Discard, Options{Format: format}); err == nil {
			t.Errorf("%s: a picture of more than %d pixels is drawn", format, maxHeight)
		}
	}
}
