package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// sampleReport is a report as the pcie and disk suites write it, over assumed links of
// three widths, with a case that failed, one that was skipped and one of few samples.
func sampleReport() *Report {
	r, err := ReadFile("testdata/report.json")
	if err != nil {
		panic(err)
	}
	return r
}

func newResult(suite string, p Params) Result {
	return Result{Suite: suite, Name: p.Name(suite), Params: p, Status: OK}
}

func encode(t testing.TB, r *Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// testdata/report.json holds a parameter and a number of each kind.
func TestReadWrite(t *testing.T) {
	want, err := os.ReadFile("testdata/report.json")
	if err != nil {
		t.Fatal(err)
	}
	if got := encode(t, sampleReport()); !bytes.Equal(got, bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))) {
		t.Errorf("read and written again it is\n%s", got)
	}
	var compact, plain bytes.Buffer
	err = errors.Join(WriteCompact(&compact, sampleReport()), json.Compact(&plain, bytes.TrimSpace(want)))
	if err != nil || strings.TrimSpace(compact.String()) != plain.String() {
		t.Errorf("without spaces it is\n%s, %v", compact.String(), err)
	}
	for _, m := range sampleReport().Results[0].Metrics {
		again := m
		Summarize(&again, SummaryOptions{NoInterval: m.Reason == ReasonAssumed, Resolution: 1e-7})
		if again.Median != m.Median || again.Min != m.Min || again.Max != m.Max || again.MAD != m.MAD {
			t.Errorf("summed up again %s is %+v", m.Name, again)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	whole := string(encode(t, sampleReport()))
	head := `{"schema_version":1,"status":"complete","results":[`
	pcie := head + `{"suite":"pcie","name":"pcie/x","status":"ok",`
	for _, test := range []struct{ in, want string }{
		{" \n", "not a dlbench report: it is empty"},
		{"pcie 1.2 ms", "not a dlbench report: it is no JSON"},
		{`{"schema_version":1,]`,
			"report is broken at byte 21: invalid character ']' looking for beginning of object key string"},
		{whole + whole, "want one report in a file"},
		{`[1]`, "not a dlbench report: want a JSON object, have array"},
		{`null`, "not a dlbench report: it has no schema_version"},
		{`{"name":"x"}`, "not a dlbench report: it has no schema_version"},
		{`{"schema_version":0}`, `not a dlbench report: its schema_version is "0", no whole number from 1`},
		{`{"schema_version":"1"}`, "no whole number from 1"},
		{`{"schema_version":null}`, "not a dlbench report: "},
		{`{"schema_version":3,"results":"something else"}`,
			"written by a newer dlbench (schema 3; this one reads up to 2): update dlbench"},
		{`{"schema_version":1,"status":"done"}`, `report has the status "done": want complete or interrupted`},
		{`{"schema_version":1,"results":[{"name":7}]}`,
			"report is broken at byte 40: results.name cannot be a number"},
		{head + `{"suite":"pcie","status":"ok"}]}`, "result 0 has no name or no suite"},
		{head + `{"suite":"pcie","name":"pcie/x","status":"fine"}]}`,
			`result "pcie/x" has the status "fine": want ok, skipped or failed`},
		{pcie + `"metrics":[{}]}]}`, `result "pcie/x": metric 0 has no name`},
		{pcie + `"params":{"a":[1]}}]}`, "parameter a"},
		{pcie + `"metrics":[{"name":"time","samples":[{"value":"NaN"}]}]}]}`, "broken at byte"},
		{pcie + `"metrics":[{"name":"time","samples":[{"value":NaN}]}]}]}`, "broken at byte"},
		{pcie + `"metrics":[{"name":"time","median":1e999}]}]}`, "median cannot be a number 1e999"},
	} {
		_, err := Read(strings.NewReader(test.in))
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.100s: error = %v, want one line with %q", test.in, err, test.want)
		}
	}
}

func TestReadCutOffAnywhere(t *testing.T) {
	whole := bytes.TrimSpace(encode(t, sampleReport()))
	for n := 1; n < len(whole); n += 97 {
		if _, err := Read(bytes.NewReader(whole[:n])); err == nil || !strings.Contains(err.Error(), "cut off at byte") {
			t.Errorf("%d bytes: error = %v", n, err)
		}
	}
}

