package encode

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dlbench/results"
	"dlbench/results/golden"
)

// sampleReport is the report of package results' tests.
func sampleReport() *results.Report {
	r, err := results.ReadFile(filepath.Join("..", "testdata", "report.json"))
	if err != nil {
		panic(err)
	}
	return r
}

func newResult(suite string, p results.Params) results.Result {
	return results.Result{Suite: suite, Name: p.Name(suite), Params: p, Status: results.OK}
}

// verdictReport has a prediction that was checked, one that was not, with a note that would
// steer a terminal, and a verdict.
func verdictReport() *results.Report {
	r := sampleReport()
	number := results.Finite
	r.Predictions = []results.Prediction{
		{Change: "prefetch 0, step 216ms", Kind: "prefetch", Metric: "step_time", Unit: results.Seconds,
			Value: number(0.2575), Lo: number(0.25), Hi: number(0.265),
			Measured: number(0.26), Error: number(-0.0096), Assumed: []string{"link", "step"}},
		{Change: "4 cores instead of 2", Kind: "cores", Metric: "throughput", Unit: results.PerSecond,
			Base: number(760), Value: number(2280), Lo: number(2000), Hi: number(2500), Error: number(0.04), Checks: 2,
			Extrapolated: true, Cost: results.Purchase, Note: "a note\x1b[2J", Assumed: []string{"link"}},
	}
	r.Verdict = &results.Verdict{
		Answer: results.AnswerNo, Loader: results.OwnLoader, Workers: 1, Busy: 1, Runs: 3,
		Feeds: number(760), FeedsLo: number(740), FeedsHi: number(790), Needs: number(2470),
		NeedsFrom: "ResNet-50, A100 80 GB, mixed precision (NVIDIA)", GPUBusy: number(0.31),
		Bottleneck: "preprocess", Next: "read", Assumed: []string{"link"},
		Parts: []results.PartTime{{Name: "preprocess", Time: 0.04}, {Name: "read", Time: 0.002, Note: "from memory"},
			{Name: "copy", Time: 0.0015, Note: "simulated Gen3 x16; at best 1.2 ms"}},
		Changes: []results.Change{{Name: "4 cores\x1b[2J", Value: 2280, Lo: 2000, Hi: 2500, Enough: "perhaps",
			Evidence: "extrapolated", Cost: results.Purchase}},
		NoEffect: []string{"tar shards", "float16 batches", "link Gen4 x16", "a faster disk (the data is in memory)"},
		Notes:    []string{"the link is assumed"},
	}
	return r
}

