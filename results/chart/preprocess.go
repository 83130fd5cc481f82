package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dlbench/results"
)

// Strategies of preprocessing, in the order in which they are shown.
const (
	online  = "online"
	offline = "offline"
)

// strategyTexts say what each image costs.
var strategyTexts = map[string]string{
	online:  "each image is read, decoded and resampled when it is needed",
	offline: "each image was preprocessed before, and is read as a tensor",
}

// decoderTitles are the decoders where a result does not name its own.
var decoderTitles = map[string]string{"turbo": "libjpeg-turbo", "go": "Go decoder"}

// way is one way to make images into batches, on one machine.
type way struct {
	Report   int
	Strategy string
	Decoder  string // "" for none
	Variant  string // what is unusual about its output: "nchw, no antialiasing"
}

// wayCases are the results of suite preprocess of one way, by threads.
type wayCases struct {
	way
	decoder string // as the result names it: libjpeg-turbo 2.1.5
	Cases   []wayCase
}

type wayCase struct {
	Threads int64
	Result  *results.Result
}

// Failed tells that the case has no numbers to read.
func (c wayCase) Failed() bool { return c.Result.Status == results.Failed }

// maxThreads bounds what is drawn as a number of threads.
const maxThreads = 1 << 20

// preprocessWays gathers the results of suite preprocess that have a throughput
// and those that failed, by report; online before offline and what is usual
// before variants, else in the order of the results. Of cases that differ in
// other parameters the first counts, which is the plain one. Nothing assumed is
// among them: the suite measures the CPU.
func preprocessWays(reports []*results.Report) []wayCases {
	var all []wayCases
	for i, rep := range reports {
		var here []wayCases
		for j := range rep.Results {
			r := &rep.Results[j]
			n := max(1, r.Params.Int("threads"))
			_, ok := diskPoint(r, "throughput")
			if r.Suite != "preprocess" || r.Status == results.Skipped || r.Status != results.Failed && !ok ||
				len(r.Assumed) > 0 || n > maxThreads {
				continue
			}
			w := wayOf(i, r)
			k := slices.IndexFunc(here, func(o wayCases) bool { return o.way == w })
			if k < 0 {
				k = len(here)
				here = append(here, wayCases{way: w})
			}
			o := &here[k]
			if slices.ContainsFunc(o.Cases, func(c wayCase) bool { return c.Threads == n }) {
				continue
			}
			name := results.As[results.PreprocessProof](r.Proof).Decoder
			o.decoder = cmp.Or(o.decoder, clean(name))
			o.Cases = append(o.Cases, wayCase{n, r})
		}
		for _, o := range here {
			slices.SortFunc(o.Cases, func(a, b wayCase) int { return cmp.Compare(a.Threads, b.Threads) })
		}
		slices.SortStableFunc(here, func(a, b wayCases) int {
			return cmp.Or(cmp.Compare(strategyRank(a.Strategy), strategyRank(b.Strategy)), compareBool(a.Variant != "", b.Variant != ""))
		})
		all = append(all, here...)
	}
	return all
}

// strategyRank orders strategies; unknown ones come last.
func strategyRank(s string) int {
	if i := slices.Index([]string{online, offline}, s); i >= 0 {
		return i
	}
	return 2
}

func wayOf(report int, r *results.Result) way {
	w := way{Report: report, Strategy: cmp.Or(clean(r.Params.Text("strategy")), online), Decoder: clean(r.Params.Text("decoder"))}
	var unusual []string
	for _, p := range []struct{ key, usual, off string }{
		{"layout", "nhwc", ""}, {"dtype", "float32", ""}, {"antialias", "on", "no antialiasing"},
	} {
		switch v := clean(r.Params.Text(p.key)); {
		case v == "" || v == p.usual:
		case v == "off" && p.off != "":
			unusual = append(unusual, p.off)
		default:
			unusual = append(unusual, results.Clip(v, maxDevice))
		}
	}
	w.Variant = strings.Join(unusual, ", ")
	return w
}

// title names the decoder and what is unusual; the strategy where there is neither
// decoder.
func (w wayCases) title() string {
	s := results.Clip(cmp.Or(w.decoder, decoderTitles[w.Decoder], w.Decoder), maxDevice)
	if w.Decoder == "" {
		s = results.Clip(w.Strategy, maxDevice)
	}
	if w.Variant != "" {
		s += ", " + w.Variant
	}
	return s
}

// named is title after the strategy.
func (w wayCases) named() string {
	if w.Decoder == "" {
		return w.title()
	}
	return results.Clip(w.Strategy, maxDevice) + ", " + w.title()
}

// images is the unit of throughput.
var images = unit{"images/s", 1}

// imagesLabel is a round throughput without its unit.
func imagesLabel(v float64) string {
	if v >= 1e7 || v < 1e-3 {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	return thousands(strconv.FormatFloat(v, 'f', -1, 64))
}

// preprocessCaptions are captions with the processor's state in place of the GPUs.
func preprocessCaptions(reports []*results.Report) [][]string {
	all := captions(reports, "float32")
	for i, r := range reports {
		all[i][1] = cpuTitle(r.Host.CPU)
	}
	return all
}

// cpuTitle says what there is of processors and how fast they run: "16 cores with
// 32 threads, 8 usable, 3.1 GHz, governor performance".
func cpuTitle(c results.CPU) string {
	var parts []string
	switch {
	case c.Cores > 0 && c.Threads > c.Cores:
		parts = append(parts, fmt.Sprintf("%d cores with %d threads", c.Cores, c.Threads))
	case c.Cores > 0:
		parts = append(parts, fmt.Sprintf("%d cores", c.Cores))
	case c.Threads > 0:
		parts = append(parts, fmt.Sprintf("%d threads", c.Threads))
	default:
		parts = append(parts, "cores unknown")
	}
	if c.Usable > 0 && c.Usable < float64(max(c.Threads, c.Cores)) {
		parts = append(parts, strconv.FormatFloat(c.Usable, 'g', 3, 64)+" usable")
	}
	if positive(c.Hz) {
		parts = append(parts, strconv.FormatFloat(c.Hz/1e9, 'g', 3, 64)+" GHz")
	}
	if g := clean(c.Governor); g != "" && g != "unknown" {
		parts = append(parts, "governor "+results.Clip(g, maxDevice))
	}
	return strings.Join(parts, ", ")
}