func TestReadIgnoresTheUnknown(t *testing.T) {
	in := "\xef\xbb\xbf" + `{"schema_version":1,"status":"complete","mood":{"a":[1]},"results":[{"suite":"pcie","name":"pcie/mem=pinned","status":"ok","params":{"mem":"pinned","dtype":"float16"},"colour":3}]}`
	r, err := Read(strings.NewReader(in))
	if err != nil {
		t.Fatal(err)
	}
	want := Params{{Key: "mem", Value: "pinned"}, {Key: "dtype", Value: "float16", Implied: true}}
	if !reflect.DeepEqual(r.Results[0].Params, want) {
		t.Errorf("params = %+v, want %+v", r.Results[0].Params, want)
	}
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	whole, broken, missing := filepath.Join(dir, "report.json"), filepath.Join(dir, "broken.json"),
		filepath.Join(dir, "missing.json")
	if err := errors.Join(Save(whole, sampleReport()), os.WriteFile(broken, []byte("{"), 0o644)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{broken, missing, dir} {
		_, err := ReadFile(path)
		if err == nil || strings.Count(err.Error(), path) != 1 || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v does not name %q once in a line", err, path)
		}
		if errors.Is(err, os.ErrNotExist) != (path == missing) {
			t.Errorf("error %v of %s", err, path)
		}
	}
	if r, err := ReadFile(whole); err != nil || len(r.Results) != len(sampleReport().Results) {
		t.Errorf("ReadFile = %v, %v", r, err)
	}
}

// TestWriteLeavesOutWhatIsNotFinite holds that a NaN anywhere costs that number
// and not the report.
func TestWriteLeavesOutWhatIsNotFinite(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	r := sampleReport()
	res := &r.Results[0]
	res.Params = append(res.Params, Param{Key: "rate", Value: nan})
	res.Metrics[0].Samples = append(res.Metrics[0].Samples, Sample{Value: nan}, Sample{Value: 1, T: inf})
	res.Metrics[0].Median, res.Metrics[0].Lo = nan, &nan
	res.Metrics[1].Quantiles = []Quantile{{0.5, 1}, {0.9, inf}}
	res.References[0].Value = &nan
	res.Proof = RecordOf(PreprocessProof{Images: 3, ClockBefore: nan})
	res.Fit = RecordOf(map[string]any{"slope": nan})
	res.Series = []Series{{Name: "clock", Unit: "Hz", T: []float64{1, 2, 3}, V: []float64{1, nan, 3}}}
	r.Findings[0].Value = &inf
	r.Predictions = []Prediction{{Change: "x", Measured: &nan}}
	r.Verdict = &Verdict{Feeds: &nan}
	r.Config.Timeout = inf
	samples := len(res.Metrics[0].Samples)

	got, err := Read(bytes.NewReader(encode(t, r)))
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Metrics[0].Samples) != samples || !math.IsNaN(res.Metrics[0].Median) || res.Proof.IsZero() ||
		r.Verdict.Feeds == nil {
		t.Error("Write changed the report")
	}
	g := got.Results[0]
	if len(g.Metrics[0].Samples) != samples-2 || g.Metrics[0].Lo != nil || g.Metrics[0].Median != 0 {
		t.Errorf("metric = %+v", g.Metrics[0])
	}
	if !g.Proof.IsZero() || !g.Fit.IsZero() {
		t.Errorf("proof = %v, fit = %v", g.Proof, g.Fit)
	}
	if !reflect.DeepEqual(g.Series[0].T, []float64{1, 3}) || !reflect.DeepEqual(g.Series[0].V, []float64{1, 3}) {
		t.Errorf("series = %+v", g.Series[0])
	}
	if got.Findings[0].Value != nil || got.Predictions[0].Measured != nil || got.Verdict.Feeds != nil ||
		got.Config.Timeout != 0 {
		t.Error("a number that is not finite was kept")
	}
	all := strings.Join(g.Warnings, "\n")
	for _, want := range []string{"metric time", "metric bandwidth", "reference line-rate", "proof: a number",
		"fit: a number", "series clock"} {
		if !strings.Contains(all, want) {
			t.Errorf("no warning about %s in %q", want, g.Warnings)
		}
	}
}

