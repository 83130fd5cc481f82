package results

import (
	"math"
	"strings"
	"testing"
)

func TestFormat(t *testing.T) {
	for i, test := range []struct{ got, want string }{
		{FormatValue(1.5432e-3, Seconds), "1.543 ms"}, {FormatValue(0.216, Seconds), "216.0 ms"},
		{FormatValue(4.2e-6, Seconds), "4.200 µs"}, {FormatValue(5e-10, Seconds), "0.5000 ns"},
		{FormatValue(0.99996, Seconds), "1.000 s"}, {FormatValue(99.996e-3, Seconds), "100.0 ms"},
		{FormatValue(12345, Seconds), "12345 s"}, {FormatValue(0, Seconds), "0 s"},
		{FormatValue(-1.5e-3, Seconds), "-1.500 ms"}, {FormatValue(12.6e9, BytesPerSecond), "12.60 GB/s"},
		{FormatValue(999.96e6, BytesPerSecond), "1.000 GB/s"},
		{FormatValue(999.94e6, BytesPerSecond), "999.9 MB/s"}, {FormatValue(19440000, Bytes), "19.44 MB"},
		{FormatValue(64, Bytes), "64 B"}, {FormatValue(0.5, Bytes), "0.5000 B"},
		{FormatValue(148.148, PerSecond), "148.1 /s"}, {FormatValue(1576, "images/s"), "1576 images/s"},
		{FormatValue(148.148, "images/s"), "148.1 images/s"},
		{FormatValue(61795514, "images/s"), "61.80 million images/s"}, {FormatValue(2e6, PerSecond), "2.000 million /s"},
		{FormatRange(900, 2e6, PerSecond), "0.0009000..2.000 million /s"},
		{FormatValue(15760.4, "images/s"), "15760 images/s"}, {FormatValue(2, Batches), "2 batches"},
		{FormatValue(0.9952, Ratio), "99.52 %"}, {FormatValue(1, Ratio), "100.0 %"},
		{FormatValue(1.65, Ratio), "165.0 %"}, {FormatValue(0.00008, Ratio), "0.008 %"},
		{FormatValue(0.0999951, Ratio), "10.00 %"}, {FormatValue(12.5, Ratio), "1250 %"},
		{FormatValue(1e-12, "W"), "1e-12 W"}, {FormatValue(math.NaN(), Seconds), "-"},
		{FormatValue(math.Inf(1), BytesPerSecond), "-"}, {FormatValue(3, "\x1b[31mred"), "3 [31mred"},
		{FormatValue(math.MaxFloat64, Ratio), "-"},
		{FormatRange(1.331e-3, 1.62e-3, Seconds), "1.331..1.620 ms"},
		{FormatRange(0.9e-3, 1.1e-3, Seconds), "0.9000..1.100 ms"},
		{FormatRange(10e9, 13.1e9, BytesPerSecond), "10.00..13.10 GB/s"},
		{FormatRange(math.Inf(-1), 1, Seconds), "-"}, {FormatBytes(0), "0 B"}, {FormatBytes(1), "1 B"},
		{FormatBytes(999), "999 B"}, {FormatBytes(1000), "1 kB"}, {FormatBytes(1024), "1 KiB"},
		{FormatBytes(4096), "4 KiB"}, {FormatBytes(16 << 20), "16 MiB"}, {FormatBytes(4 << 30), "4 GiB"},
		{FormatBytes(3 << 30), "3.221 GB"}, {FormatBytes(19440000), "19.44 MB"},
		{FormatBytes(607500), "607.5 kB"}, {FormatBytes(610304), "610.3 kB"}, {FormatBytes(1000000), "1 MB"},
		{FormatBytes(1234567), "1.235 MB"}, {FormatBytes(999999), "1 MB"},
		{FormatBytes(math.MaxInt64), "9223 PB"}, {FormatBytes(math.MinInt64), "-9223 PB"},
		{FormatBytes(10240000), "10.24 MB"},
	} {
		if test.got != test.want {
			t.Errorf("%d: %q, want %q", i, test.got, test.want)
		}
	}
}

func TestFormatInterval(t *testing.T) {
	interval := func(median, lo, hi float64) Metric {
		return Metric{Unit: Seconds, Median: median, Lo: &lo, Hi: &hi, Samples: make([]Sample, 6)}
	}
	summed := func(o SummaryOptions, values ...float64) Metric {
		m := metric(values...)
		Summarize(m, o)
		return *m
	}
	for _, test := range []struct {
		name string
		m    Metric
		want string
	}{
		{"the longer side", interval(1, 0.999, 1.004), "±0.4 %"},
		{"wide", interval(2, 1, 2.2), "±50 %"},
		{"as wide as the value", interval(1, 0, 2), "±100 %"},
		{"far wider", interval(1e-6, 0, 41e-6), "±>100 %"},
		{"exact", interval(1, 1, 1), "±<0.1 %"},
		{"around nothing", interval(0, -1e-3, 1e-3), "-1.000..1.000 ms"},
		{"negative", interval(-1, -1.02, -0.99), "±2.0 %"},
		{"few samples", summed(SummaryOptions{}, 1.541e-3, 1.56e-3), "1.541..1.560 ms"},
		{"one sample", summed(SummaryOptions{}, 1.541e-3), ""},
		{"assumed", summed(SummaryOptions{NoInterval: true}, 1, 2, 3, 4, 5, 6), ""},
		{"missing", Metric{Reason: ReasonNone}, ""},
	} {
		if got := FormatInterval(test.m); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// A median has no digits that its interval, or the range of few samples, does not support.
func TestFormatMedian(t *testing.T) {
	for _, c := range []struct {
		median, side float64
		want         string
	}{
		{821.8, 0, "821.8 /s"}, {821.8, 8, "821.8 /s"}, {821.8, 9, "822 /s"}, {821.8, 81, "822 /s"},
		{821.8, 83, "820 /s"}, {1234.5, 400, "1200 /s"}, {0.0999, 0.05, "0.10 /s"}, {0, 1, "0 /s"}, {-821.8, 83, "-820 /s"},
	} {
		lo, hi := c.median-c.side/2, c.median+c.side
		few := Metric{Unit: PerSecond, Median: c.median, Min: lo, Max: hi, Samples: make([]Sample, 3)}
		many := Metric{Unit: PerSecond, Median: c.median, Min: -1e9, Max: 1e9, Lo: &lo, Hi: &hi, Samples: make([]Sample, 30)}
		if a, b := FormatMedian(few), FormatMedian(many); a != c.want || b != c.want {
			t.Errorf("%v +- %v: %q and %q, want %q", c.median, c.side, a, b, c.want)
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
