package chart

import (
	"fmt"
	"slices"
	"testing"
	"unicode/utf8"

	"gonum.org/v1/plot/vg"

	"dlbench/results"
)

func TestCaptions(t *testing.T) {
	rep := newReport("rig")
	rep.Host.CPU.Usable = 0.5
	rep.Host.Disks = []results.Disk{{Name: "sda", Model: "WDC", Kind: results.DiskSpinning, Link: "SATA 6.0 Gb/s",
		FileSystem: "xfs"}}
	rep.Host.GPUs = []results.GPU{{Name: "H100"}, {Name: "H100"}}
	rep.Status = results.Interrupted
	rep.Verdict = &results.Verdict{Answer: results.AnswerBusy}
	compare(t, captions(one(rep))[0], []string{"rig: AMD EPYC 7B13", "0.5 cores", "2 x H100",
		"disk sda WDC, hard disk, SATA 6.0 Gb/s, xfs", "2026-11-30 UTC", "machine busy",
		"dlbench v0.1.0", "batch 32x225x225x3 float32, 19.44 MB", "interrupted run"})
}

// What all machines have in common stands once.
func TestCaptionsOfMachines(t *testing.T) {
	a, b := newReport("a"), newReport("b")
	b.Host.GPUs = []results.GPU{{Name: "H100"}}
	if have, want := fmt.Sprint(captions([]*results.Report{a, b})), "[[a: AMD EPYC 7B13 no GPU] [b: AMD EPYC 7B13 H100] "+
		"[all: 2026-11-30 UTC dlbench v0.1.0 batch 32x225x225x3 float32, 19.44 MB]]"; have != want {
		t.Errorf("have %s, want %s", have, want)
	}
}

func FuzzClean(f *testing.F) {
	f.Add("plain")
	f.Add("\x00\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		got := clean(s)
		if !utf8.ValidString(got) || clean(got) != got || len([]rune(got)) > maxRunes {
			t.Errorf("%q: have %q", s, got)
		}
		if w := width(labelText, fit(labelText, got, 50*px)); w > 50*px {
			t.Errorf("%q: %v wide after fit to %v", s, w, 50*px)
		}
	})
}

func TestFit(t *testing.T) {
	for _, c := range []struct {
		in   string
		max  vg.Length
		want string
	}{
		{"short", 100 * px, "short"},
		{"", 0, ""},
		{"a long name that ends", 60 * px, "a long n…"},
		{"wide", 1 * px, "…"},
	} {
		if got := fit(labelText, c.in, c.max); got != c.want {
			t.Errorf("%q in %v: have %q, want %q", c.in, c.max, got, c.want)
		}
	}
	// a viewer takes what the font lacks from one in which it is wider
	if latin, other := width(labelText, "mm"), width(labelText, "机器"); other < 2*labelText.Font.Size || latin >= other {
		t.Errorf("two characters that the font lacks are %v wide, want two em", other)
	}
}

func TestWrap(t *testing.T) {
	got := wrap(labelText, []string{"one", "two", "three", "fourteen letters too many"}, " · ", 90*px)
	if want := []string{"one · two · three", "fourteen letter…"}; !slices.Equal(got, want) {
		t.Errorf("have %q, want %q", got, want)
	}
	if got := wrap(labelText, nil, " ", 90*px); got != nil {
		t.Errorf("nothing: have %q", got)
	}
}

func TestApart(t *testing.T) {
	for _, c := range []struct{ at, want []vg.Length }{
		{nil, nil},
		{[]vg.Length{10, 50}, []vg.Length{10, 50}},
		{[]vg.Length{10, 12, 14}, []vg.Length{10, 20, 30}},
		{[]vg.Length{0, 1}, []vg.Length{5, 15}},
		{[]vg.Length{95, 99}, []vg.Length{80, 90}},
	} {
		if got := apart(c.at, 10, 5, 90); !slices.Equal(got, c.want) {
			t.Errorf("%v: have %v, want %v", c.at, got, c.want)
		}
	}
}