func TestWriteOfNothing(t *testing.T) {
	data := encode(t, &Report{SchemaVersion: 1, Status: Interrupted})
	for _, want := range []string{`"results": []`, `"suites": []`, `"shape": []`} {
		if !bytes.Contains(data, []byte(want)) {
			t.Errorf("no %s in\n%s", want, data)
		}
	}
}

func TestParamsKeepTextAndName(t *testing.T) {
	p := Params{{Key: "a", Value: 216.0}, {Key: "b", Value: 1e6}, {Key: "c", Value: 0.5}, {Key: "d", Value: 1e30},
		{Key: "e", Value: 1e18},
		{Key: "f", Value: int64(7)}, {Key: "g", Value: true}, {Key: "h", Value: "x/y=z"}}
	res := newResult("disk", p)
	r := &Report{SchemaVersion: 1, Status: Complete, Results: []Result{res}}
	got, err := Read(bytes.NewReader(encode(t, r)))
	if err != nil {
		t.Fatal(err)
	}
	q := got.Results[0].Params
	if q.Name("disk") != res.Name {
		t.Errorf("name = %q, want %q", q.Name("disk"), res.Name)
	}
	for i := range p {
		if q[i].Implied || q.Text(p[i].Key) != p.Text(p[i].Key) {
			t.Errorf("%s: %+v, want %q", p[i].Key, q[i], p.Text(p[i].Key))
		}
	}
}

