package chart

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"dlbench/results"
)

// Charts are of what there is data for. A part that is free and a batch of unknown size say
// nothing of a loader.
func TestCharts(t *testing.T) {
	copied := func(bytes int64) []*results.Report {
		return with(copyOf("cuda:0", "h2d", "pinned", "gen4x16", bytes, 25e9),
			copyOf("cuda:0", "h2d", "pageable", "gen4x16", bytes, 25e9))
	}
	b16 := copied(articleBytes / 2)[0]
	shapeless, unknown, small := gpuReport("", 1, "gen3x8"), gpuPipeReport(""), gpuPipeReport("")
	b16.Config.Batch, shapeless.Config.Shape, unknown.Config.Batch, small.Config.Batch = 16, nil, 0, 16
	for _, c := range []struct {
		name    string
		reports []*results.Report
		want    string
	}{
		{"nothing", nil, ""},
		{"empty report", with(), ""},
		{"many", one(gpuReport("", 9, "gen4x16")),
			"pcie-batch-time pcie-bandwidth-size pcie-bandwidth-size-2 pcie-bandwidth-size-3"},
		{"two batches", append(copied(articleBytes), b16),
			"pcie-batch-time"},
		{"main memory", with(copyOf("host", "h2h", "pageable", "", articleBytes, 1e10)), ""},
		{"no shape", one(shapeless), "pcie-bandwidth-size"},
		{"no batch", one(unknown), "pipeline-step-time"},
		{"free", with(pipeResult("cuda:0 pinned 2 online read+copy real 0s", 1e-2, 0)), ""},
		{"a loader with each batch", append(one(gpuPipeReport("")), small), "pipeline-step-time pipeline-feed"},
	} {
		if have, _ := allOf(t, c.reports); have != c.want {
			t.Errorf("%s: have %q, want %q", c.name, have, c.want)
		}
	}
}

// allOf are the names and the drawings of the charts of reports.
func allOf(t *testing.T, reports []*results.Report) (names, drawings string) {
	t.Helper()
	for _, c := range Charts(reports) {
		doc, _ := svgOf(t, c)
		names, drawings = names+" "+c.Name, drawings+string(doc)
	}
	return strings.TrimSpace(names), drawings
}

// Charts hold what belongs in them and leave the rest of a report alone.
func TestChartsLeaveOut(t *testing.T) {
	median := func(v float64) func(*results.Result) {
		return func(r *results.Result) {
			r.Metrics = slices.Clone(r.Metrics)
			for i := range r.Metrics {
				r.Metrics[i].Median, r.Metrics[i].Quantiles = v, nil
			}
		}
	}
	param := func(key string, v any) func(*results.Result) {
		return func(r *results.Result) { r.Params = r.Params.With(key, v) }
	}
	every := []func(*results.Result){
		func(r *results.Result) { r.Suite = "external" },
		func(r *results.Result) { r.Status = results.Skipped },
		func(r *results.Result) { r.Metrics = nil },
		func(r *results.Result) { *r = failing(*r) },
		median(math.NaN()), median(math.Inf(1)), median(0), median(-1), median(1e300), median(1e-300),
	}
	for _, c := range []struct {
		plain results.Result
		key   string // of what distinguishes the other case of the chart
		value any
		those []func(*results.Result)
		want  string // the charts of the plain case
	}{
		{copyOf("cuda:0", "h2d", "pinned", "gen4x16", articleBytes, 25e9), "mem", "pageable", []func(*results.Result){
			param("dir", "d2h"), param("dir", "bidi"), param("source", "cold"), param("numa",
				"remote"), param("concurrent", "2"),
			param("dtype", "float16"), param("bytes", int64(4096)), param("device", "host"),
		}, "pcie-batch-time"},
		{diskResult("tensor", "warm", 1, articleBytes, 1), "cache", "direct", nil, "disk-batch-time"},
		{preprocessResult("online", "turbo", 1, 500, [4]float64{1, 1, 1, 1}), "threads", int64(2),
			[]func(*results.Result){
				func(r *results.Result) { r.Assumed = []string{"disk"} }, param("threads", int64(1)<<40),
			}, "preprocess-stages"},
		{pipeResult("cuda:0 pinned 2 online nothing real 50ms", 0.06, 0), "mem", "pageable", []func(*results.Result){
			param("step", "-1s"), param("step", "soon"), param("step", "1"),
		}, "pipeline-step-time"},
	} {
		c.plain.Metrics = slices.DeleteFunc(c.plain.Metrics,
			func(m results.Metric) bool { return m.Name == "read_latency" })
		other := c.plain // the same case with some other parameter comes second
		median(7)(&other)
		second := c.plain
		second.Params = second.Params.With(c.key, c.value)
		names, plain := allOf(t, with(c.plain, second))
		if _, twice := allOf(t, with(c.plain, second, other)); names != c.want || plain != twice {
			t.Errorf("%s: charts %q, want %q, unchanged by another case", c.plain.Suite, names, c.want)
		}
		for i, change := range append(every, c.those...) {
			r := c.plain
			change(&r)
			if names, _ := allOf(t, with(r, second)); names != "" {
				t.Errorf("%s, change %d: charts %q", c.plain.Suite, i, names)
			}
		}
	}
}

