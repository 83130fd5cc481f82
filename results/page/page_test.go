package page

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dlbench/results"
)

var update = flag.Bool("update", false, "write golden files")

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

// drawings are charts as package chart draws them.
func drawings(t testing.TB) (all []Chart) {
	t.Helper()
	for _, name := range []string{"pcie-batch-time", "pipeline-feed", "preprocess-scaling"} {
		files, _ := filepath.Glob("../chart/testdata/*" + name + ".svg")
		if len(files) == 0 {
			t.Fatalf("no drawing of %s", name)
		}
		svg, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, Chart{Name: name, Title: "About " + name, SVG: svg})
	}
	return all
}

func write(t testing.TB, o Options, reports ...*results.Report) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := Write(&b, reports, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var (
	dataURL    = regexp.MustCompile(`(href="data:[a-z/]+;base64,)[^"]*`)
	styleSheet = regexp.MustCompile(`(?s)<style>.*</style>\n`)
)

func TestWriteGolden(t *testing.T) {
	svg := `<?xml version="1.0"?><svg viewBox="0 0 60 40"><title>x</title><g><path d="M0,0L60,40" style="fill:none;stroke:#1A1A1A"/><text x="1" y="9">1.542 ms</text></g></svg>`
	page := write(t, Options{Charts: []Chart{{"pcie-batch-time", "Time to copy one batch", []byte(svg)}}}, sample(t))
	checkPage(t, page)
	got := styleSheet.ReplaceAllString(dataURL.ReplaceAllString(page, "$1"), "") // tested below and in a browser
	const file = "testdata/sample.html"
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
		for i := range g {
			if i >= len(w) || g[i] != w[i] {
				t.Fatalf("line %d differs from %s (-update writes it anew):\n%s", i+1, file, g[i])
			}
		}
		t.Fatalf("%s has more lines", file)
	}
}

func TestWriteOrder(t *testing.T) {
	all := checkPage(t, write(t, Options{Charts: drawings(t),
		Tables: []Table{{Caption: "Compared", Head: []string{"case", "change"}, Numbers: []bool{false, true},
			Rows: [][]string{{"pcie", "+3 %"}}}}}, sample(t)))
	if got, want := texts(all, "h2"), "Findings\nComparison\nMachine\nResults\nCharts\nWarnings\nMethod\nJSON"; got != want {
		t.Errorf("sections:\n%s\nwant:\n%s", got, want)
	}
	if n := strings.Count(texts(all, "svg")+texts(all, "figcaption"), "The figures are in the"); n != 1 {
		t.Errorf("%d drawings point to their tables, want that of pcie alone: there is no other suite", n)
	}
}

func TestWriteSaysWhatHappened(t *testing.T) {
	interrupted := sample(t)
	interrupted.Status = results.Interrupted
	missing := sample(t)
	missing.Config.Suites = []string{"pcie", "pipeline"}
	empty := &results.Report{SchemaVersion: 1, Status: results.Complete}
	verdict := sample(t)
	verdict.Findings = append(verdict.Findings,
		results.Finding{Claim: "bound", Verdict: results.Fails, Text: "the disk"},
		results.Finding{Claim: "feeds", Verdict: results.Inconclusive, Text: "feeds a little"})
	verdict.Verdict = &results.Verdict{Bound: "preprocessing", Feeds: results.Finite(812),
		Margin: results.Finite(0.25), Next: "the disk", Changes: []string{"4 more cores"},
		Status: results.Inconclusive, Text: "what bounds it is not certain", Assumed: []string{"disk"},
		Notes: []string{"the disk is assumed"}}
	verdict.Predictions = []results.Prediction{{Change: "8 lanes", Metric: "step", Unit: "s",
		Value: results.Finite(0.2), Lo: results.Finite(0.19), Hi: results.Finite(0.21), Error: results.Finite(0.04),
		Extrapolated: true, Cost: results.Purchase},
		{Change: "2 readers", Metric: "step", Unit: "s", Value: results.Finite(0.3), Measured: results.Finite(0.4),
			Error: results.Finite(-0.25)}}
	for _, c := range []struct {
		name   string
		report *results.Report
		want   []string // in this order
	}{
		{"interrupted", interrupted, []string{"Interrupted: only the cases that were finished"}},
		{"missing", missing, []string{`<h3 id="suite-3">pipeline</h3>`,
			"this suite was asked for, but the report has no case of it"}},
		{"empty", empty, []string{"unnamed machine", "No results at all", "No verdict", "No findings",
			"unknown model", "There are no results", "<p>None.</p>", "0 measured"}},
		{"verdict", verdict, []string{`<span class="badge inconclusive">inconclusive</span> what bounds it is not certain <span class="assumed">assumed: disk</span>`,
			"812 images/s", "preprocessing", "25.00 %", "the disk", "4 more cores", "the disk is assumed",
			"feeds a little", "the disk", "A1",
			"then measured", "2 readers", "400.0 ms", "-25.0 %", "would bring", "8 lanes", "200.0 ms",
			"190.0..210.0 ms", "4.0 %, extrapolated", "purchase"}},
	} {
		page := write(t, Options{}, c.report)
		checkPage(t, page)
		rest := page
		for _, want := range c.want {
			_, after, ok := strings.Cut(rest, want)
			if !ok {
				t.Errorf("%s: no %q in its place", c.name, want)
				continue
			}
			rest = after
		}
	}
}