// FuzzRead holds that Read does not panic, and that what it accepts can be
// written and read back without a change.
func FuzzRead(f *testing.F) {
	small := sampleReport()
	small.Results = small.Results[:1]
	small.Results[0].Metrics = small.Results[0].Metrics[:1]
	small.Results[0].Metrics[0].Samples = small.Results[0].Metrics[0].Samples[:2]
	f.Add(encode(f, small))
	f.Add([]byte(`{"schema_version":1,"status":"complete","results":[{"suite":"a","name":"a/b=1","status":"ok","params":{"b":1.0,"c":1e2,"d":-0,"b":9223372036854775808}}]}`))
	f.Add([]byte(`{"schema_version":1,"status":"interrupted","started":"2026-01-01T00:00:00+23:59","results":null,"verdict":{"bound":"\u003c\ud800"}}`))
	f.Add([]byte(`{"schema_version":2}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Read(bytes.NewReader(data))
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error has several lines: %q", err)
			}
			return
		}
		first := encode(t, r)
		again, err := Read(bytes.NewReader(first))
		if err != nil {
			t.Fatalf("cannot read what was written: %v\n%s", err, first)
		}
		if second := encode(t, again); !bytes.Equal(first, second) {
			t.Fatalf("changed:\n%s\n%s", first, second)
		}
	})
}

func TestReadBoundsWhatItDecodes(t *testing.T) {
	const head = `{"schema_version":1,"status":"complete","results":[{"suite":"pcie","name":"pcie/x","status":"ok","metrics":[{"name":"time","unit":"s","samples":[`
	samples := head + strings.Repeat(`{},`, MaxEntries) + `{}]}]}]}`
	values := `{"schema_version":1,"status":"complete","results":[],"warnings":[` + strings.Repeat(`"",`, MaxValues) +
		`""]}`
	cases := `{"schema_version":1,"status":"complete","results":[` + strings.Repeat(`{},`, maxOuter) + `{}]}`
	names := `{"schema_version":1,"status":"complete","results":[{"suite":"pcie","name":"pcie","status":"ok","params":{"p0":0`
	for i := range maxNames {
		names += fmt.Sprintf(`,"p%d":0`, i+1)
	}
	names += `}}]}`
	for name, text := range map[string]string{
		"parameters, metrics and references: at most": names, "samples and other entries: at most": samples,
		"cases, metrics and the like: at most": cases, "values: at most": values,
	} {
		_, err := Read(strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want one line with %q", err, name)
		}
	}
	data := encode(t, sampleReport())
	if _, err := read(bytes.NewReader(data), int64(len(data))); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	_, err := read(bytes.NewReader(data), int64(len(data)-1))
	if err == nil || !strings.Contains(err.Error(), "report is larger than") {
		t.Errorf("above the limit: error = %v", err)
	}
}

func TestCount(t *testing.T) {
	for _, test := range []struct {
		text                   string
		entries, outer, values int
	}{
		{`{}`, 1, 1, 2},
		{`{"a":[1,2,3],"b":{}}`, 2, 2, 7},
		{`{"a":[{"b":[{"c":[{},{}]}]}],"d":{}}`, 6, 4, 12},
		{`["{{{{,,,,[[[[\"{{{,,,"]`, 0, 0, 2},
		{`["\\",{}]`, 1, 1, 4},
		{`["unfinished {{{{`, 0, 0, 2},
		{`["\`, 0, 0, 2},
	} {
		entries, outer, values := count([]byte(test.text))
		if entries != test.entries || outer != test.outer || values != test.values {
			t.Errorf("%s: %d objects, %d of them outer, and %d values", test.text, entries, outer, values)
		}
	}
}

// BenchmarkReadLarge reads the largest report that is plausible: 900,000 samples in
// 45 MB. B/op is what passes through the heap.
func BenchmarkReadLarge(b *testing.B) {
	path := filepath.Join(b.TempDir(), "report.json")
	large := &Report{SchemaVersion: SchemaVersion, Status: Complete}
	for k := range 900 {
		m := Metric{Name: "time", Unit: Seconds, Better: Lower}
		for i := range 999 {
			m.Samples = append(m.Samples, Sample{Value: 0.00616986, N: 4, T: float64(i) + 0.125, Run: i / 100})
		}
		res := newResult("pcie", Params{{Key: "n", Value: int64(k)}})
		res.Metrics = []Metric{m}
		large.Results = append(large.Results, res)
	}
	if err := SaveAs(path, func(w io.Writer) error { return WriteCompact(w, large) }); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ReadFile(path); err != nil {
			b.Fatal(err)
		}
	}
}

// testdata/v1.json is the report of a run of all suites by the version that froze schema
// version 1. It is never written anew: what it holds is read for ever, and no field of it
// has another name or is gone.
func TestV1IsKept(t *testing.T) {
	data, err := os.ReadFile("testdata/v1.json")
	if err != nil {
		t.Fatal(err)
	}
	old, err := json.Marshal(reportWithoutVerdict(t, data))
	if err != nil {
		t.Fatal(err)
	}
	strict := json.NewDecoder(bytes.NewReader(old)) // the verdict of version 1 has other fields
	strict.DisallowUnknownFields()
	if err := strict.Decode(new(Report)); err != nil {
		t.Fatal(err)
	}
	r, err := Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var was, is any
	if err := errors.Join(json.Unmarshal(data, &was), json.Unmarshal(encode(t, r), &is)); err != nil {
		t.Fatal(err)
	}
	before, after := was.(map[string]any), is.(map[string]any)
	verdict := before["verdict"].(map[string]any)
	if r.Verdict == nil || r.Verdict.Answer != AnswerEnoughCores || r.Verdict.Bottleneck != verdict["loader"] ||
		*r.Verdict.Needs != verdict["demand"] || *r.Verdict.Feeds != verdict["feeds"] || r.Verdict.Next != verdict["next"] {
		t.Errorf("the verdict of version 1 is read as %+v", r.Verdict)
	}
	for _, changed := range []string{"verdict", "schema_version"} {
		delete(before, changed)
		delete(after, changed)
	}
	if !reflect.DeepEqual(before, after) || len(r.Results) == 0 {
		t.Error("what is read and written again is another report")
	}
}

// reportWithoutVerdict is a report's JSON but its verdict.
func reportWithoutVerdict(t *testing.T, data []byte) map[string]json.RawMessage {
	t.Helper()
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	delete(all, "verdict")
	return all
}
