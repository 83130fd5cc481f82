package encode

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"dlbench/results"
)

func text(t *testing.T, r *results.Report, width int) string {
	t.Helper()
	var b bytes.Buffer
	if err := Text(&b, r, width); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestText(t *testing.T) {
	for _, width := range []int{0, 100, 60} {
		golden(t, fmt.Sprintf("report-%d.txt", width), []byte(text(t, sampleReport(), width)))
	}
}

// TestWriteTextFits holds that no line is wider than asked, that every row keeps
// what tells it apart and that it is assumed, and that what is missing is named.
func TestTextFits(t *testing.T) {
	for width := LeastWidth + 4; width < 160; width++ { // below it the parameters alone fill the line
		s := text(t, sampleReport(), width)
		rows := 0
		for line := range strings.Lines(s) {
			line = strings.TrimSuffix(line, "\n")
			if n := utf8.RuneCountInString(line); n > width {
				t.Fatalf("width %d: a line of %d: %q", width, n, line)
			}
			if strings.HasPrefix(line, "sim:gen3x") {
				rows++
				if !strings.Contains(line, " ms") && !strings.Contains(line, " "+results.Failed) {
					t.Errorf("width %d: row without its time: %q", width, line)
				}
			}
		}
		if rows != 7 || !strings.Contains(s, "pcie, assumed link: ") {
			t.Errorf("width %d: %d rows, want 7 under a title that says what is assumed", width, rows)
		}
		words := strings.Join(strings.Fields(s), " ")
		for _, name := range []string{"submit", "lateness", "protocol band", "article practice", "line rate", "bandwidth"} {
			first, rest, _ := strings.Cut(name, " ")
			if !strings.Contains(s, first) || rest != "" && !strings.Contains(words, rest) {
				t.Errorf("width %d: %s is neither shown nor said to be missing", width, name)
			}
		}
	}
}

// TestWriteTextCannotSteerATerminal gives a report in which every string is
// hostile.
func TestTextCannotSteerATerminal(t *testing.T) {
	const evil = "\x1b[2Jx\u202ey\u009b31m\r\nz\x00\u200f"
	value := 1.0
	r := &results.Report{
		Status: results.Complete, Label: evil, Warnings: []string{evil},
		Tool: results.Tool{Name: evil, Version: evil}, Host: results.Host{CPU: results.CPU{Model: evil}, OS: evil}, Software: results.Software{Driver: evil},
		Findings: []results.Finding{{Claim: evil, Verdict: evil, Text: evil, Assumed: []string{evil}}},
		Results: []results.Result{
			{Suite: evil, Name: evil, Status: results.OK, Assumed: []string{evil}, Warnings: []string{evil},
				Params:     results.Params{{Key: evil, Value: evil}, {Key: "k" + evil, Value: evil + "1"}},
				Metrics:    []results.Metric{{Name: evil, Unit: evil, Better: evil, Samples: []results.Sample{{Value: 1}, {Value: 2}}, Min: 1, Max: 2, Median: 1.5}, {Name: "none" + evil, Reason: evil}},
				References: []results.Reference{{Name: evil, Metric: evil, Value: &value}}},
			{Suite: evil, Name: evil, Status: results.OK, Params: results.Params{{Key: "k" + evil, Value: evil}}},
			{Suite: evil, Name: evil, Status: results.Failed, Reason: evil},
		},
	}
	var markdown, bench bytes.Buffer
	if err := Markdown(&markdown, r); err != nil {
		t.Fatal(err)
	}
	if err := GoBench(&bench, r, 2); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{text(t, r, 0), text(t, r, 60), markdown.String(), strings.ReplaceAll(bench.String(), "\t", " ")} {
		for _, c := range s {
			if c != '\n' && (unicode.IsControl(c) || unicode.Is(unicode.Cf, c)) {
				t.Errorf("%U got through: %q", c, s)
				break
			}
		}
	}
}

func TestTextShareOfLineRate(t *testing.T) {
	line := 4e9
	result := func(mem string, bandwidth float64, refs ...results.Reference) results.Result {
		res := newResult("pcie", results.Params{{Key: "mem", Value: mem}})
		res.Metrics = []results.Metric{{Name: "bandwidth", Unit: results.BytesPerSecond, Median: bandwidth, Min: bandwidth, Max: bandwidth, Samples: make([]results.Sample, 1)}}
		res.References = refs
		return res
	}
	ref := results.Reference{Name: "line-rate", Metric: "bandwidth", Value: &line}
	s := text(t, &results.Report{Status: results.Complete, Results: []results.Result{
		result("pinned", 3e9, ref), result("registered", 5e9, ref), result("pageable", 2e9), result("none", 3e9, results.Reference{Name: "line-rate", Metric: "bandwidth"}),
	}}, 0)
	want := map[string]string{"pinned": "75.00 %", "registered": "error", "pageable": "-", "none": "-"}
	for line := range strings.Lines(s) {
		f := strings.Fields(line)
		if share, ok := want[f[0]]; ok {
			if got := strings.Join(f[3:min(len(f), 3+len(strings.Fields(share)))], " "); got != share {
				t.Errorf("%s: share of the line rate is %q, want %q", f[0], got, share)
			}
			delete(want, f[0])
		}
	}
	if len(want) > 0 {
		t.Errorf("rows missing: %v in\n%s", want, s)
	}
	if !strings.Contains(s, "error: pcie/mem=registered: faster than its line rate") {
		t.Errorf("no error below the table:\n%s", s)
	}
	if strings.Contains(s, "125") {
		t.Errorf("more than 100 %% of the line rate:\n%s", s)
	}
}

// TestWriteTextProven holds that no width hides that a row is unproven, and that
// rows without a proof or without numbers claim none.
func TestTextProven(t *testing.T) {
	result := func(cache string, proof map[string]any) results.Result {
		res := newResult("disk", results.Params{{Key: "cache", Value: cache}})
		res.Proof = proof
		for _, name := range []string{"time", "batch_latency", "read_latency"} {
			res.Metrics = append(res.Metrics, results.Metric{Name: name, Unit: results.Seconds, Median: 1, Min: 1, Max: 1, Samples: make([]results.Sample, 1)})
		}
		return res
	}
	failed := result("failed", map[string]any{"proven": true})
	failed.Status = results.Failed
	r := &results.Report{Status: results.Complete, Results: []results.Result{
		result("cold-data", map[string]any{"proven": true}), result("direct", map[string]any{"proven": false}),
		result("warm", map[string]any{"proven": "yes"}), result("none", nil), failed,
	}}
	want := map[string]string{"cache": "proven", "cold-data": "yes", "direct": "no", "warm": results.NoValue, "none": results.NoValue, "failed": results.NoValue}
	for _, width := range []int{0, LeastWidth} {
		rows := 0
		for line := range strings.Lines(text(t, r, width)) {
			f := strings.Fields(line)
			if len(f) < 2 || want[f[0]] == "" {
				continue
			}
			rows++
			if f[1] != want[f[0]] {
				t.Errorf("width %d: %s is proven: %q, want %q", width, f[0], f[1], want[f[0]])
			}
		}
		if rows != len(want) {
			t.Errorf("width %d: %d lines, want %d", width, rows, len(want))
		}
	}
	r.Results = r.Results[2:]
	if s := text(t, r, 0); strings.Contains(s, "proven") {
		t.Errorf("a column without a proof:\n%s", s)
	}
}

func TestTextGathers(t *testing.T) {
	r := &results.Report{Status: results.Interrupted, Warnings: []string{"all of it"}}
	for i := range 3 {
		res := newResult("disk", results.Params{{Key: "depth", Value: int64(i)}, {Key: "bytes", Value: int64(4096 << i)}})
		res.Warnings = []string{"the host has a cache"}
		res.Metrics = []results.Metric{{Name: "time", Unit: results.Seconds, Reason: "no clock"}, {Name: "throughput", Unit: results.PerSecond, Median: 100, Samples: make([]results.Sample, 1)}}
		r.Results = append(r.Results, res)
	}
	s := text(t, r, 0)
	for _, want := range []string{
		"interrupted: what follows are the 3 cases that were finished\n",
		"depth    size  time    throughput\n",
		"    2  16 KiB     -  100 images/s\n",
		"no time: disk/depth=0/bytes=4096 and 2 more: no clock\n",
		"warning: disk/depth=0/bytes=4096 and 2 more: the host has a cache\n",
		"warning: all of it\n",
	} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q in\n%s", want, s)
		}
	}
	if n := strings.Count(s, "the host has a cache"); n != 1 {
		t.Errorf("the warning stands %d times", n)
	}
}

