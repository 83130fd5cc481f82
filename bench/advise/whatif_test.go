package advise

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"dlbench/bench/theory"
	"dlbench/results"
)

// What changes bring stands in a table, with whether it is enough; for what brings nothing or
// makes no sense there is a sentence.
func TestAnswer(t *testing.T) {
	usualPast := usual
	usualPast.Cache = results.Direct
	past := usualParts.report()
	past.Results = append(past.Results, measured(usualPast, steady(0.050), steady(0.050), steady(0.050)))
	faster := usualParts.report()
	faster.Results = append(faster.Results, measured(usualPast, steady(0.040), steady(0.040), steady(0.040)))
	link := usualParts.with(func(l *loaderParts) { l.copy, l.device = 97.2e-3, "sim:gen1x1" }).report()
	direct := usualParts.with(func(l *loaderParts) { l.read, l.disk = 0.438, "hdd" }).report()
	gen3x16, _ := theory.ParseLink("gen3x16")
	gen5x16, _ := theory.ParseLink("gen5x16")
	nvme, _ := theory.ParseDisk("nvme")
	hdd, _ := theory.ParseDisk("hdd")
	for _, c := range []struct {
		name    string
		report  *results.Report
		whatIf  WhatIf
		changes []string // names and whether they are enough
		note    string   // one of the notes begins so
		err     string
	}{
		{"more cores", usualParts.report(), WhatIf{Cores: 8}, []string{"8 cores yes"}, "", ""},
		{"together", usualParts.report(), WhatIf{Cores: 8, Disk: hdd},
			[]string{"disk hdd (100.0 MB/s) no", "8 cores yes", "all of them together no"}, "A faster disk? ", ""},
		{"one of two", usualParts.report(), WhatIf{Cores: 8, RAM: true}, []string{"8 cores yes"},
			"The data in RAM? No effect: ", ""},
		{"one of two helps next to the other", link, WhatIf{Cores: 8, Link: gen3x16},
			[]string{"link Gen3 x16 no", "all of them together yes"}, "8 cores", ""},
		{"a disk that was faster", faster, WhatIf{}, []string{"JPEGs at 256 pixels perhaps", "4 cores yes", "3 cores yes"},
			"A faster disk? No effect: the data comes from memory; from the disk it is loaded as fast.", ""},
		{"not the bottleneck", usualParts.report(), WhatIf{Link: gen5x16}, nil,
			"Link Gen5 x16? No effect: decode+crop is the bottleneck.", ""},
		{"as it is", usualParts.report(), WhatIf{Link: gen3x16}, nil,
			"Link Gen3 x16? No change from what was measured.", ""},
		{"in memory", usualParts.report(), WhatIf{RAM: true}, nil,
			"The data in RAM? No effect: the data comes from memory.", ""},
		{"a faster disk", past, WhatIf{Disk: nvme}, []string{"disk nvme (3.400 GB/s) no"},
			"A faster disk? No effect: the data comes from memory; from the disk 640 images/s, at most 762.", ""},
		{"a disk that is not known", usualParts.report(), WhatIf{Disk: nvme},
			[]string{"disk nvme (3.400 GB/s) no"},
			"A faster disk? No effect: the data comes from memory; this disk was not measured", ""},
		{"from a disk", direct, WhatIf{Disk: nvme}, []string{"disk nvme (3.400 GB/s) no"},
			"A faster disk? This one allows 67 images/s, the fastest ", ""},
		{"no sense next to sense", usualParts.report(), WhatIf{Cores: 8, Tar: true}, []string{"8 cores yes"},
			"Tar shards? Needs the disk suite: ", ""},
		{"no sense", usualParts.report(), WhatIf{Tar: true}, nil, "", "tar shards: needs the disk suite"},
		{"nothing asked", usualParts.report(), WhatIf{},
			[]string{"JPEGs at 256 pixels perhaps", "4 cores yes", "3 cores yes"},
			"A faster disk? ", ""},
	} {
		c.whatIf.GPUs = 1
		v, err := Answer(c.report, c.whatIf, Question{Need: 1200})
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: error %v, want %q", c.name, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var names []string
		for _, x := range v.Changes {
			names = append(names, x.Name+" "+x.Enough)
		}
		begins := func(note string) bool { return strings.HasPrefix(note, c.note) }
		if !slices.Equal(names, c.changes) || c.note != "" && !slices.ContainsFunc(v.Notes, begins) {
			t.Errorf("%s: %q, notes %q; want %q and %q", c.name, names, v.Notes, c.changes, c.note)
		}
	}
}

