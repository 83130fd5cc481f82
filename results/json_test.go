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
		{" \n", "report is cut off at byte 2"},
		{"pcie 1.2 ms", "not a dlbench report: it is no JSON"},
		{`{"schema_version":1,]`,
			"report is broken at byte 21: invalid character ']' looking for beginning of object key string"},
		{whole + whole, "want one report in a file"},
		{`[1]`, "report is broken at byte 1: a report cannot be a JSON array"},
		{`null`, "not a dlbench report: it has no schema_version"},
		{`{"name":"x"}`, "not a dlbench report: it has no schema_version"},
		{`{"schema_version":0}`, "not a dlbench report: it has no schema_version from 1 on"},
		{`{"schema_version":"1"}`, "schema_version cannot be a JSON string"},
		{`{"schema_version":null}`, "not a dlbench report: "},
		{`{"schema_version":3,"results":"something else"}`,
			"written by a newer dlbench (schema 3; this one reads up to 2): update dlbench"},
		{`{"schema_version":1,"status":"done"}`, `report has the status "done": want complete or interrupted`},
		{`{"schema_version":1,"results":[{"name":7}]}`,
			"report is broken at byte 40: results.name cannot be a JSON number"},
		{head + `{"suite":"pcie","status":"ok"}]}`, "result 0 has no name or no suite"},
		{head + `{"suite":"pcie","name":"pcie/x","status":"fine"}]}`,
			`result "pcie/x" has the status "fine": want ok, skipped or failed`},
		{pcie + `"metrics":[{}]}]}`, `result "pcie/x" has a metric without a name`},
		{pcie + `"params":{"a":[1]}}]}`, "parameter a"},
		{pcie + `"metrics":[{"name":"time","samples":[{"value":"NaN"}]}]}]}`, "broken at byte"},
		{pcie + `"metrics":[{"name":"time","samples":[{"value":NaN}]}]}]}`, "broken at byte"},
		{pcie + `"metrics":[{"name":"time","median":1e999}]}]}`, "median cannot be a JSON number 1e999"},
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

// A NaN anywhere costs what has it and not the report.
func TestWriteLeavesOutWhatIsNotFinite(t *testing.T) {
	nan := math.NaN()
	type rep = *Report
	type res = *Result
	for _, c := range []struct {
		want  string
		spoil func(rep, res)
	}{
		{"metric time", func(_ rep, r res) { r.Metrics[0].Median = nan }},
		{"metric bandwidth", func(_ rep, r res) { r.Metrics[1].Quantiles = []Quantile{{0.9, math.Inf(1)}} }},
		{"reference line-rate", func(_ rep, r res) { r.References[0].Value = &nan }},
		{"a proof or fit", func(_ rep, r res) { r.Proof = RecordOf(PreprocessProof{ClockBefore: nan}) }},
		{"a proof or fit", func(_ rep, r res) { r.Fit = RecordOf(map[string]any{"slope": nan}) }},
		{"series clock", func(_ rep, r res) { r.Series = []Series{{Name: "clock", V: []float64{nan}}} }},
		{"finding A1", func(r rep, _ res) { r.Findings[0] = Finding{Claim: "A1", Value: &nan} }},
		{"prediction cores", func(r rep, _ res) { r.Predictions = []Prediction{{Change: "cores", Lo: &nan}} }},
		{"the verdict", func(r rep, _ res) { r.Verdict = &Verdict{Changes: []Change{{Value: nan}}} }},
	} {
		r, clean := sampleReport(), sampleReport()
		res := &r.Results[0]
		c.spoil(r, res)
		got, err := Read(bytes.NewReader(encode(t, r)))
		if err != nil {
			t.Errorf("%s: %v", c.want, err)
			continue
		}
		g := got.Results[0]
		added := append(got.Warnings[len(clean.Warnings):], g.Warnings[len(clean.Results[0].Warnings):]...)
		if len(added) != 1 || added[0] != c.want+" was left out: it has a number that is not finite" {
			t.Errorf("%s: warnings %q", c.want, added)
		}
		if len(res.Warnings) != len(clean.Results[0].Warnings) || len(g.Metrics) < len(res.Metrics)-1 {
			t.Errorf("%s: Write changed the report, or left out more: %+v", c.want, g)
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
	names := `{"schema_version":1,"status":"complete","results":[{"suite":"pcie","name":"pcie","status":"ok","params":{"p0":0`
	for i := range maxNames {
		names += fmt.Sprintf(`,"p%d":0`, i+1)
	}
	names += `}}]}`
	for name, text := range map[string]string{
		"parameters, metrics and references: at most": names, "more than 1000000 samples and other entries": samples,
		"more than about 8000000 values": values,
	} {
		_, err := Read(strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want one line with %q", err, name)
		}
	}
	endless := &limited{Reader: strings.NewReader("    "), size: maxReportSize - 3}
	if _, err := io.ReadAll(endless); err == nil || !strings.Contains(err.Error(), "it is larger than") {
		t.Errorf("above the limit: error = %v", err)
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