func TestWrap(t *testing.T) {
	tests := []struct {
		in    string
		width int
		want  string
	}{
		{"one two three", 0, "one two three\n"},
		{"one two three", 8, "one two\n  three\n"},
		{"one two three", 7, "one two\n  three\n"},
		{"abcdefghij", 6, "abcdef\n  ghij\n"},
		{"ab abcdefghij", 6, "ab\n  abcd\n  efgh\n  ij\n"},
		{"", 5, "\n"},
	}
	for _, test := range tests {
		var b bytes.Buffer
		Wrap(&b, test.in, test.width)
		if b.String() != test.want {
			t.Errorf("Wrap(%q, %d) = %q, want %q", test.in, test.width, b.String(), test.want)
		}
	}
}

// FuzzText holds that no accepted report makes an encoder panic, and that
// the text fits.
func FuzzText(f *testing.F) {
	f.Add([]byte(`{"schema_version":1,"status":"complete","results":[{"suite":"a","name":"a/b=1","status":"ok","params":{"b":1,"bytes":-3},"metrics":[{"name":"time","unit":"s","median":0,"min":-1,"lo":0,"hi":1,"samples":[{"value":1e308}]}],"references":[{"name":"line-rate","metric":"time","value":0}]}]}`), 50)
	f.Fuzz(func(t *testing.T, data []byte, width int) {
		r, err := results.Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		width = LeastWidth + width&63
		for line := range strings.Lines(text(t, r, width)) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("a line of %d, want %d: %q", n, width, line)
			}
		}
		var b bytes.Buffer
		for _, write := range []func() error{
			func() error { return Markdown(&b, r) },
			func() error { return CSV(&b, r) },
			func() error { return GoBench(&b, r, 2) },
		} {
			if err := write(); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestTextShowsRuns(t *testing.T) {
	of := func(runs int, mem string) results.Result {
		m := results.Metric{Name: "time", Unit: results.Seconds, Better: results.Lower}
		for i := range 20 * runs {
			m.Add(results.Sample{Value: 1 + float64(i*7%20+i/20)/1e3, N: 1, T: float64(i), Run: i / 20})
		}
		results.Summarize(&m, results.SummaryOptions{})
		res := newResult("pcie", results.Params{{Key: "mem", Value: mem}})
		res.Metrics = []results.Metric{m}
		return res
	}
	several, single := of(5, "pinned"), of(1, "pageable")
	var with, without strings.Builder
	if err := Text(&with, &results.Report{Results: []results.Result{several, single}}, 120); err != nil {
		t.Fatal(err)
	}
	if err := Text(&without, &results.Report{Results: []results.Result{single}}, 120); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(with.String(), " % of 5") || !strings.Contains(with.String(), "between") || !strings.Contains(with.String(), runsLegend[:20]) {
		t.Errorf("no spread of runs in\n%s", with.String())
	}
	if strings.Contains(without.String(), "between") {
		t.Errorf("a spread of runs of a single run in\n%s", without.String())
	}
}
