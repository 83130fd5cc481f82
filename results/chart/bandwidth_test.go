package chart

import (
	"fmt"
	"slices"
	"testing"

	"gonum.org/v1/plot/vg"

	"dlbench/results"
)

func TestSweep(t *testing.T) {
	rep := gpuReport("", 2, "gen4x16")
	slices.Reverse(rep.Results) // sizes need not come in order
	got := sweepsOf([]*results.Report{rep})
	if len(got) != 1 {
		t.Fatalf("%d charts, want 1", len(got))
	}
	s := got[0]
	if want := []string{"cuda:1 Fake GPU 1, Gen4 x16", "cuda:0 Fake GPU 0, Gen4 x16"}; !slices.Equal(s.Devices, want) {
		t.Errorf("devices %q, want %q", s.Devices, want)
	}
	var lines []string
	for _, l := range s.Lines {
		first, last := l.Points[0], l.Points[len(l.Points)-1]
		lines = append(lines, fmt.Sprintf("%d %s %d: %d %.2f to %d %.2f GB/s", l.Device, l.Mem, len(l.Points),
			first.Bytes, first.Median/1e9, last.Bytes, last.Median/1e9))
		if !slices.IsSortedFunc(l.Points, func(a, b sweepPoint) int { return int(a.Bytes - b.Bytes) }) {
			t.Errorf("%s: sizes are not in order", lines[len(lines)-1])
		}
	}
	// registered and staged have one size only
	if want := []string{
		"0 pinned 16: 4096 0.66 to 67108864 24.15 GB/s", "0 pageable 16: 4096 0.65 to 67108864 12.69 GB/s",
		"1 pinned 16: 4096 0.66 to 67108864 25.15 GB/s", "1 pageable 16: 4096 0.65 to 67108864 13.22 GB/s",
	}; !slices.Equal(lines, want) {
		t.Errorf("lines %q, want %q", lines, want)
	}
	if l := s.Links; len(l) != 1 || !slices.Equal(l[0].Titles, []string{"Gen4 x16"}) ||
		fmt.Sprintf("%.3f %.2f-%.2f", l[0].LineRate/1e9, l[0].Protocol.Lo/1e9, l[0].Protocol.Hi/1e9) != "31.508 24.01-29.22" {
		t.Errorf("links %+v, want Gen4 x16 alone", l)
	}
	if s.Batch != articleBytes {
		t.Errorf("batch %d, want %d", s.Batch, articleBytes)
	}
}

func TestSweepLinks(t *testing.T) {
	got := sweepsOf([]*results.Report{gpuReport("a", 1, "gen4x4"), gpuReport("b", 1, "gen5x16"), gpuReport("c", 1, "gen3x8")})
	if len(got) != 1 || len(got[0].Links) != 2 {
		t.Fatalf("have %+v, want one chart with two line rates", got)
	}
	if l := got[0].Links; !slices.Equal(l[0].Titles, []string{"Gen4 x4", "Gen3 x8"}) || !slices.Equal(l[1].Titles, []string{"Gen5 x16"}) {
		t.Errorf("links %+v, want Gen4 x4 with Gen3 x8, then Gen5 x16", l)
	}
	if want := "cuda:0 Fake GPU 0, Gen3 x8"; got[0].Devices[2] != want {
		t.Errorf("device %q, want %q", got[0].Devices[2], want)
	}
}

// Too much for one chart goes to further ones, and nothing is lost.
func TestSweepSplits(t *testing.T) {
	for _, c := range []struct {
		gpus int
		want []string
	}{
		{6, []string{" 12"}},
		{7, []string{"pinned 7", "pageable 7"}},
		{9, []string{"pinned 8", "pageable 8", " 2"}},
	} {
		var have []string
		for _, s := range sweepsOf([]*results.Report{gpuReport("", c.gpus, "gen4x16")}) {
			have = append(have, fmt.Sprintf("%s %d", s.Mem, len(s.Lines)))
		}
		if !slices.Equal(have, c.want) {
			t.Errorf("%d GPUs: have %q, want %q", c.gpus, have, c.want)
		}
	}
}

func TestSweepNeedsSizes(t *testing.T) {
	rep := newReport("")
	for _, size := range []int64{4096, 8192, 4096} {
		rep.Results = append(rep.Results, copyOf("cuda:0", "h2d", "pinned", "gen4x16", size, 1e9))
	}
	if got := sweepsOf([]*results.Report{rep, simReport("")}); len(got) != 0 {
		t.Errorf("two sizes: have %+v, want no chart", got)
	}
	rep.Results = append(rep.Results, copyOf("cuda:0", "h2d", "pinned", "gen4x16", 16384, 1e9))
	if got := sweepsOf([]*results.Report{rep}); len(got) != 1 || len(got[0].Lines[0].Points) != 3 {
		t.Errorf("three sizes: have %+v, want one line", got)
	}
}

// The type of the elements that a run sweeps with is no matter, but there is one.
func TestSweepOfOtherType(t *testing.T) {
	rep := newReport("")
	rep.Config.DType = "uint8"
	for i := range 4 {
		r := copyOf("cuda:0", "h2d", "pinned", "gen4x16", 4096<<i, 1e9)
		r.Params = r.Params.With("dtype", "uint8")
		rep.Results = append(rep.Results, r)
	}
	rep.Results = append(rep.Results, copyOf("cuda:0", "h2d", "pinned", "gen4x16", articleBytes, 1e9))
	if got := sweepsOf([]*results.Report{rep}); len(got) != 1 || len(got[0].Lines[0].Points) != 4 {
		t.Errorf("have %+v, want the four sizes of uint8", got)
	}
}

func TestSpreadNames(t *testing.T) {
	for _, c := range []struct{ at, want []vg.Length }{
		{nil, nil},
		{[]vg.Length{10, 50}, []vg.Length{10, 50}},
		{[]vg.Length{10, 12, 14}, []vg.Length{10, 20, 30}},
		{[]vg.Length{0, 1}, []vg.Length{5, 15}},
		{[]vg.Length{95, 99}, []vg.Length{80, 90}},
	} {
		if got := spread(c.at, 10, 5, 90); !slices.Equal(got, c.want) {
			t.Errorf("%v: have %v, want %v", c.at, got, c.want)
		}
	}
}
