package encode

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/text"

	"dlbench/results"
)

func textOf(t *testing.T, r *results.Report, width int) string {
	t.Helper()
	var b bytes.Buffer
	if err := Text(&b, r, width); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// fits holds that no line of s is wider than width.
func fits(t *testing.T, s string, width int) {
	t.Helper()
	for line := range strings.Lines(s) {
		if n := text.StringWidth(strings.TrimSuffix(line, "\n")); n > width {
			t.Errorf("width %d: a line of %d: %q", width, n, line)
		}
	}
}

// TestTextFits holds that no line is wider than asked, that every row keeps
// what tells it apart and that it is assumed, and that what is missing is named.
func TestTextFits(t *testing.T) {
	for width := LeastWidth + 4; width < 160; width++ { // below it the parameters alone fill the line
		s := textOf(t, sampleReport(), width)
		fits(t, s, width)
		fits(t, textOf(t, verdictReport(), width), width)
		rows := 0
		for line := range strings.Lines(s) {
			if strings.HasPrefix(line, "sim:gen3x") {
				rows++
				if !strings.Contains(line, " ms") {
					t.Errorf("width %d: row without its time: %q", width, line)
				}
			}
		}
		if rows != 6 || !strings.Contains(s, "pcie, simulated link: ") || !strings.Contains(s, "\nfailed:") {
			t.Errorf("width %d: %d rows, want 6 and what failed under a title that says what is simulated", width, rows)
		}
		words := strings.Join(strings.Fields(s), " ")
		for _, name := range []string{"submit", "lateness", "protocol band", "article practice", "line rate",
			"bandwidth"} {
			first, rest, _ := strings.Cut(name, " ")
			if !strings.Contains(s, first) || rest != "" && !strings.Contains(words, rest) {
				t.Errorf("width %d: %s is neither shown nor said to be missing", width, name)
			}
		}
	}
}

// TestTextCannotSteerATerminal gives a report in which every string is
// hostile.
func TestTextCannotSteerATerminal(t *testing.T) {
	const evil = "\x1b[2Jx\u202ey\u009b31m\r\nz\x00\u200f"
	value := 1.0
	r := &results.Report{
		Status: results.Complete, Label: evil, Warnings: []string{evil},
		Tool: results.Tool{Name: evil, Version: evil}, Host: results.Host{CPU: results.CPU{Model: evil}, OS: evil},
		Software: results.Software{Driver: evil},
		Findings: []results.Finding{{Claim: evil, Verdict: evil, Text: evil, Assumed: []string{evil}}},
		Results: []results.Result{
			{Suite: evil, Name: evil, Status: results.OK, Assumed: []string{evil}, Warnings: []string{evil},
				Params: results.Params{{Key: evil, Value: evil}, {Key: "k" + evil, Value: evil + "1"}},
				Metrics: []results.Metric{{Name: evil, Unit: evil, Better: evil,
					Samples: []results.Sample{{Value: 1}, {Value: 2}}, Min: 1, Max: 2, Median: 1.5},
					{Name: "none" + evil, Reason: evil}},
				References: []results.Reference{{Name: evil, Metric: evil, Value: &value}}},
			{Suite: evil, Name: evil, Status: results.OK, Params: results.Params{{Key: "k" + evil, Value: evil}}},
			{Suite: evil, Name: evil, Status: results.Failed, Reason: evil},
		},
	}
	var markdown, csv, bench bytes.Buffer
	if err := errors.Join(Markdown(&markdown, r), CSV(&csv, r), GoBench(&bench, r, 2, true)); err != nil {
		t.Fatal(err)
	}
	tabs := strings.ReplaceAll(bench.String(), "\t", " ")
	for _, s := range []string{textOf(t, r, 0), textOf(t, r, 60), markdown.String(), csv.String(), tabs} {
		for _, c := range s {
			if c != '\n' && (unicode.IsControl(c) || unicode.Is(unicode.Cf, c)) {
				t.Errorf("%U got through: %q", c, s)
				break
			}
		}
	}
	if s := csv.String(); strings.Count(s, "\n") != 5 || !strings.Contains(s, "[2Jxy31m  z") {
		t.Errorf("have %q", s)
	}
}

// oddReport has a case of each kind that tables treat apart: faster than its line, without
// a line rate, unproven, without a proof, failed, without a clock, of several runs, and
// warnings that are alike.
func oddReport() *results.Report {
	r := &results.Report{Status: results.Interrupted, Warnings: []string{"all of it"}}
	add := func(suite, key string, value any, ms ...results.Metric) *results.Result {
		r.Results = append(r.Results, newResult(suite, results.Params{{Key: key, Value: value}}))
		res := &r.Results[len(r.Results)-1]
		res.Metrics = ms
		return res
	}
	one := func(name, unit string, v float64) results.Metric {
		return results.Metric{Name: name, Unit: unit, Median: v, Min: v, Max: v, Samples: make([]results.Sample, 1)}
	}
	for mem, ref := range []*results.Reference{
		{Name: "line-rate", Metric: "bandwidth", Value: results.Finite(4e9)},
		{Name: "line-rate", Metric: "bandwidth", Value: results.Finite(2e9)},
		{Name: "line-rate", Metric: "bandwidth"}, nil,
	} {
		res := add("pcie", "mem", int64(mem), one("bandwidth", results.BytesPerSecond, 3e9))
		if ref != nil {
			res.References = []results.Reference{*ref}
		}
	}
	for _, proven := range []any{true, false, "yes", 0.5} {
		res := add("disk", "proof", fmt.Sprint(proven), one("time", results.Seconds, 1),
			one("batch_latency", results.Seconds, 2), one("read_latency", results.Seconds, 3))
		res.Proof = results.RecordOf(map[string]any{"proven": proven})
	}
	failed := add("disk", "proof", "failed", one("time", results.Seconds, 1))
	failed.Status, failed.Proof = results.Failed, results.RecordOf(results.DiskProof{Proven: new(true)})
	for depth := range int64(3) {
		res := add("gather", "depth", depth, results.Metric{Name: "time", Unit: results.Seconds, Reason: "no clock"},
			one("throughput", results.PerSecond, 100))
		res.Params = append(res.Params, results.Param{Key: "bytes", Value: int64(4096) << depth})
		res.Warnings = []string{"the host has a cache"}
	}
	for _, runs := range []int64{1, 5} {
		m := results.Metric{Name: "time", Unit: results.Seconds, Better: results.Lower}
		for i := range 20 * runs {
			m.Samples = append(m.Samples, results.Sample{Value: 1 + float64(i*7%20+i/20)/1e3, N: 1, T: float64(i),
				Run: int(i / 20)})
		}
		results.Summarize(&m, results.SummaryOptions{})
		add("runs", "n", runs, m)
	}
	return r
}

func TestWrap(t *testing.T) {
	for _, test := range []struct {
		in    string
		width int
		want  string
	}{
		{"one two three", 0, "one two three\n"},
		{"one two three", 9, "one two\n  three\n"},
		{"one two three", 8, "one\n  two\n  three\n"},
		{"abcdefghij", 6, "abcd\n  efgh\n  ij\n"},
		{"ab abcdefghij", 6, "ab\n  abcd\n  efgh\n  ij\n"},
		{"", 5, "\n"},
	} {
		if got := Wrap(test.in, test.width); got != test.want {
			t.Errorf("Wrap(%q, %d) = %q, want %q", test.in, test.width, got, test.want)
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
		fits(t, textOf(t, r, width), width)
		var b bytes.Buffer
		if err := errors.Join(Markdown(&b, r), CSV(&b, r), GoBench(&b, r, 2, true)); err != nil {
			t.Error(err)
		}
	})
}

func TestScreenOfATrainingScript(t *testing.T) {
	for tool, want := range map[string]bool{"dlbench": true, results.PythonTool: false} {
		var b bytes.Buffer
		if err := Screen(&b, &results.Report{Tool: results.Tool{Name: tool}}, false); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "quiet") != want {
			t.Errorf("whether other programs ran is known: want %v in\n%s", want, b.String())
		}
	}
	for want, v := range map[string]results.Verdict{
		"NO 510 of 1000 images/s (51 %), with your training script|rate 510 images/s reached in training; 2 workers|" +
			"needs 1000 images/s measured|steps 51 % of the time; the rest waits for data": {Answer: results.AnswerNo, Needs: new(1000.0),
			NeedsFrom: "measured", GPUBusy: new(0.51)},
		"NO your training waits|rate 510|needs ? unknown|steps 1 %": {Answer: results.AnswerNo, NeedsFrom: "unknown",
			Why: "your training waits", GPUBusy: new(0.01)},
	} {
		v.Loader, v.Workers, v.Feeds = results.ScriptLoader, 2, new(510.0)
		var b bytes.Buffer
		if err := Screen(&b, &results.Report{Verdict: &v}, false); err != nil {
			t.Fatal(err)
		}
		plain := strings.Join(strings.Fields(b.String()), " ")
		for _, part := range strings.Split(want, "|") {
			if !strings.Contains(plain, part) {
				t.Errorf("no %q in\n%s", part, b.String())
			}
		}
		if strings.Contains(plain, "feeds") || strings.Contains(plain, "enough for") {
			t.Errorf("what was reached in training is what the loader feeds:\n%s", b.String())
		}
	}
}

