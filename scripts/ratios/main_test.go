package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestVerdict(t *testing.T) {
	twoSided := limits{least: 0.95, most: 1.05, spread: 0.1}
	oneSided := limits{least: 0.99, most: math.Inf(1), spread: math.Inf(1)}
	minus := limits{least: math.Inf(-1), most: 2, spread: math.Inf(1), minus: true}
	nine := func(v float64) []float64 { return []float64{v, v, v, v, v, v, v, v, v} }
	alternating := func(a, b float64) []float64 { return []float64{a, b, a, b, a, b, a, b, a} }
	for _, c := range []struct {
		l               limits
		firsts, seconds []float64
		want            string
	}{
		{twoSided, alternating(97, 103), nine(100), "0.970 [0.970, 1.030] | 9 | 0.0 % | PASS"},
		// across a limit
		{twoSided, alternating(93, 103), nine(100), "0.930 [0.930, 1.030] | 9 | 0.0 % | inconclusive"},
		{twoSided, alternating(88, 94), nine(100), "0.880 [0.880, 0.940] | 9 | 0.0 % | DIFFERS"},
		{twoSided, alternating(106, 120), nine(100), "1.060 [1.060, 1.200] | 9 | 0.0 % | DIFFERS"},
		// not steady
		{twoSided, alternating(100, 125), alternating(100, 125), "1.000 [1.000, 1.000] | 9 | 25.0 % | inconclusive"},
		{twoSided, alternating(50, 62.5), alternating(100, 125), "0.500 [0.500, 0.500] | 9 | 25.0 % | inconclusive"},
		{oneSided, []float64{9.9, 10, 10}, []float64{10, 10, 10}, "1.000 [0.990, 1.000] | 3 | 0.0 % | PASS"},
		{oneSided, []float64{9.8, 10, 10}, []float64{10, 10, 10}, "1.000 [0.980, 1.000] | 3 | 0.0 % | inconclusive"},
		{oneSided, []float64{9, 9.5, 9.8}, []float64{10, 10, 10}, "0.950 [0.900, 0.980] | 3 | 0.0 % | SLOWER"},
		{oneSided, []float64{20}, []float64{10}, "2.000 [2.000, 2.000] | 1 | 0.0 % | PASS"},
		{oneSided, nil, nil, "no peer"},
		{minus, alternating(1, 2.5), nine(0.5), "0.500 [0.500, 2.000] | 9 | 0.0 % | PASS"},
		{minus, alternating(3, 3.5), nine(0.5), "2.500 [2.500, 3.000] | 9 | 0.0 % | DIFFERS"},
	} {
		if got := c.l.judge(c.firsts, c.seconds); !strings.HasSuffix(got, c.want) {
			t.Errorf("%v against %v: %s, want %s", c.firsts, c.seconds, got, c.want)
		}
	}
}

// Rounds are paired by file; one that failed has no file, or not every benchmark.
func TestRounds(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for i, text := range []string{
		"BenchmarkSuite/dir=h2d/x=1 1 5 B/s\nBenchmarkSuite/dir=h2d/x=1 1 7 B/s\nBenchmarkSuite/dir=h2d/x=1 1 6 " +
			"B/s\nBenchmarkSuite/dir=h2d/x=2 1 9 B/s\n",
		"BenchmarkPeer/dir=h2d 1 6 B/s 2 ns/op\n",
		"BenchmarkSuite/dir=h2d/x=1 1 5 B/s\nBenchmarkSuite/dir=d2h/x=1 1 5 B/s\n",
		"",
		"",
		"BenchmarkPeer/dir=h2d 1 1 B/s\n",
	} {
		paths = append(paths, filepath.Join(dir, string(rune('a'+i))))
		if err := os.WriteFile(paths[i], []byte(text), 0o666); text != "" && err != nil {
			t.Fatal(err)
		}
	}
	os.Remove(paths[3])
	rounds, err := read(paths, "-/x:2", "/dir", "B/s")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := table(&b, rounds, limits{least: 0.99, most: math.Inf(1), spread: math.Inf(1)}); err != nil {
		t.Fatal(err)
	}
	want := "| h2d | 1.000 [1.000, 1.000] | 1 | 0.0 % | PASS |\n| d2h | - | 0 | - | no peer |\n"
	if !strings.HasSuffix(b.String(), want) {
		t.Errorf("%s\nwant %s", b.String(), want)
	}
	if rounds, err = read(paths, "/x:3", "/dir", "B/s"); err != nil || table(&b, rounds, limits{}) == nil {
		t.Errorf("nothing measured: %v", err)
	}
	if _, err = read(paths, "(", "/dir", "B/s"); err == nil {
		t.Error("a bad filter is no error")
	}
}
