package compare

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"dlbench/results"
)

// fleet is n reports of 300 cases with 3 metrics of 10 to 100 samples.
func fleet(n int) (in []Labelled) {
	for k := range n {
		r := report()
		for i := range 300 {
			m := quietMachine(uint64(1000*k+i), 0)
			m.n = 10 + i%91
			if i%3 == 0 {
				m.runs, m.n = 5, 10
			}
			res := newResult("pcie", results.Params{{Key: "device", Value: "cuda:0"}, {Key: "mem", Value: "pinned"}, {Key: "bytes", Value: int64(i)}})
			for _, name := range []string{"time", "cpu", "submit"} {
				t := m.time(1)
				t.Name = name
				if name == "cpu" { // by a coarse clock
					for s := range t.Samples {
						t.Samples[s].Value = math.Round(t.Samples[s].Value*200) / 200
					}
					results.Summarize(&t, results.SummaryOptions{})
				}
				res.Metrics = append(res.Metrics, t)
			}
			r.Results = append(r.Results, res)
		}
		in = append(in, Labelled{fmt.Sprint("machine ", k), r})
	}
	return in
}

// BenchmarkCompare compares ten reports and prints the table.
func BenchmarkCompare(b *testing.B) {
	in := fleet(10)
	b.ReportAllocs()
	for b.Loop() {
		c, err := Reports(in, Options{})
		if err != nil {
			b.Fatal(err)
		}
		var out bytes.Buffer
		if err := c.Text(&out, 120); err != nil {
			b.Fatal(err)
		}
	}
}
