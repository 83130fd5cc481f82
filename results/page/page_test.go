package page

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"dlbench/results"
	"dlbench/results/encode"
	"dlbench/results/golden"
)

// sample is the report that package results tests its encodings with: assumed and
// measured cases, one failed and one skipped.
func sample(t testing.TB) *results.Report {
	t.Helper()
	r, err := results.ReadFile("../testdata/report.json")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// pageOf is the page of reports, without charts.
func pageOf(t testing.TB, reports ...*results.Report) *document {
	t.Helper()
	d, err := newDocument(reports)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// drawn is the page of reports with charts as package chart draws them.
func drawn(t testing.TB, reports ...*results.Report) *document {
	t.Helper()
	d := pageOf(t, reports...)
	for _, name := range []string{"pcie-batch-time", "pipeline-time", "preprocess-scaling"} {
		files, _ := filepath.Glob("../chart/testdata/*" + name + ".svg")
		if len(files) == 0 {
			t.Fatalf("no drawing of %s", name)
		}
		svg, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		add(d, name, "About "+name, svg)
	}
	return d
}

// add puts a picture where the chart of that name stands.
func add(d *document, name, title string, svg []byte) {
	const narrow = `<svg xmlns="http://www.w3.org/2000/svg" width="380px" height="300px"></svg>`
	to, x := d.placeOf(name), drawing{Title: title, Src: dataURL("image/svg+xml", svg)}
	if to == &d.Top {
		x.Narrow, x.Media = template.Srcset(dataURL("image/svg+xml", []byte(narrow))), "(max-width: 40rem)"
	}
	*to = append(*to, x)
}

func write(t testing.TB, d *document) string {
	t.Helper()
	var b bytes.Buffer
	if err := d.write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var (
	dataURLs   = regexp.MustCompile(`((?:href|src)="data:[a-z/+]+;base64,)[^"]*`)
	styleSheet = regexp.MustCompile(`(?s)<style>.*</style>\n`)
)

// compared is a comparison of one case.
var compared = []encode.Table{{Suite: "Compared", Rows: 1, Columns: []encode.Column{
	{Head: "case", Cells: []string{"pcie"}}, {Head: "change", Number: true, Cells: []string{"+3 %"}}}}}

// TestWriteGolden compares pages with those that someone looked at.
func TestWriteGolden(t *testing.T) {
	verdict, short, other := sample(t), sample(t), sample(t)
	verdict.Config.Suites = []string{"pcie", "pipeline"}
	verdict.Findings = append(verdict.Findings,
		results.Finding{Claim: "bound", Verdict: results.Fails, Text: "the disk"},
		results.Finding{Claim: "feeds", Verdict: results.Inconclusive, Text: "feeds a little"})
	verdict.Verdict = &results.Verdict{Answer: results.AnswerUnknown, Why: "what limits it is not certain",
		Feeds: results.Finite(812), Loader: results.OwnLoader, Workers: 1, Assumed: []string{"disk"},
		Changes: []results.Change{{Name: "4 cores", Value: 1600, Lo: 1500, Hi: 1700}},
		Notes:   []string{"the disk is assumed"}}
	verdict.Predictions = []results.Prediction{
		{Change: "8 lanes", Metric: "step", Unit: "s", Value: results.Finite(0.2), Lo: results.Finite(0.19),
			Hi: results.Finite(0.21), Error: results.Finite(0.04), Extrapolated: true, Cost: results.Purchase},
		{Change: "2 readers", Metric: "step", Unit: "s", Value: results.Finite(0.3), Measured: results.Finite(0.4),
			Error: results.Finite(-0.25)}}
	short.Label, short.Status, short.Results = "", results.Interrupted, short.Results[:6]
	short.Config.Suites = []string{"pcie", "disk"}
	other.Findings[1].Verdict, other.Verdict = results.Fails, verdict.Verdict
	svg := []byte("<svg></svg>")
	one, several := pageOf(t, sample(t)), pageOf(t, sample(t), short, other)
	add(one, "pcie-batch-time", "Time to copy one batch", svg)
	add(several, "pcie-batch-time", "Time to copy one batch", svg)
	add(several, "disk-x", "A chart of the disk", svg)
	several.Comparison, several.Left = compared, []string{"A chart of two."}
	for name, d := range map[string]*document{
		"sample":  one,
		"verdict": pageOf(t, verdict),
		"empty":   pageOf(t, &results.Report{SchemaVersion: 1, Status: results.Complete}),
		"several": several,
	} {
		page := write(t, d)
		checkPage(t, page)
		got := styleSheet.ReplaceAllString(dataURLs.ReplaceAllString(page, "$1"), "") // tested below and in a browser
		golden.Check(t, filepath.Join("testdata", name+".html"), []byte(got))
	}
}

func TestWriteReportsErrors(t *testing.T) {
	broken := errors.New("broken pipe")
	if err := pageOf(t, sample(t)).write(failing{broken}); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	var b bytes.Buffer
	if _, err := Write(ended, &b, []*results.Report{sample(t)}); !errors.Is(err, context.Canceled) || b.Len() > 0 {
		t.Errorf("interrupted: a page of %d bytes, %v", b.Len(), err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// BenchmarkWrite writes the page of ten reports of 300 cases.
func BenchmarkWrite(b *testing.B) {
	rep, err := results.ReadFile("../published/disk-virtio/report.json")
	if err != nil {
		b.Fatal(err)
	}
	var reps []*results.Report
	for i := range 10 {
		r := *rep
		r.Label, r.Results = fmt.Sprint("machine ", i), nil
		for k := 0; len(r.Results) < 300; k++ {
			res := rep.Results[k%len(rep.Results)]
			res.Params = res.Params.With("set", int64(k/len(rep.Results)))
			res.Name = res.Params.Name(res.Suite)
			r.Results = append(r.Results, res)
		}
		reps = append(reps, &r)
	}
	var page bytes.Buffer
	for b.Loop() {
		page.Reset()
		if _, err := Write(b.Context(), &page, reps); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(page.Len()), "B/page")
}