// Without a question of its own, an answer about a saved report keeps that of the run.
func TestAnswerKeepsTheQuestion(t *testing.T) {
	for _, c := range []struct {
		run, q Question
		rate   float64
		from   string
		gpus   int // that share; 0 for one
	}{
		{Question{Need: 500}, Question{}, 500, "your GPU (--need)", 0},
		{Question{Need: 500, GPUs: 2}, Question{}, 1000, "2 x your GPU (--need)", 2},
		{Question{Need: 500, GPUs: 2}, Question{GPUs: 4}, 2000, "4 x your GPU (--need)", 4},
		{Question{Need: 500, GPUs: 2}, Question{Need: 100}, 100, "your GPU (--need)", 0},
		{Question{Step: 64 * time.Millisecond}, Question{}, 500, "a step of 64ms for 32 images", 0},
		{Question{GPU: "a100"}, Question{GPUs: 8}, 16621, "8 x ResNet-50, A100 80 GB, mixed precision (NVIDIA)", 8},
		{Question{GPUs: 4}, Question{}, 0, "no GPU is found here, and none was named", 4},
	} {
		rep := usualParts.report()
		Conclude(rep, c.run)
		v, err := Answer(rep, WhatIf{}, c.q)
		if err != nil {
			t.Fatal(err)
		}
		gpus := 0
		if v.Share != nil {
			gpus = v.Share.GPUs
		}
		rate := 0.0
		if v.Needs != nil {
			rate = *v.Needs
		}
		if math.Abs(rate-c.rate) > 1e-9*rate || v.NeedsFrom != c.from || gpus != c.gpus {
			t.Errorf("%+v, then %+v: %v images/s for %s, %d GPUs; want %v, %s, %d", c.run, c.q, rate, v.NeedsFrom, gpus,
				c.rate, c.from, c.gpus)
		}
	}
}

// Of several GPUs each gets a share of the cores, and a machine feeds as many as it has cores
// for.
func TestShare(t *testing.T) {
	for _, c := range []struct {
		need float64
		more WhatIf
		fed  int
	}{
		{1200, WhatIf{GPUs: 4}, 0},
		{100, WhatIf{GPUs: 4}, 7},
		{1200, WhatIf{GPUs: 4, Cores: 16}, 5},
		{0, WhatIf{GPUs: 4}, 0},
	} {
		v, err := Answer(usualParts.report(), c.more, Question{Need: c.need, GPUs: c.more.GPUs})
		if err != nil || v.Share == nil {
			t.Fatalf("%+v: %v", c, err)
		}
		if s := v.Share; s.GPUs != 4 || s.Needs != c.need || s.Fed != c.fed || !(s.Lo <= s.Gets && s.Gets <= s.Hi) {
			t.Errorf("need %g, %+v: %+v, want %d fed", c.need, c.more, *s, c.fed)
		}
	}
	rep := usualParts.report()
	if Conclude(rep, Question{Need: 1200, GPUs: 4}); rep.Verdict.Share == nil || rep.Verdict.Share.Needs != 1200 {
		t.Errorf("the verdict's share is %+v", rep.Verdict.Share)
	}
	if Conclude(rep, Question{Need: 1200}); rep.Verdict.Share != nil {
		t.Errorf("one GPU has a share: %+v", rep.Verdict.Share)
	}
	own := results.Result{Suite: "external", Name: "external/loader=mine/workers=2", Status: results.OK,
		Params:  results.Params{{Key: "loader", Value: "mine"}, {Key: "workers", Value: int64(2)}},
		Metrics: []results.Metric{{Name: "throughput", Unit: results.PerSecond, Median: 800, Min: 760, Max: 840}}}
	rep = reportOf(own)
	want := results.GPUShare{GPUs: 4, Gets: 200, Lo: 190, Hi: 210, Needs: 300, Cores: 0.75, Fed: 2,
		Evidence: "equal share"}
	if Conclude(rep, Question{Need: 300, GPUs: 4}); rep.Verdict.Share == nil || *rep.Verdict.Share != want {
		t.Errorf("a loader of the user's: %+v, want %+v", rep.Verdict.Share, want)
	}
}