func TestWriteSeveral(t *testing.T) {
	a, b, c := sample(t), sample(t), sample(t)
	b.Label, b.Status, b.Results = "", results.Interrupted, b.Results[:6]
	b.Config.Suites = []string{"pcie", "disk"}
	c.Findings[1].Verdict = results.Fails
	all := checkPage(t, write(t, Options{Charts: drawings(t), Notes: []string{"A chart of two."}}, a, b, c))
	const names = "workstation | bench\nAMD EPYC 7763 64-Core Processor\nworkstation | bench (2)"
	if got, want := texts(all, "h1"), "dlbench: 3 reports"; got != want {
		t.Errorf("title %q, want %q", got, want)
	}
	if got, want := texts(all, "h3"), names+"\npcie\ndisk\n"+names+"\n"+names; got != want {
		t.Errorf("headings:\n%s\nwant:\n%s", got, want)
	}
	notes := texts(all, "p")
	for _, want := range []string{"AMD EPYC 7763 64-Core Processor: this suite was asked for", "Interrupted:",
		"Left out of this page: A chart of two."} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in:\n%s", want, notes)
		}
	}
	var verdicts []string
	for _, e := range all {
		if e.name == "span" && strings.HasPrefix(e.attrs["class"], "badge") && slices.Contains(e.in, "table") {
			verdicts = append(verdicts, e.text)
		}
	}
	if got, want := strings.Join(verdicts,
		", "), "not measured, not measured, not measured, holds, holds, fails"; got != want {
		t.Errorf("verdicts side by side: %s, want %s", got, want)
	}
}

func TestWriteReportsErrors(t *testing.T) {
	broken := errors.New("broken pipe")
	if _, err := Write(failing{broken}, []*results.Report{sample(t)}, Options{}); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestWriteFits(t *testing.T) {
	big := Chart{Name: "disk-big", SVG: []byte(`<svg viewBox="0 0 9 9"><path d="M0,0` +
		strings.Repeat("L1.2345,6.7890", 20_000) + `"/></svg>`)}
	var b bytes.Buffer
	left, err := Write(&b, []*results.Report{sample(t), sample(t)}, Options{Charts: slices.Repeat([]Chart{big}, 40)})
	if err != nil {
		t.Fatal(err)
	}
	checkPage(t, b.String())
	drawn := strings.Count(b.String(), "<svg")
	if want := MaxSize / len(big.SVG); drawn != want || len(left) < 40-drawn {
		t.Errorf("%d drawings, %d sentences on the others; want %d drawings", drawn, len(left), want)
	}
	for _, s := range left {
		if !strings.Contains(b.String(), "Left out of this page: "+s) {
			t.Errorf("the page does not say %q", s)
		}
	}
}
