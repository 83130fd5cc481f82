package results

import (
	"bytes"
	"encoding/csv"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestWriteMarkdown(t *testing.T) {
	var b bytes.Buffer
	if err := WriteMarkdown(&b, sampleReport()); err != nil {
		t.Fatal(err)
	}
	golden(t, "report.md", b.Bytes())
}

func TestWriteMarkdownEscapes(t *testing.T) {
	r := &Report{Status: Complete}
	for _, v := range []string{"a|b", "c\nd"} {
		res := newResult("disk", Params{{Key: "store", Value: v}})
		res.Metrics = []Metric{{Name: "a_b*c", Unit: Seconds, Median: 1, Samples: make([]Sample, 1)}}
		r.Results = append(r.Results, res)
	}
	r.Findings = []Finding{{Claim: "A1", Verdict: Holds, Text: "<script>`x`[y](z)\\"}}
	var b bytes.Buffer
	if err := WriteMarkdown(&b, r); err != nil {
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

func TestWriteCSV(t *testing.T) {
	r := sampleReport()
	var b bytes.Buffer
	if err := WriteCSV(&b, r); err != nil {
		t.Fatal(err)
	}
	golden(t, "report.csv", b.Bytes())
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := 1
	for _, res := range r.Results {
		want += max(len(res.Metrics), 1)
	}
	if len(rows) != want {
		t.Errorf("%d rows, want %d", len(rows), want)
	}
	column := func(row []string, name string) string { return row[slices.Index(rows[0], name)] }
	i := 1
	for _, res := range r.Results {
		for _, m := range res.Metrics {
			if got, _ := strconv.ParseFloat(column(rows[i], "median"), 64); got != m.Median || column(rows[i], "metric") != m.Name ||
				column(rows[i], "name") != res.Name || column(rows[i], "mem") != res.Params.Text("mem") {
				t.Errorf("row %d is %v, want %s of %s", i, rows[i], m.Name, res.Name)
			}
			i++
		}
		if len(res.Metrics) == 0 {
			i++
		}
	}
}

func TestWriteCSVGuardsAgainstFormulas(t *testing.T) {
	res := newResult("disk", Params{{Key: "store", Value: "=1+2"}, {Key: "offset", Value: int64(-5)}, {Key: "unit", Value: "@x"}, {Key: "+k", Value: true}})
	res.Status, res.Reason = Failed, "-cmd"
	ok := newResult("disk", Params{{Key: "store", Value: "a=b"}})
	ok.Metrics = []Metric{{Name: "gain", Unit: Ratio, Median: -0.5, Min: -1, Samples: []Sample{{Value: -0.5}}}, {Name: "time", Reason: "no clock"}}
	var b bytes.Buffer
	if err := WriteCSV(&b, &Report{Results: []Result{res, ok}}); err != nil {
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
	res := newResult("disk", Params{{Key: "store" + hostile, Value: hostile}})
	res.Status, res.Reason = Failed, hostile
	ok := newResult("disk", Params{{Key: "n", Value: int64(1)}})
	ok.Metrics = []Metric{{Name: hostile, Unit: hostile, Better: hostile, Median: 1, Reason: hostile}}
	r := &Report{Results: []Result{res, ok}}
	c, err := Compare([]Labelled{{"a" + hostile, r}, {"b" + hostile, r}}, CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := errors.Join(WriteCSV(&b, r), c.WriteCSV(&b)); err != nil {
		t.Fatal(err)
	}
	if s := b.String(); strings.ContainsAny(s, "\x1b\r\u202e") || strings.Count(s, "\n") != 6 || !strings.Contains(s, "x[2J  y") {
		t.Errorf("have %q", s)
	}
}

type brokenPipe struct{}

var errBroken = errors.New("broken pipe")

func (brokenPipe) Write([]byte) (int, error) { return 0, errBroken }

func TestEncodersReportWriteErrors(t *testing.T) {
	r := sampleReport()
	for name, err := range map[string]error{
		"json":     Write(brokenPipe{}, r),
		"text":     WriteText(brokenPipe{}, r, 0),
		"markdown": WriteMarkdown(brokenPipe{}, r),
		"csv":      WriteCSV(brokenPipe{}, r),
		"gobench":  WriteGoBench(brokenPipe{}, r, 1),
	} {
		if !errors.Is(err, errBroken) {
			t.Errorf("%s: error = %v", name, err)
		}
	}
}
