package results

import (
	"math"
	"strings"
	"testing"
)

func TestFormatValue(t *testing.T) {
	tests := []struct {
		v    float64
		unit string
		want string
	}{
		{1.5432e-3, Seconds, "1.543 ms"},
		{0.216, Seconds, "216.0 ms"},
		{4.2e-6, Seconds, "4.200 µs"},
		{5e-10, Seconds, "0.5000 ns"},
		{0.99996, Seconds, "1.000 s"},
		{99.996e-3, Seconds, "100.0 ms"},
		{12345, Seconds, "12345 s"},
		{0, Seconds, "0 s"},
		{-1.5e-3, Seconds, "-1.500 ms"},
		{12.6e9, BytesPerSecond, "12.60 GB/s"},
		{999.96e6, BytesPerSecond, "1.000 GB/s"},
		{999.94e6, BytesPerSecond, "999.9 MB/s"},
		{19440000, Bytes, "19.44 MB"},
		{64, Bytes, "64 B"},
		{0.5, Bytes, "0.5000 B"},
		{148.148, PerSecond, "148.1 /s"},
		{1576, "images/s", "1576 images/s"},
		{148.148, "images/s", "148.1 images/s"},
		{15760.4, "images/s", "15760 images/s"},
		{2, Batches, "2 batches"},
		{0.9952, Ratio, "99.52 %"},
		{1, Ratio, "100.0 %"},
		{1.65, Ratio, "165.0 %"},
		{0.00008, Ratio, "0.008 %"},
		{0.0999951, Ratio, "10.00 %"},
		{12.5, Ratio, "1250 %"},
		{1e-12, "W", "1e-12 W"},
		{math.NaN(), Seconds, "-"},
		{math.Inf(1), BytesPerSecond, "-"},
		{3, "\x1b[31mred", "3 [31mred"},
		{math.MaxFloat64, Ratio, "-"},
	}
	for _, test := range tests {
		if got := FormatValue(test.v, test.unit); got != test.want {
			t.Errorf("FormatValue(%v, %q) = %q, want %q", test.v, test.unit, got, test.want)
		}
	}
}

func TestFormatRange(t *testing.T) {
	tests := []struct {
		lo, hi float64
		unit   string
		want   string
	}{
		{1.331e-3, 1.62e-3, Seconds, "1.331..1.620 ms"},
		{0.9e-3, 1.1e-3, Seconds, "0.9000..1.100 ms"},
		{10e9, 13.1e9, BytesPerSecond, "10.00..13.10 GB/s"},
		{math.Inf(-1), 1, Seconds, "-"},
	}
	for _, test := range tests {
		if got := FormatRange(test.lo, test.hi, test.unit); got != test.want {
			t.Errorf("FormatRange(%v, %v, %q) = %q, want %q", test.lo, test.hi, test.unit, got, test.want)
		}
	}
}

func TestFormatBytes(t *testing.T) {
	tests := []struct {
		n    int64
		want string
	}{
		{0, "0 B"}, {1, "1 B"}, {999, "999 B"}, {1000, "1 kB"}, {1024, "1 KiB"}, {4096, "4 KiB"},
		{16 << 20, "16 MiB"}, {4 << 30, "4 GiB"}, {3 << 30, "3.221 GB"}, {19440000, "19.44 MB"}, {607500, "607.5 kB"}, {610304, "610.3 kB"},
		{1000000, "1 MB"}, {1234567, "1.235 MB"}, {999999, "1 MB"}, {math.MaxInt64, "9223 PB"}, {math.MinInt64, "-9223 PB"},
		{10240000, "10.24 MB"},
	}
	for _, test := range tests {
		if got := FormatBytes(test.n); got != test.want {
			t.Errorf("FormatBytes(%d) = %q, want %q", test.n, got, test.want)
		}
	}
}

func TestFormatInterval(t *testing.T) {
	interval := func(median, lo, hi float64) Metric {
		return Metric{Unit: Seconds, Median: median, Lo: &lo, Hi: &hi, Samples: make([]Sample, 6)}
	}
	few := *metric(1.541e-3, 1.56e-3)
	one := *metric(1.541e-3)
	assumed := *metric(1, 2, 3, 4, 5, 6)
	for _, m := range []*Metric{&few, &one} {
		Summarize(m, SummaryOptions{})
	}
	Summarize(&assumed, SummaryOptions{NoInterval: true})
	tests := []struct {
		name string
		m    Metric
		want string
	}{
		{"the longer side", interval(1, 0.999, 1.004), "±0.4 %"},
		{"wide", interval(2, 1, 2.2), "±50 %"},
		{"exact", interval(1, 1, 1), "±<0.1 %"},
		{"around nothing", interval(0, -1e-3, 1e-3), "-1.000..1.000 ms"},
		{"negative", interval(-1, -1.02, -0.99), "±2.0 %"},
		{"few samples", few, "1.541..1.560 ms"},
		{"one sample", one, ""},
		{"assumed", assumed, ""},
		{"missing", Metric{Reason: ReasonNone}, ""},
	}
	for _, test := range tests {
		if got := FormatInterval(test.m); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestWords(t *testing.T) {
	for in, want := range map[string]string{
		"":                                   "",
		"NVIDIA H100 80GB HBM3":              "NVIDIA H100 80GB HBM3",
		"  two\n lines\tand tabs ":           "two lines and tabs",
		"a\x00b\x1b[31mc\u200b\u202ed\ufeff": "ab[31mcd",
		"\xff\xfeok":                         "\uFFFD\uFFFDok",
		"Grüße, 机器 <&>":                      "Grüße, 机器 <&>",
		"\u2028\u0085":                       "",
	} {
		if got := Words(in, 200); got != want {
			t.Errorf("%q: have %q, want %q", in, got, want)
		}
	}
	if got := []rune(Words(strings.Repeat("é", 5000), 200)); len(got) != 200 || got[199] != '…' {
		t.Errorf("5000 letters become %d, want %d with an ellipsis", len(got), 200)
	}
}
