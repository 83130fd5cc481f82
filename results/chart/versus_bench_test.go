package chart

import (
	"fmt"
	"io"
	"testing"
)

// BenchmarkFleet draws all charts of eight reports of about 300 cases each.
func BenchmarkFleet(b *testing.B) {
	reports := fleet(MaxReports)
	for _, r := range reports {
		for i := 0; len(r.Results) < 300; i++ {
			one := r.Results[i]
			one.Params = one.Params.With("batch", int64(i)) // further cases, of other parameters
			one.Name += fmt.Sprint("/more=", i)
			r.Results = append(r.Results, one)
		}
	}
	for _, format := range []string{PNG, SVG} {
		b.Run(format, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				charts, err := Charts(reports)
				if err != nil {
					b.Fatal(err)
				}
				for _, c := range charts {
					if err := c.Write(io.Discard, Options{Format: format}); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
