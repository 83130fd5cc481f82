package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"dlbench/results"
)

// nothing is the parameter free of a pipeline that does all its work.
const nothing = "nothing"

// pipe is a pipeline, apart from the time of its step: what a case of suite
// pipeline loads from, through and to.
type pipe struct {
	Report   int
	Device   string // sim:gen3x16, cuda:0
	Mem      string
	Prefetch string
	Workers  string
	Strategy string // online, offline, tensor
	Free     string // nothing; read+preprocess: parts that take no time
	Disk     string // real; stream100: an assumed one
	Cold     bool   // past the page cache
	DType    string
}

// pipeCase is one result of suite pipeline.
type pipeCase struct {
	pipe
	Step   float64 // s that the device works on a batch, 0 at top speed
	Result *results.Result
}

// Failed tells that the case has no numbers to read.
func (c pipeCase) Failed() bool { return c.Result.Status == results.Failed }

// Assumed tells that a stand-in produced a part of the case.
func (c pipeCase) Assumed() bool { return len(c.Result.Assumed) > 0 }

// pipeCases gathers the results of suite pipeline that keep accepts, in the order
// of the reports, those of one device together. Of cases that differ in other
// parameters the first counts, which is the plain one.
func pipeCases(reports []*results.Report, keep func(pipeCase) bool) []pipeCase {
	var all []pipeCase
	for i, rep := range reports {
		var here []pipeCase
		var devices []string
		for j := range rep.Results {
			r := &rep.Results[j]
			if r.Suite != "pipeline" || r.Status == results.Skipped {
				continue
			}
			c, ok := pipeCaseOf(i, r)
			if !ok || !keep(c) || slices.ContainsFunc(here, func(o pipeCase) bool { return o.pipe == c.pipe && o.Step == c.Step }) {
				continue
			}
			if !slices.Contains(devices, c.Device) {
				devices = append(devices, c.Device)
			}
			here = append(here, c)
		}
		slices.SortStableFunc(here, func(a, b pipeCase) int {
			return cmp.Compare(slices.Index(devices, a.Device), slices.Index(devices, b.Device))
		})
		all = append(all, here...)
	}
	return all
}

// pipeCaseOf reads the parameters of r; ok is false where the step is no time.
func pipeCaseOf(report int, r *results.Result) (c pipeCase, ok bool) {
	text := func(key string) string { return clean(r.Params.Text(key)) }
	step, err := time.ParseDuration(cmp.Or(text("step"), "0s"))
	return pipeCase{
		pipe: pipe{
			Report: report, Device: cmp.Or(text("device"), "unnamed device"), Mem: text("mem"), Prefetch: text("prefetch"), Workers: text("workers"),
			Strategy: text("strategy"), Free: cmp.Or(text("free"), nothing), Disk: cmp.Or(text("disk"), "real"), Cold: text("cache") == "direct", DType: text("dtype"),
		},
		Step:   step.Seconds(),
		Result: r,
	}, err == nil && step >= 0
}

// device names the device and its link in two parts, as charts of copies do.
func (p pipe) device(reports []*results.Report) (device, link string) {
	c := copies{report: p.Report, Spec: p.Device}
	c.Link = linkTitle(&results.Result{Params: results.Params{{Key: "device", Value: p.Device}}})
	device, link = c.title(reports[p.Report])
	if link == "link unknown" {
		link = ""
	}
	return device, link
}

// loads says what p loads batches from, and what of that takes no time.
func (p pipe) loads() []string {
	var parts []string
	if free := strings.Split(p.Free, "+"); slices.Contains(free, "read") && slices.Contains(free, "preprocess") {
		parts = append(parts, "batches ready in memory")
		if slices.Contains(free, "copy") {
			parts = append(parts, "without copies")
		}
	} else {
		parts = append(parts, results.Clip(cmp.Or(p.Strategy, "unnamed strategy"), maxDevice))
		if p.Free != nothing {
			parts = append(parts, results.Clip(p.Free, maxDevice)+" free")
		}
	}
	if p.Disk != "real" {
		parts = append(parts, "assumed disk "+results.Clip(p.Disk, maxDevice))
	}
	if p.Cold {
		parts = append(parts, "past the page cache")
	}
	return parts
}

// ahead says how far loading runs ahead of the step.
func (p pipe) ahead() string {
	if p.Prefetch == "0" {
		return "prefetch 0 (one after the other)"
	}
	return "prefetch " + results.Clip(cmp.Or(p.Prefetch, "unknown"), maxDevice)
}

// pipeTitles names each case within its device: how it loads, its memory and
// prefetch, then what else differs between cases.
func pipeTitles(cases []pipeCase) []string {
	differ := func(of func(pipeCase) string) bool {
		return slices.ContainsFunc(cases, func(c pipeCase) bool { return of(c) != of(cases[0]) })
	}
	workers := func(c pipeCase) string { return c.Workers }
	dtype := func(c pipeCase) string { return c.DType }
	step := func(c pipeCase) string { return stepText(c.Step) }
	var all []string
	for _, c := range cases {
		parts := append(c.loads(), results.Clip(cmp.Or(c.Mem, "unnamed memory"), maxDevice), c.ahead())
		if differ(workers) {
			parts = append(parts, "workers "+results.Clip(c.Workers, maxDevice))
		}
		if differ(dtype) {
			parts = append(parts, results.Clip(c.DType, maxDevice))
		}
		if differ(step) {
			parts = append(parts, step(c))
		}
		all = append(all, strings.Join(parts, ", "))
	}
	return all
}

// stepText says how long the device works on a batch.
func stepText(step float64) string {
	if step == 0 {
		return "no step"
	}
	return "step " + timeLabel(step)
}

// pipeLines names each case for a legend: what pipeTitles says after the device.
func pipeLines(reports []*results.Report, cases []pipeCase) []string {
	all := pipeTitles(cases)
	for i, c := range cases {
		device, link := c.device(reports)
		if link != "" {
			device += ", " + link
		}
		all[i] = device + ", " + all[i]
	}
	return all
}

// assumedParts lists what stand-ins produced in any of the cases: link, step, disk.
func assumedParts(cases []pipeCase) (have []string) {
	for _, part := range []string{"link", "step", "disk"} {
		if slices.ContainsFunc(cases, func(c pipeCase) bool { return slices.Contains(c.Result.Assumed, part) }) {
			have = append(have, part)
		}
	}
	if have == nil {
		return []string{"parts"}
	}
	return have
}

// inWords lists words.
func inWords(words []string) string {
	n := len(words)
	if n < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
}

// assumedTitle ends the title of a chart of cases, of which mark tells the assumed.
func assumedTitle(cases []pipeCase, mark string) string {
	assumed := slices.ContainsFunc(cases, pipeCase.Assumed)
	measured := slices.ContainsFunc(cases, func(c pipeCase) bool { return !c.Assumed() })
	switch {
	case assumed && measured:
		return fmt.Sprintf(", assumed %s where %s", inWords(assumedParts(cases)), mark)
	case assumed:
		return ", assumed " + inWords(assumedParts(cases))
	}
	return ""
}

// assumedText is what the legend says of assumed cases.
func assumedText(cases []pipeCase) string {
	return "assumed " + inWords(assumedParts(cases)) + ": paced stand-ins, not a measurement"
}

// pipeCaptions are captions with the batch in the report's own type.
func pipeCaptions(reports []*results.Report) [][]string {
	all := make([][]string, len(reports))
	for i, r := range reports {
		all[i] = captions(reports, cmp.Or(clean(r.Config.DType), "float32"))[i]
	}
	return all
}
