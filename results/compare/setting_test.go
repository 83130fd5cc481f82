package compare

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"dlbench/results"
)

// rates is a report of cases with a throughput: "preprocess threads=1 decoder=turbo 599".
func rates(seed uint64, cases ...string) *results.Report {
	r := report()
	for i, text := range cases {
		words := strings.Fields(text)
		var ps results.Params
		for _, word := range words[1 : len(words)-1] {
			key, value, _ := strings.Cut(word, "=")
			ps = append(ps, results.Param{Key: key, Value: value})
		}
		res := newResult(words[0], ps)
		rate, _ := strconv.ParseFloat(words[len(words)-1], 64)
		m := quietMachine(seed+uint64(i), 0).time(rate)
		m.Name, m.Unit, m.Better = "throughput", results.PerSecond, results.Higher
		res.Metrics = []results.Metric{m}
		r.Results = append(r.Results, res)
	}
	return r
}

// Reports that differ in one setting are joined over it, and the last line says what it did.
func TestSetting(t *testing.T) {
	turbo := []string{"preprocess threads=1 decoder=turbo 599", "preprocess threads=1 strategy=offline 5000"}
	goDecoder := []string{"preprocess threads=1 decoder=go 133", "preprocess threads=1 strategy=offline 5000"}
	of := func(lists ...[]string) (all []*results.Report) {
		for k, list := range lists {
			all = append(all, rates(uint64(10*k), list...))
		}
		return labelled(all...)
	}
	synthetic := &results.Dataset{Store: "files", Images: 160, Seed: 1}
	with := func(all []*results.Report, change func(*results.Report)) []*results.Report {
		all[0].Dataset, all[1].Dataset = synthetic, synthetic
		change(all[1])
		return all
	}
	threads := func(n, rate string) []string { return []string{"preprocess threads=" + n + " " + rate} }
	for _, c := range []struct {
		name    string
		reports []*results.Report
		want    string // how the sentence begins, and how it ends; "" for none
		cases   int    // that are joined
	}{
		{"a parameter", of(turbo, goDecoder), "decoder go instead of turbo: ", 2},
		{"the case with the setting", of([]string{"preprocess decoder=turbo 599", "pipeline 900"},
			[]string{"preprocess decoder=go 133", "pipeline 900"}),
			"decoder go instead of turbo: 599 -> 133 images/s (x0.2...), worse (suite preprocess)", 2},
		{"three values", of(threads("1", "599"), threads("2", "900"), threads("4", "900")), "threads 2, 4 instead of 1: ", 1},
		{"a value that both have besides", of([]string{"pipeline step=0s 900", "pipeline step=216ms 133"},
			[]string{"pipeline step=0s 900", "pipeline step=100ms 599"}),
			"step 100ms instead of 216ms: ", 2},
		{"a loader", of([]string{"external loader=dlbench workers=2 900"}, []string{"external loader=dlbench workers=1 133"}),
			"workers 1 instead of 2: ", 1},
		{"bytes follow from the element type", with(of([]string{"pcie bytes=1000 599", "pipeline dtype=float32 599"},
			[]string{"pcie bytes=250 900", "pipeline dtype=uint8 900"}), func(r *results.Report) { r.Config.DType = "uint8" }),
			"dtype uint8 instead of ", 2},
		{"what was asked for, not a case", with(of(turbo, turbo), func(r *results.Report) { r.Config.Batch = 64 }),
			"batch 64 instead of unknown: ", 2},
		{"as many synthetic images as batches take", with(of(turbo, turbo), func(r *results.Report) {
			r.Config.Batch = 64
			r.Dataset = &results.Dataset{Store: "files", Images: 128, Seed: 1}
		}), "batch 64 instead of unknown: ", 2},
		{"a batch and other images", with(of(turbo, turbo), func(r *results.Report) {
			r.Config.Batch = 64
			r.Dataset = &results.Dataset{Store: "files", Images: 128}
		}), "", 2},
		{"another suite's cases keep their values",
			of([]string{"pipeline dtype=float32 599", "preprocess dtype=float32 599", "preprocess dtype=uint8 900"},
				[]string{"pipeline dtype=uint8 900", "preprocess dtype=float32 599", "preprocess dtype=uint8 900"}),
			"dtype uint8 instead of float32: ", 3},
		{"nothing", of(turbo, turbo), "", 2},
		{"two parameters", of(turbo, []string{"preprocess threads=2 decoder=go 133", turbo[1]}), "", 1},
		{"another machine", with(of(turbo, goDecoder), func(r *results.Report) { r.Host.CPU.Model = "another" }), "", 1},
	} {
		cmp, err := Reports(c.reports, Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		text := ""
		if s := cmp.Setting; s != nil {
			if text = s.Text; s.Metric != "throughput" || !strings.HasSuffix(text, " (suite "+s.Suite+")") {
				t.Errorf("%s: %+v", c.name, s)
			}
		}
		begin, end, _ := strings.Cut(c.want, "...")
		if !strings.HasPrefix(text, begin) || !strings.HasSuffix(text, end) || c.want == "" && text != "" || len(cmp.Cases) != c.cases {
			t.Errorf("%s: %d cases joined, %q; want %d and %q", c.name, len(cmp.Cases), text, c.cases, c.want)
		}
		var b strings.Builder
		if err := cmp.Text(&b, 0); err != nil || !strings.HasSuffix(b.String(), results.Plain(text)+"\n") && text != "" {
			t.Errorf("%s: %v, the sentence is not the last line of\n%s", c.name, err, b.String())
		}
	}
}

// Without a setting, too, the last line says how the case came out that tells most, that of the user's loader first.
func TestAnswer(t *testing.T) {
	with := func(seed uint64, deviation, mine float64) *results.Report {
		r := rates(seed, "pipeline 900", "external loader=dlbench 800", "external loader=mine 150")
		m := &r.Results[2].Metrics[0]
		noisy := quietMachine(seed, 0)
		noisy.within = deviation
		m.Samples = noisy.time(mine).Samples
		results.Summarize(m, results.SummaryOptions{})
		return r
	}
	simulated := func(cases ...string) *results.Report {
		r := rates(7, cases...)
		r.Results[0].Assumed = []string{"link"}
		return r
	}
	for _, c := range []struct{ name, got, want string }{
		{"measured first", compared(t, simulated("pipeline 900", "pipeline free=read 9000", "disk 600"),
			simulated("pipeline 950", "pipeline free=read 9000", "disk 600")).Answer,
			`^same: disk 6\d\d -> 6\d\d images/s \(-0.\d to \+0.\d %\)$`},
		{"simulated", compared(t, simulated("pipeline 900"), simulated("pipeline 950")).Answer,
			`^better, simulated: pipeline 9\d\d -> 9\d\d images/s; simulated values are compared without a test$`},
		{"noise", compared(t, with(1, 0.2, 150), with(2, 0.2, 150)).Answer,
			`^cannot tell: mine 1\d\d -> 1\d\d images/s \(-\d+ to \+\d+ %\); repeat with --repeat 5$`},
		{"slower", compared(t, with(1, 0.004, 150), with(2, 0.004, 100)).Answer,
			`^worse: mine 15\d -> 10\d images/s \(-3\d to -3\d %\)$`},
		{"the same", compared(t, with(1, 0.004, 150), with(2, 0.004, 150)).Answer, `^same: mine 15\d -> 15\d images/s \(-0.`},
		{"three", compared(t, with(1, 0.004, 150), with(2, 0.004, 150), with(3, 0.004, 200)).Answer,
			`^b: same: mine .*; c: better: mine 15\d -> 20\d images/s \(\+3\d to \+3\d %\)$`},
	} {
		if !regexp.MustCompile(c.want).MatchString(c.got) {
			t.Errorf("%s: %q, want %s", c.name, c.got, c.want)
		}
	}
}

// A picture shows a setting's values beside each other, called so, and nothing else changes.
func TestJoined(t *testing.T) {
	all := labelled(rates(1, "preprocess decoder=turbo 599"), rates(5, "preprocess decoder=go 133"))
	for i, r := range Joined(all) {
		want := []string{"a, decoder turbo", "b, decoder go"}[i]
		if r.Label != want || r.Results[0].Params.Text("decoder") != "turbo or go" ||
			all[i].Results[0].Params.Text("decoder") == "turbo or go" {
			t.Errorf("%s has %v, want %s", r.Label, r.Results[0].Params, want)
		}
	}
	other := labelled(rates(1, "pcie mem=pinned 599"), rates(5, "pcie mem=pageable 133"))
	if got := Joined(other); got[0].Label != "a" || got[1].Results[0].Params.Text("mem") != "pageable" {
		t.Errorf("memory has colours of its own: %+v", got[1].Results[0])
	}
}
