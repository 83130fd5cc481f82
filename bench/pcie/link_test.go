package pcie

import (
	"testing"

	"dlbench/bench/theory"
	"dlbench/cuda"
	"dlbench/results"
)

// reading is a link that is live, between devices that can do most, in hops from the device on.
func reading(live, most string, hops ...string) results.Link {
	now, _ := theory.ParseLink(live)
	can, _ := theory.ParseLink(most) // no link where it is unknown
	read := results.Link{State: results.LinkKnown, GTs: now.TransferRate(), Width: now.Lanes,
		MaxGTs: can.TransferRate(), MaxWidth: can.Lanes, Narrow: "0000:65:00.0"}
	for i, text := range hops {
		l, _ := theory.ParseLink(text)
		read.Narrow = []string{"0000:65:00.0", "0000:61:00.0"}[i]
		read.Hops = append(read.Hops, results.Hop{Device: read.Narrow, GTs: l.TransferRate(), Width: l.Lanes})
	}
	return read
}

func TestLinkWhileCopying(t *testing.T) {
	gen1, gen4 := reading("gen1x16", "gen4x16", "gen1x16"), reading("gen4x16", "gen4x16", "gen4x16")
	for _, c := range []struct {
		name string
		read []results.Link
		want string // link, "" for unknown
		warn string // part of the warning, "" for none
	}{
		{"all it can", []results.Link{gen4, gen4}, "gen4x16", ""},
		{"woke up late", []results.Link{gen1, gen4, gen4}, "gen4x16", "changed while copying: 2 of 3"},
		{"awake at times", []results.Link{gen1, gen1, gen4}, "gen1x16",
			"ran at Gen1 x16 while copying, its devices and slot allow Gen4 x16"},
		{"stuck at a low generation", []results.Link{gen1, gen1}, "gen1x16",
			"ran at Gen1 x16 while copying, its devices and slot allow Gen4 x16"},
		{"lanes are missing", []results.Link{reading("gen4x4", "gen4x16", "gen4x4")}, "gen4x4",
			"ran at Gen4 x4 while copying, its devices and slot allow Gen4 x16"},
		{"x16 behind an x4 hop", []results.Link{reading("gen3x4", "gen3x4", "gen4x16", "gen3x4")}, "gen3x4",
			"ran at Gen3 x4 while copying, above 0000:61:00.0, although the device itself claims Gen4 x16"},
		{"stuck above, too", []results.Link{reading("gen1x4", "gen3x4", "gen4x16", "gen1x4")}, "gen1x4",
			"ran at Gen1 x4 while copying, its devices and slot allow Gen3 x4"},
		{"most unknown", []results.Link{reading("gen3x4", "", "gen3x4")}, "gen3x4", ""},
		{"unknown", []results.Link{{State: results.LinkUnknown}}, "", "link unknown"},
		{"virtual", []results.Link{{State: results.LinkVirtual, GTs: 2.5, Width: 1}}, "", "link virtual"},
		{"none", nil, "", "link unknown"},
	} {
		var r results.Result
		l := (&liveLink{read: c.read}).report(&r, &results.PCIeProof{})
		if known := l.Lanes > 0; known != (c.want != "") || known && l.String() != c.want {
			t.Errorf("%s: %s, want %q", c.name, l, c.want)
		}
		wantWarning(t, c.name, r, c.warn)
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