// A report that was read from its file has the same charts: files do not say which
// parameters go without saying.
func TestChartsOfFile(t *testing.T) {
	for _, rep := range append(fleet(3), verdictReport("")) {
		data, err := json.Marshal(rep)
		if err != nil {
			t.Fatal(err)
		}
		var again results.Report
		if err := json.Unmarshal(data, &again); err != nil {
			t.Fatal(err)
		}
		_, want := allOf(t, one(rep))
		if _, have := allOf(t, one(&again)); have != want {
			t.Errorf("have %s, want %s", have, want)
		}
	}
}

func TestFormats(t *testing.T) {
	for _, format := range []string{"", "gif", "PNG"} {
		err := Charts(one(simReport("")))[0].Write(io.Discard, format)
		if err == nil || !strings.Contains(err.Error(), "want") {
			t.Errorf("%q: error %v, want one that says what is allowed", format, err)
		}
	}
}

// pngOf draws the first chart of reports twice and returns what both drawings are.
func pngOf(t *testing.T, reports []*results.Report) *image.RGBA {
	t.Helper()
	chart := Charts(reports)[0]
	var b, again bytes.Buffer
	if err := errors.Join(chart.Write(&b, PNG), chart.Write(&again, PNG)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Errorf("%s: two drawings differ", chart.Name)
	}
	img, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	return img.(*image.RGBA)
}

// pixels is how many pixels of img are such.
func pixels(img *image.RGBA, such func(x, y int, c color.RGBA) bool) (n int) {
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			if such(x, y, img.RGBAAt(x, y)) {
				n++
			}
		}
	}
	return n
}

func TestPNG(t *testing.T) {
	img := pngOf(t, one(gpuReport("", 2, "gen4x16")))
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	if w != pictureWidth || h < w/3 {
		t.Errorf("%d x %d pixels, want %d wide", w, h, pictureWidth)
	}
	if n := pixels(img, func(_, _ int, c color.RGBA) bool { return c == partColor[results.PartCopy] }); n < 20 {
		t.Errorf("%d pixels in the colour of copies", n)
	}
	if pixels(img, func(x, y int, c color.RGBA) bool {
		return (x == 0 || y == 0 || x == w-1 || y == h-1) && c != color.RGBA{255, 255, 255, 255}
	}) > 0 {
		t.Error("something is drawn at the edge")
	}
}

// A character that the font lacks is seen as a box, not as nothing.
func TestPNGOfForeignLetters(t *testing.T) {
	dark := func(label string) int {
		img := pngOf(t, one(simReport(label)))
		caption := img.Bounds().Dy() - 40
		return pixels(img, func(_, y int, c color.RGBA) bool { return y >= caption && c.R < 0xF0 })
	}
	if none, some := dark("a"), dark("a"+"🚀🚀🚀🚀🚀🚀"); some < none+60 {
		t.Errorf("%d dark pixels with six rockets, %d without", some, none)
	}
}

// A report decides what is drawn, not how much memory that takes: what is too much for
// one picture is left to the tables.
func TestTooMuchForAPicture(t *testing.T) {
	rep := newReport("")
	for i := range 500 {
		rep.Results = append(rep.Results, copyOf("cuda:0", "h2d", fmt.Sprintf("m%d", i), "gen4x16", articleBytes, 1e10))
	}
	charts := Charts(one(rep))
	if len(charts) != 1 {
		t.Fatalf("%d charts", len(charts))
	}
	if _, h := charts[0].figure().size(layoutWidth); h > 4000*px {
		t.Errorf("a picture is %.0f pixels high", h/px)
	}
}

// BenchmarkFleet draws all charts of eight machines.
func BenchmarkFleet(b *testing.B) {
	reports := fleet(MaxReports)
	for _, format := range []string{PNG, SVG} {
		b.Run(format, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, c := range Charts(reports) {
					if err := c.Write(io.Discard, format); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
