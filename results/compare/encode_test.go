package compare

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"dlbench/results"
	"dlbench/results/encode"
	"dlbench/results/golden"
)

// comparison is one as of two machines of one fleet: what is faster and slower, a
// case that failed, some that only one has, assumed links.
func comparison(t *testing.T, labels ...string) *Comparison {
	t.Helper()
	var in []*results.Report
	for k, label := range labels {
		r := sampleReport()
		r.Label = label
		random := rand.New(rand.NewPCG(uint64(k), 1))
		for i := range r.Results {
			res := &r.Results[i]
			for j := range res.Metrics {
				m := &res.Metrics[j]
				f := 1 + 0.08*float64(k*(i%3-1)) // unchanged, slower, faster
				if m.Better == results.Higher {
					f = 1 / f
				}
				for s := range m.Samples {
					v := m.Samples[s].Value * f * (1 + 1e-4*random.NormFloat64())
					m.Samples[s].Value, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
				}
				results.Summarize(m, results.SummaryOptions{NoInterval: strings.HasPrefix(m.Reason,
					results.ReasonAssumed)})
			}
		}
		if k > 0 {
			r.Host.Kernel, r.Software.Driver = "6.12.1", "12.4"
			r.Results = slices.Delete(r.Results, 0, 1)
			direct := &r.Results[len(r.Results)-2]
			direct.Status, direct.Reason = results.Failed, "open: direct reads are not supported here"
		}
		in = append(in, r)
	}
	c, err := Reports(in, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestComparisonGolden(t *testing.T) {
	for name, write := range map[string]func(*bytes.Buffer) error{
		"compare.txt":   func(b *bytes.Buffer) error { return comparison(t, "old", "new").Text(b, 120) },
		"compare-3.txt": func(b *bytes.Buffer) error { return comparison(t, "old", "new", "newest").Text(b, 100) },
		"compare.md":    func(b *bytes.Buffer) error { return comparison(t, "old", "new").Markdown(b) },
		"compare.csv":   func(b *bytes.Buffer) error { return comparison(t, "old", "new").CSV(b) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		golden.Check(t, filepath.Join("testdata", name), b.Bytes())
	}
}

// Of several reports only those that have a case stand in its rows.
func TestRowsOfTheReportsThatHaveACase(t *testing.T) {
	m := quietMachine(1, 0)
	both := func() *results.Report {
		return report(measured(m.time(1), "mem", "pinned"), measured(m.time(2), "mem", "pageable"))
	}
	c := compared(t, both(), report(measured(m.time(1), "mem", "pinned")), both())
	ts := c.Tables()
	if len(ts) != 1 || ts[0].Rows != 3+2 {
		t.Fatalf("%d tables, the first of %d rows, want 1 of 5", len(ts), ts[0].Rows)
	}
	for _, column := range ts[0].Columns {
		want := map[string][]string{"report": {"a", "b", "c", "a", "c"}, "mem": {"pinned", "", "", "pageable", ""}}
		if cells, ok := want[column.Head]; ok && !slices.Equal(column.Cells, cells) {
			t.Errorf("%s: %q, want %q", column.Head, column.Cells, cells)
		}
	}
}

func TestComparisonFits(t *testing.T) {
	for _, width := range []int{1, 60, 80, 120} {
		for _, labels := range [][]string{{"old", "new"}, {"a very long label of a machine in the cellar", "b", "c"}} {
			var b bytes.Buffer
			if err := comparison(t, labels...).Text(&b, width); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(b.String()) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > max(width, encode.LeastWidth) {
					t.Errorf("width %d: a line of %d: %q", width, n, line)
				}
			}
		}
	}
}

// A report can come from anywhere, and csv ends in terminals, too.
func TestNothingSteersATerminal(t *testing.T) {
	const hostile = "x\x1b[2J\r\n\u202ey"
	named := func(label string, rs ...results.Result) *results.Report {
		r := report(rs...)
		r.Label = label + hostile
		return r
	}
	res := newResult("disk", results.Params{{Key: "store" + hostile, Value: hostile}})
	res.Status, res.Reason = results.Failed, hostile
	ok := newResult("disk", results.Params{{Key: "n", Value: int64(1)}})
	ok.Metrics = []results.Metric{{Name: hostile, Unit: hostile, Better: hostile, Median: 1, Reason: hostile}}
	c, err := Reports([]*results.Report{named("a", res, ok), named("b", res, ok)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var csv, text bytes.Buffer
	if err := errors.Join(c.CSV(&csv), c.Text(&text, 80), c.Markdown(&text)); err != nil {
		t.Fatal(err)
	}
	if s := csv.String() + text.String(); strings.ContainsAny(s, "\x1b\r\u202e") || !strings.Contains(s, "x[2J  y") {
		t.Errorf("have %q", s)
	}
	if strings.Count(csv.String(), "\n") != 3 {
		t.Errorf("a text is more than a line: %q", csv.String())
	}
}

func TestRegressions(t *testing.T) {
	for _, test := range []struct {
		share float64
		want  []string
	}{
		{0.05, []string{
			"time of disk/store=tensor/cache=cold-data/bytes=19440000 is worse: 1.080",
			"disk/store=tensor/cache=direct/bytes=19440000 failed: open: direct reads are not supported here",
		}},
		{0.2, []string{"disk/store=tensor/cache=direct/bytes=19440000 failed: "}},
	} {
		rs := comparison(t, "old", "new").Regressions(test.share)
		for i, want := range test.want {
			if len(rs) != len(test.want) || rs[i].Label != "new" || !strings.HasPrefix(rs[i].Text, want) {
				t.Errorf("beyond %g: %v lacks %q or has more", test.share, rs, want)
				break
			}
		}
	}
}

func TestRegressionOfWhatIsGone(t *testing.T) {
	m := quietMachine(1, 0).time(1)
	other := m
	other.Name = "cpu"
	both := measured(m, "mem", "pinned")
	both.Metrics = append(both.Metrics, other)
	pinned := measured(m, "mem", "pinned")
	pinned.Metrics[0].Unit = "ms"
	skipped := measured(m, "mem", "pageable")
	skipped.Status, skipped.Reason, skipped.Metrics = results.Skipped, "no memory", nil
	base := report(both, measured(m, "mem", "pageable"), measured(m, "mem", "staged"), measured(m, "mem", "registered"),
		assumedCase(m, "mem", "bounce"))
	c := compared(t, base, report(pinned, skipped, assumedCase(m, "mem", "staged")))
	want := []Regression{
		{"b", "pcie/mem=registered is missing"}, {"b", `time of pcie/mem=pinned is not compared: in "s" against "ms"`},
		{"b", "cpu of pcie/mem=pinned is not compared: b has no cpu"},
		{"b", "pcie/mem=pageable skipped: no memory"}, {"b", "pcie/mem=staged is simulated"},
	}
	if got := c.Regressions(0.05); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// FuzzCompare holds that whatever Read accepts can be merged, compared and written
// in every form, or is refused in one line.
func FuzzCompare(f *testing.F) {
	var b bytes.Buffer
	small := report(measured(quietMachine(1, 2).time(1), "device", "cuda:0", "mem", "pinned"),
		assumedCase(quietMachine(2, 0).time(1), "device", "sim:gen3x4", "mem", "pinned"))
	for i := range small.Results {
		small.Results[i].Metrics[0].Samples = small.Results[i].Metrics[0].Samples[:8]
	}
	if err := results.Write(&b, small); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte(`{"schema_version":1,"status":"complete","results":[{"suite":"a","name":"a/b=1","status":"ok","params":{"b":1,"b":2},"metrics":[{"name":"time","samples":[{"value":-1e308,"run":1},{"value":1e308},{"value":1e308,"run":-9}],"median":0,"lo":1,"hi":-1}]}]}`))
	f.Add([]byte(`{"schema_version":1,"status":"complete","results":[{"suite":"a","name":"a","status":"ok","metrics":[{"name":"x","median":-1,"lo":-2,"hi":0},{"name":"x","median":1e308}]}]}`))
	f.Add([]byte(`{"schema_version":1,"status":"complete","results":[{"suite":"a","name":"a","status":"ok","assumed":["link"],"metrics":[{"name":"x","median":1}]},{"suite":"disk","name":"d","status":"ok","params":{"store":"tensor","cache":"warm","bytes":19440000},"metrics":[{"name":"time","unit":"s","better":"lower","median":0,"lo":-1,"hi":1},{"name":"bandwidth","unit":"B/s","better":"higher","samples":[{"value":0},{"value":-5,"flags":["noisy"]},{"value":1e308},{"value":-1e308},{"value":3},{"value":7}]}]}]}`))
	base := sampleReport()
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := results.Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		other, err := results.Read(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if len(other.Results) > 0 {
			other.Results[0].Warnings = append(other.Results[0].Warnings, "another run")
		}
		if merged, err := results.Merge(r, other); err == nil {
			other = merged
			if err := results.Write(new(bytes.Buffer), merged); err != nil {
				t.Fatal(err)
			}
		}
		for _, reports := range [][]*results.Report{{r, other}, {base, r, other}} {
			c, err := Reports(labelled(reports...), Options{})
			if err != nil {
				if strings.Contains(err.Error(), "\n") && !bytes.Contains(data, []byte(`\n`)) {
					t.Errorf("error has several lines: %q", err)
				}
				continue
			}
			c.Regressions(0.05)
			var out bytes.Buffer
			if err := errors.Join(c.Text(&out, 80), c.JSON(&out), c.CSV(&out), c.Markdown(&out)); err != nil {
				t.Fatal(err)
			}
		}
	})
}
