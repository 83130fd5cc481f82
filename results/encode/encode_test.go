package encode

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"dlbench/results"
)

func TestMarkdown(t *testing.T) {
	var b bytes.Buffer
	if err := Markdown(&b, sampleReport()); err != nil {
		t.Fatal(err)
	}
	golden(t, "report.md", b.Bytes())
}

func TestMarkdownEscapes(t *testing.T) {
	r := &results.Report{Status: results.Complete}
	for _, v := range []string{"a|b", "c\nd"} {
		res := newResult("disk", results.Params{{Key: "store", Value: v}})
		res.Metrics = []results.Metric{{Name: "a_b*c", Unit: results.Seconds, Median: 1, Samples: make([]results.Sample, 1)}}
		r.Results = append(r.Results, res)
	}
	r.Findings = []results.Finding{{Claim: "A1", Verdict: results.Holds, Text: "<script>`x`[y](z)\\"}}
	var b bytes.Buffer
	if err := Markdown(&b, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`| store | a\_b\*c |`, `| a\|b | 1.000 s |`, `| c d | 1.000 s |`, "- A1 (batch time by lanes) holds: &lt;script>\\`x\\`\\[y\\](z)\\\\\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestCSV(t *testing.T) {
	var b bytes.Buffer
	if err := CSV(&b, sampleReport()); err != nil {
		t.Fatal(err)
	}
	golden(t, "report.csv", b.Bytes())
}

func TestCSVGuardsAgainstFormulas(t *testing.T) {
	res := newResult("disk", results.Params{{Key: "store", Value: "=1+2"}, {Key: "offset", Value: int64(-5)}, {Key: "unit", Value: "@x"}, {Key: "+k", Value: true}})
	res.Status, res.Reason = results.Failed, "-cmd"
	ok := newResult("disk", results.Params{{Key: "store", Value: "a=b"}})
	ok.Metrics = []results.Metric{{Name: "gain", Unit: results.Ratio, Median: -0.5, Min: -1, Samples: []results.Sample{{Value: -0.5}}}, {Name: "time", Reason: "no clock"}}
	var b bytes.Buffer
	if err := CSV(&b, &results.Report{Results: []results.Result{res, ok}}); err != nil {
		t.Fatal(err)
	}
	want := `suite,name,store,offset,param_unit,'+k,assumed,status,reason,metric,unit,better,median,lo,hi,confidence,min,max,mad,n,outliers
disk,disk/store==1+2/offset=-5/unit=@x/+k=true,'=1+2,-5,'@x,true,,failed,'-cmd,,,,,,,,,,,,
disk,disk/store=a=b,a=b,,,,,ok,,gain,1,,-0.5,,,,-1,0,0,1,0
disk,disk/store=a=b,a=b,,,,,ok,no clock,time,,,,,,,,,,0,
`
	if b.String() != want {
		t.Errorf("have\n%s\nwant\n%s", b.String(), want)
	}
}

// A report can come from anywhere, and csv ends in terminals, too.
func TestCSVCannotSteerATerminal(t *testing.T) {
	const hostile = "x\x1b[2J\r\n\u202ey"
	res := newResult("disk", results.Params{{Key: "store" + hostile, Value: hostile}})
	res.Status, res.Reason = results.Failed, hostile
	ok := newResult("disk", results.Params{{Key: "n", Value: int64(1)}})
	ok.Metrics = []results.Metric{{Name: hostile, Unit: hostile, Better: hostile, Median: 1, Reason: hostile}}
	r := &results.Report{Results: []results.Result{res, ok}}
	var b bytes.Buffer
	if err := CSV(&b, r); err != nil {
		t.Fatal(err)
	}
	if s := b.String(); strings.ContainsAny(s, "\x1b\r\u202e") || strings.Count(s, "\n") != 3 || !strings.Contains(s, "x[2J  y") {
		t.Errorf("have %q", s)
	}
}

type brokenPipe struct{}

var errBroken = errors.New("broken pipe")

func (brokenPipe) Write([]byte) (int, error) { return 0, errBroken }

func TestEncodersReportWriteErrors(t *testing.T) {
	r := sampleReport()
	for name, err := range map[string]error{
		"json":     results.Write(brokenPipe{}, r),
		"text":     Text(brokenPipe{}, r, 0),
		"markdown": Markdown(brokenPipe{}, r),
		"csv":      CSV(brokenPipe{}, r),
		"gobench":  GoBench(brokenPipe{}, r, 1),
	} {
		if !errors.Is(err, errBroken) {
			t.Errorf("%s: error = %v", name, err)
		}
	}
}
