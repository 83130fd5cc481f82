package pcie

import (
	"strings"
	"testing"

	"dlbench/bench/theory"
	"dlbench/cuda"
	"dlbench/results"
)

func TestWhatHoldsALinkBack(t *testing.T) {
	for _, c := range []struct {
		name, live, most string
		own, above       string
		always           bool
		want             string // part of it, "" for nothing
	}{
		{"all it can", "gen4x16", "gen4x16", "gen4x16", "", true, ""},
		{"stuck at a low generation", "gen1x16", "gen4x16", "gen1x16", "", true,
			"stuck at Gen1 x16 under load, its devices and slot allow Gen4 x16"},
		{"awake at times", "gen1x16", "gen4x16", "gen1x16", "", false,
			"ran at Gen1 x16 while copying, its devices and slot allow"},
		{"lanes are missing", "gen4x4", "gen4x16", "gen4x4", "", true,
			"ran at Gen4 x4 while copying, its devices and slot allow Gen4 x16"},
		{"x16 behind an x4 hop", "gen3x4", "gen3x4", "gen4x16", "gen3x4", true,
			"claims Gen4 x16, but the hop above 0000:61:00.0 on the way has Gen3 x4"},
		{"stuck above, too", "gen1x4", "gen3x4", "gen4x16", "gen1x4", true, "stuck at Gen1 x4 under load"},
		{"most unknown", "gen3x4", "", "gen3x4", "", true, ""},
	} {
		live, _ := theory.ParseLink(c.live)
		most, _ := theory.ParseLink(c.most) // no link when it is unknown
		read := results.Link{GTs: live.TransferRate(), Width: live.Lanes,
			MaxGTs: most.TransferRate(), MaxWidth: most.Lanes}
		for i, text := range []string{c.own, c.above} {
			if l, err := theory.ParseLink(text); err == nil {
				read.Narrow = []string{"0000:65:00.0", "0000:61:00.0"}[i]
				read.Hops = append(read.Hops, results.Hop{Device: read.Narrow, GTs: l.TransferRate(), Width: l.Lanes})
			}
		}
		if w := below(live, read, c.always); !strings.Contains(w, c.want) || (w == "") != (c.want == "") {
			t.Errorf("%s: %q, want %q", c.name, w, c.want)
		}
	}
}

func TestMIGIsNamed(t *testing.T) {
	const whole = "NVIDIA A100-SXM4-40GB"
	for name, slice := range map[string]string{whole + " MIG 1g.5gb": "1g.5gb", whole: "", "MIGHTY GPU": ""} {
		var r results.Result
		var proof results.PCIeProof
		(&copier{point: point{info: cuda.Info{Name: name}}}).reportMachine(&r, &proof)
		wantWarning(t, name, r, slice)
		if proof.MIG != slice {
			t.Errorf("%s: %q", name, proof.MIG)
		}
	}
}

func TestLivenessOfTheLink(t *testing.T) {
	read := func(state string, gts float64, width int) results.Link {
		return results.Link{State: state, GTs: gts, Width: width, MaxGTs: 16, MaxWidth: 16, Narrow: "0000:65:00.0"}
	}
	known := results.LinkKnown
	for _, c := range []struct {
		name string
		read []results.Link
		want string // link, "" for unknown
		warn string // part of the warning, "" for none
	}{
		{"full speed", []results.Link{read(known, 16, 16), read(known, 16, 16)}, "gen4x16", ""},
		{"woke up late", []results.Link{read(known, 2.5, 16), read(known, 16, 16), read(known, 16, 16)}, "gen4x16",
			"changed while copying: 2 of 3"},
		{"stuck", []results.Link{read(known, 2.5, 16), read(known, 2.5, 16)}, "gen1x16", "slot allow Gen4 x16"},
		{"narrow", []results.Link{read(known, 16, 4)}, "gen4x4", "slot allow Gen4 x16"},
		{"unknown", []results.Link{read(results.LinkUnknown, 0, 0)}, "", "link unknown"},
		{"virtual", []results.Link{read(results.LinkVirtual, 2.5, 1)}, "", "link virtual"},
		{"none", nil, "", "link unknown"},
	} {
		var r results.Result
		l, ok := (&liveLink{read: c.read}).report(&r, &results.PCIeProof{})
		if ok != (c.want != "") || ok && l.String() != c.want {
			t.Errorf("%s: %s, %t; want %q", c.name, l, ok, c.want)
		}
		wantWarning(t, c.name, r, c.warn)
	}
}