func TestGolden(t *testing.T) {
	number := results.Finite
	driven := sampleReport()
	driven.Software.Driver = "12.4"
	for name, write := range map[string]func(*bytes.Buffer) error{
		"report-0.txt":   func(b *bytes.Buffer) error { return Text(b, sampleReport(), 0) },
		"report-100.txt": func(b *bytes.Buffer) error { return Text(b, sampleReport(), 100) },
		"report-60.txt":  func(b *bytes.Buffer) error { return Text(b, sampleReport(), 60) },
		"odd-0.txt":      func(b *bytes.Buffer) error { return Text(b, oddReport(), 0) },
		"odd-40.txt":     func(b *bytes.Buffer) error { return Text(b, oddReport(), LeastWidth) },
		"screen.txt":     func(b *bytes.Buffer) error { return Screen(b, verdictReport(), false) },
		"screen-enough.txt": func(b *bytes.Buffer) error {
			r := verdictReport()
			r.Verdict.Answer, r.Verdict.Needs = results.AnswerEnoughCores, number(367)
			return Screen(b, r, false)
		},
		"screen-none.txt": func(b *bytes.Buffer) error {
			r := verdictReport()
			r.Verdict.Answer, r.Verdict.Needs, r.Verdict.GPUBusy = results.AnswerNone, nil, nil
			return Screen(b, r, false)
		},
		"screen-busy.txt": func(b *bytes.Buffer) error {
			r := verdictReport()
			r.Verdict.Answer, r.Verdict.Why = results.AnswerBusy, "other programs ran while it was measured: close them and measure again"
			return Screen(b, r, true)
		},
		"screen-empty.txt": func(b *bytes.Buffer) error { return Screen(b, &results.Report{}, false) },
		"screen-gpus.txt": func(b *bytes.Buffer) error {
			r := verdictReport()
			r.Verdict.Share = &results.GPUShare{GPUs: 8, Gets: 87, Lo: 79, Hi: 96, Needs: 2078, Cores: 3, AtLeast: true,
				Evidence: "extrapolated"}
			return Screen(b, r, false)
		},
		"whatif.txt": func(b *bytes.Buffer) error {
			r := verdictReport()
			v := r.Verdict
			v.Changes[0].Note = "3 workers instead of 1, beside 1 thread that the step keeps busy"
			v.Share = &results.GPUShare{GPUs: 2, Gets: 350, Lo: 340, Hi: 390, Needs: 300, Fed: 2, Cores: 1.2,
				Evidence: "extrapolated"}
			v.Notes = []string{"A faster disk? No effect: the data comes from memory; this disk allows 614 images/s, the fastest 682."}
			return WhatIf(b, r, v)
		},
		"verdict.txt":  func(b *bytes.Buffer) error { return Text(b, verdictReport(), 120) },
		"verdict.md":   func(b *bytes.Buffer) error { return Markdown(b, verdictReport()) },
		"report.md":    func(b *bytes.Buffer) error { return Markdown(b, sampleReport()) },
		"report.csv":   func(b *bytes.Buffer) error { return CSV(b, sampleReport()) },
		"report.bench": func(b *bytes.Buffer) error { return GoBench(b, driven, 2, true) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		golden.Check(t, filepath.Join("testdata", name), b.Bytes())
	}
}

// No evidence is cut: long ones behind long names are wrapped.
func TestScreenWrapsEvidence(t *testing.T) {
	r := verdictReport()
	r.Verdict.Changes = append(r.Verdict.Changes, results.Change{Name: "a loader as fast as torchvision", Value: 2000,
		Lo: 1900, Hi: 2100, Enough: "no", Evidence: "extrapolated from 2 workers"})
	var b bytes.Buffer
	if err := Screen(&b, r, false); err != nil {
		t.Fatal(err)
	}
	const want = "    a loader as fast as torchvision   1900-2100   no      extrapolated from 2"
	if want := want + "\n" + strings.Repeat(" ", 58) + "workers\n"; !strings.Contains(b.String(), want) {
		t.Errorf("no %q in\n%s", want, &b)
	}
}

// A loader of the user's that could not be measured is named with the reason, in two lines, beside an
// answer about dlbench's own and where there is none.
func TestScreenNamesAFailedLoader(t *testing.T) {
	for reason, want := range map[string]string{
		"loader mine: NameError: no x; its output: out/loader-mine-1.log": "  yours  failed           mine: NameError: no x\n",
		"loader mine: pillow is not installed: pip install" + strings.Repeat(" word==1.0", 9): "mine: pillow is not " +
			"installed: pip install word==1.0\n" + strings.Repeat(" ", 26) + strings.Repeat("word==1.0 ", 5) + "wor…\n",
	} {
		failed := newResult("external", results.Params{{Key: "loader", Value: "mine"}})
		failed.Status, failed.Reason = results.Failed, reason
		alone, next := &results.Report{}, verdictReport()
		for _, r := range []*results.Report{alone, next} {
			r.Results = append(r.Results, failed)
			var b bytes.Buffer
			if err := Screen(&b, r, false); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(b.String(), want) || strings.Contains(b.String(), "--loader") {
				t.Errorf("no %q in\n%s", want, &b)
			}
		}
	}
}

// Where a loader of the user's was measured, it is said that predictions are about dlbench's own.
func TestWhatIfSaysWhoseLoader(t *testing.T) {
	r := verdictReport()
	mine := newResult("external", results.Params{{Key: "loader", Value: "mine"}, {Key: "workers", Value: int64(1)}})
	r.Results = append(r.Results, mine)
	r.Verdict.Answer, r.Verdict.Why = results.AnswerBusy, "other programs ran"
	var b bytes.Buffer
	if err := WhatIf(&b, r, r.Verdict); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"BUSY   dlbench's own loader, not mine: other",
		"images/s  dlbench's own loader, not mine: 740"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
}

func TestMarkdownEscapes(t *testing.T) {
	r := &results.Report{Status: results.Complete}
	for _, v := range []string{"a|b", "c\nd"} {
		res := newResult("disk", results.Params{{Key: "store", Value: v}})
		res.Metrics = []results.Metric{{Name: "a_b*c", Unit: results.Seconds, Median: 1, Min: 1, Max: 1,
			Samples: make([]results.Sample, 1)}}
		r.Results = append(r.Results, res)
	}
	r.Findings = []results.Finding{{Claim: "A1", Verdict: results.Holds, Text: "<script>`x`[y](z)\\"}}
	var b bytes.Buffer
	if err := Markdown(&b, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`| store | a\_b\*c |`, `| a\|b | 1.000 s |`, `| c d | 1.000 s |`,
		"- A1 (batch time by lanes) holds: &lt;script>\\`x\\`\\[y\\](z)\\\\\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestCSVGuardsAgainstFormulas(t *testing.T) {
	res := newResult("disk", results.Params{{Key: "store", Value: "=1+2"}, {Key: "offset", Value: int64(-5)},
		{Key: "unit", Value: "@x"}, {Key: "+k", Value: true}})
	res.Status, res.Reason = results.Failed, "-cmd"
	ok := newResult("disk", results.Params{{Key: "store", Value: "a=b"}})
	ok.Metrics = []results.Metric{{Name: "gain", Unit: results.Ratio, Median: -0.5, Min: -1,
		Samples: []results.Sample{{Value: -0.5}}}, {Name: "time", Reason: "no clock"}}
	var b bytes.Buffer
	if err := CSV(&b, &results.Report{Results: []results.Result{res, ok}}); err != nil {
		t.Fatal(err)
	}
	want := `suite,name,store,offset,unit,'+k,assumed,status,reason,metric,unit,better,median,lo,hi,confidence,min,max,mad,n,outliers
disk,disk/store==1+2/offset=-5/unit=@x/+k=true,'=1+2,-5,'@x,true,,failed,'-cmd,,,,,,,,,,,,
disk,disk/store=a=b,a=b,,,,,ok,,gain,1,,-0.5,,,,-1,0,0,1,0
disk,disk/store=a=b,a=b,,,,,ok,no clock,time,,,,,,,,,,0,0
`
	if b.String() != want {
		t.Errorf("have\n%s\nwant\n%s", b.String(), want)
	}
}

func TestEncodersReportWriteErrors(t *testing.T) {
	reader, broken := io.Pipe()
	reader.Close()
	r := sampleReport()
	for name, err := range map[string]error{
		"json":     results.Write(broken, r),
		"text":     Text(broken, r, 0),
		"markdown": Markdown(broken, r),
		"csv":      CSV(broken, r),
		"gobench":  GoBench(broken, r, 1, true),
	} {
		if !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%s: error = %v", name, err)
		}
	}
}

// What opening files and looking at them takes stands in a table of its own, for which the width of the
// reads' does not matter.
func TestMetadataTable(t *testing.T) {
	r := newResult("disk", results.Params{{Key: "store", Value: "files"}})
	for _, name := range append([]string{"time"}, results.MetadataMetrics...) {
		r.Metrics = append(r.Metrics, results.Metric{Name: name, Unit: results.PerSecond,
			Samples: []results.Sample{{Value: 1234, N: 1}}, Median: 1234})
	}
	other := newResult("disk", results.Params{{Key: "store", Value: "tar"}})
	ts := Tables(&results.Report{Results: []results.Result{r, other}})
	if len(ts) != 2 || ts[1].Rows != 1 || len(ts[1].Columns) != len(results.MetadataMetrics) ||
		!strings.Contains(ts[1].Title(), "disk: files opened") || !strings.Contains(ts[1].Lines()[0], "the run has listed") {
		t.Fatalf("%+v", ts)
	}
	for _, c := range ts[0].Columns {
		if slices.Contains(results.MetadataMetrics, c.Head) {
			t.Errorf("%s among the reads", c.Head)
		}
	}
}
