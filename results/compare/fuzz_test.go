package compare

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"dlbench/results"
)

// FuzzCompare holds that whatever Read accepts can be merged, compared and written
// in every form, or is refused in one line.
func FuzzCompare(f *testing.F) {
	var b bytes.Buffer
	small := report(measured(quietMachine(1, 2).time(1), "device", "cuda:0", "mem", "pinned"), assumedCase(quietMachine(2, 0).time(1), "device", "sim:gen3x4", "mem", "pinned"))
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
		for _, pair := range [][]Labelled{{{"a", r}, {"b", other}}, {{"a", base}, {"b", r}, {"c", other}}} {
			c, err := Reports(pair, Options{})
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