func TestScreenOfAnInterruptedReport(t *testing.T) {
	var b strings.Builder
	if err := Screen(&b, &results.Report{Status: results.Interrupted}, false); err != nil {
		t.Fatal(err)
	}
	if s := b.String(); !strings.Contains(s, "no answer") || !strings.Contains(s, "interrupted: 0 cases finished") {
		t.Errorf("have %s", s)
	}
}

// Long names give way to what stands behind them in the first line.
func TestScreenOfALongName(t *testing.T) {
	r := &results.Report{Tool: results.Tool{Name: "dlbench", Version: "0.1.0"}}
	r.Host.CPU = results.CPU{Model: "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz", Usable: 192}
	r.Host.GPUs = []results.GPU{{Name: "NVIDIA H100 80GB HBM3"}, {Name: "NVIDIA H100 80GB HBM3"}}
	r.Dataset = &results.Dataset{Images: 640, Seed: 1}
	m := results.Metric{Samples: make([]results.Sample, 5)}
	m.Samples[0].Flags = []string{results.FlagNoisy}
	r.Results = []results.Result{{Metrics: []results.Metric{m}}}
	var b strings.Builder
	if err := Screen(&b, r, false); err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(b.String(), "\n")
	const want = "dlbench 0.1.0 | Xeon…, 192 cores | 2 x NVI… | 640 synthetic JPEGs | mostly quiet"
	if first != want {
		t.Errorf("have %q, want %q", first, want)
	}
}
