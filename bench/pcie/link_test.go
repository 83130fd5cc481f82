package pcie

import (
	"slices"
	"strings"
	"testing"

	"dlbench/bench"
	"dlbench/bench/benchtest"
	"dlbench/bench/theory"
	"dlbench/cuda"
	"dlbench/results"
)

func TestWhatHoldsALinkBack(t *testing.T) {
	hops := func(own, above string) []results.Hop {
		var hs []results.Hop
		for i, text := range []string{own, above} {
			if l, err := theory.ParseLink(text); err == nil {
				hs = append(hs, results.Hop{Device: []string{"0000:65:00.0", "0000:61:00.0"}[i], GTs: l.TransferRate(), Width: l.Lanes})
			}
		}
		return hs
	}
	for _, c := range []struct {
		name, live, most string
		own, above       string
		always           bool
		want             string // part of it, "" for nothing
	}{
		{"all it can", "gen4x16", "gen4x16", "gen4x16", "", true, ""},
		{"stuck at a low generation", "gen1x16", "gen4x16", "gen1x16", "", true, "stuck at Gen1 x16 under load, its devices and slot allow Gen4 x16"},
		{"awake at times", "gen1x16", "gen4x16", "gen1x16", "", false, "ran at Gen1 x16 while copying, its devices and slot allow"},
		{"lanes are missing", "gen4x4", "gen4x16", "gen4x4", "", true, "ran at Gen4 x4 while copying, its devices and slot allow Gen4 x16"},
		{"x16 behind an x4 hop", "gen3x4", "gen3x4", "gen4x16", "gen3x4", true, "claims Gen4 x16, but the hop above 0000:61:00.0 on the way has Gen3 x4"},
		{"stuck above, too", "gen1x4", "gen3x4", "gen4x16", "gen1x4", true, "stuck at Gen1 x4 under load"},
		{"most unknown", "gen3x4", "", "gen3x4", "", true, ""},
	} {
		l, err := theory.ParseLink(c.live)
		if err != nil {
			t.Fatal(err)
		}
		read := results.Link{GTs: l.TransferRate(), Width: l.Lanes, Narrow: "0000:65:00.0", Hops: hops(c.own, c.above)}
		if c.above != "" {
			read.Narrow = "0000:61:00.0"
		}
		if most, err := theory.ParseLink(c.most); err == nil {
			read.MaxGTs, read.MaxWidth = most.TransferRate(), most.Lanes
		}
		if w := below(l, read, c.always); !strings.Contains(w, c.want) || (w == "") != (c.want == "") {
			t.Errorf("%s: %q, want %q", c.name, w, c.want)
		}
	}
}

func TestMIGIsNamed(t *testing.T) {
	for name, slice := range map[string]string{"NVIDIA A100-SXM4-40GB MIG 1g.5gb": "1g.5gb", "NVIDIA A100-SXM4-40GB": "", "MIGHTY GPU": ""} {
		var r results.Result
		var proof results.PCIeProof
		(&copier{point: point{info: cuda.Info{Name: name}}}).reportMachine(&r, &proof)
		if proof.MIG != slice || (len(r.Warnings) > 0) != (slice != "") {
			t.Errorf("%s: %q, %q", name, proof.MIG, r.Warnings)
		}
	}
}

func TestVerdictOnSeveralGPUs(t *testing.T) {
	for _, c := range []struct {
		n           int
		met, missed bool
		narrow      int
		known       bool
		want        string
	}{
		{2, true, false, 4, true, results.Holds},
		{3, true, false, 1, false, results.Holds}, // lanes do not matter
		{3, false, true, 16, true, results.Fails},
		{3, false, false, 16, true, results.Inconclusive},
		{4, true, false, 8, true, results.Holds},
		{4, true, false, 4, true, results.Fails}, // x8 is not needed
		{4, false, true, 4, true, results.Holds},
		{4, false, true, 8, true, results.Fails}, // x8 is not enough
		{4, true, false, 16, false, results.Inconclusive},
	} {
		if v := severalVerdict(c.n, c.met, c.missed, c.narrow, c.known); v != c.want {
			t.Errorf("%+v: %s", c, v)
		}
	}
}

func TestConjoin(t *testing.T) {
	for want, names := range map[string][]string{"": nil, "a": {"a"}, "a and b": {"a", "b"}, "a, b and c": {"a", "b", "c"}} {
		if got := conjoin(names); got != want {
			t.Errorf("%q: %q, want %q", names, got, want)
		}
	}
}

// A stand-in copies beside nothing, whatever is asked for; a single GPU beside no other.
func TestConcurrentCasesThatCannotRun(t *testing.T) {
	env := benchtest.Env(benchtest.Sim(t, "sim:gen3x16"))
	env.Axes = map[string][]string{"concurrent": {results.ConcurrentOpposite}, "dir": {results.H2D}, "mem": {"pinned"}}
	cases, err := casesOf(env)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(cases, func(c bench.Case) bool { return c.Params.Text("concurrent") == results.ConcurrentOpposite })
	if i < 0 || !strings.Contains(cases[i].Skip, "part of the assumption") {
		t.Errorf("%q", names(cases))
	}
	env.Devices = []cuda.Device{gpu{}}
	env.Axes["concurrent"], env.Axes["mem"] = []string{results.ConcurrentDevices}, []string{"pinned", "pageable"}
	if cases, err = casesOf(env); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if c.Device != "" && c.Skip == "" {
			t.Errorf("%s can run", c.Params.Name("pcie"))
		}
	}
}
