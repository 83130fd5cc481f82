package results

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadBoundsWhatItDecodes(t *testing.T) {
	const head = `{"schema_version":1,"status":"complete","results":[{"suite":"pcie","name":"pcie/x","status":"ok","metrics":[{"name":"time","unit":"s","samples":[`
	samples := head + strings.Repeat(`{},`, MaxEntries) + `{}]}]}]}`
	values := `{"schema_version":1,"status":"complete","results":[],"warnings":[` + strings.Repeat(`"",`, MaxValues) + `""]}`
	cases := `{"schema_version":1,"status":"complete","results":[` + strings.Repeat(`{},`, maxOuter) + `{}]}`
	names := `{"schema_version":1,"status":"complete","results":[{"suite":"pcie","name":"pcie","status":"ok","params":{"p0":0`
	for i := range maxNames {
		names += fmt.Sprintf(`,"p%d":0`, i+1)
	}
	names += `}}]}`
	for name, text := range map[string]string{"parameters, metrics and references: at most": names, "samples and other entries: at most": samples, "cases, metrics and the like: at most": cases, "values: at most": values} {
		_, err := Read(strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want one line with %q", err, name)
		}
	}
}

func TestCheckSize(t *testing.T) {
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
		if err := checkSize([]byte(test.text), test.entries, test.outer, test.values); err != nil {
			t.Errorf("%s: %v", test.text, err)
		}
		if err := checkSize([]byte(test.text), test.entries-1, test.outer, test.values); err == nil && test.entries > 0 {
			t.Errorf("%s: no error above %d entries", test.text, test.entries-1)
		}
		if err := checkSize([]byte(test.text), test.entries, test.outer-1, test.values); err == nil && test.outer > 0 {
			t.Errorf("%s: no error above %d outer entries", test.text, test.outer-1)
		}
		if err := checkSize([]byte(test.text), test.entries, test.outer, test.values-1); err == nil {
			t.Errorf("%s: no error above %d values", test.text, test.values-1)
		}
	}
}

func TestReadNamesNumbersThatAreNone(t *testing.T) {
	for _, value := range []string{`"NaN"`, `"Infinity"`, `1e999`, `null1`, `NaN`} {
		text := fmt.Sprintf(`{"schema_version":1,"status":"complete","results":[{"suite":"pcie","name":"pcie/x","status":"ok","metrics":[{"name":"time","samples":[{"value":%s}]}]}]}`, value)
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), "broken at byte") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v", value, err)
		}
	}
}

// BenchmarkReadLarge reads the largest report that is plausible: 900,000 samples in
// 45 MB. B/op is what passes through the heap.
func BenchmarkReadLarge(b *testing.B) {
	path := filepath.Join(b.TempDir(), "report.json")
	var text strings.Builder
	text.WriteString(`{"schema_version":1,"status":"complete","results":[`)
	for k := range 900 {
		if k > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, `{"suite":"pcie","name":"pcie/n=%d","status":"ok","params":{"n":%d},"metrics":[{"name":"time","unit":"s","better":"lower","samples":[`, k, k)
		for i := range 999 {
			if i > 0 {
				text.WriteByte(',')
			}
			fmt.Fprintf(&text, `{"value":0.00616986,"n":4,"t":%d.125,"run":%d}`, i, i/100)
		}
		text.WriteString(`]}]}`)
	}
	text.WriteString(`]}`)
	if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ReadFile(path); err != nil {
			b.Fatal(err)
		}
	}
}
