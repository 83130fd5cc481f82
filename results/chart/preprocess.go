package chart

import (
	"cmp"
	"slices"
	"strings"

	"dlbench/results"
)

// Strategies of preprocessing.
const (
	online  = "online"
	offline = "offline"
)

// strategies are in the order in which they are shown.
var strategies = []string{online, offline}

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
	measured
}

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
			if r.Suite != "preprocess" || r.Status == results.Skipped || len(r.Assumed) > 0 ||
				r.Status != results.Failed && !has(r, "throughput") {
				continue
			}
			p := results.As[results.PreprocessParams](r.Params)
			n := int64(max(1, p.Threads))
			if n > maxThreads {
				continue
			}
			w := wayOf(i, p)
			o := findOrAdd(&here, wayCases{way: w}, func(o wayCases) bool { return o.way == w })
			if slices.ContainsFunc(o.Cases, func(c wayCase) bool { return c.Threads == n }) {
				continue
			}
			name := results.As[results.PreprocessProof](r.Proof).Decoder
			o.decoder = cmp.Or(o.decoder, clean(name))
			o.Cases = append(o.Cases, wayCase{n, measured{r}})
		}
		for _, o := range here {
			slices.SortFunc(o.Cases, func(a, b wayCase) int { return cmp.Compare(a.Threads, b.Threads) })
		}
		slices.SortStableFunc(here, func(a, b wayCases) int {
			return cmp.Or(compareIn(strategies, a.Strategy, b.Strategy), compareBool(a.Variant != "", b.Variant != ""))
		})
		all = append(all, here...)
	}
	return all
}

func wayOf(report int, p results.PreprocessParams) way {
	w := way{Report: report, Strategy: cmp.Or(clean(p.Strategy), online), Decoder: clean(p.Decoder)}
	var unusual []string
	add := func(v, usual string) {
		if v != "" && v != usual {
			unusual = append(unusual, short(v))
		}
	}
	add(p.Layout, "nhwc")
	add(p.DType, "float32")
	if p.Antialias == "off" {
		unusual = append(unusual, "no antialiasing")
	} else {
		add(p.Antialias, "on")
	}
	w.Variant = strings.Join(unusual, ", ")
	return w
}

// title names the decoder and what is unusual; the strategy where there is no decoder.
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

// group is that of w among the ways of other machines.
func (w wayCases) group(ways []wayCases) barGroup {
	key := w.way
	key.Report = 0
	if w.version(ways) != "" {
		w.decoder = ""
	}
	return barGroup{Title: w.named(), key: key}
}

// version is the decoder of w where that of another machine has another name.
func (w wayCases) version(ways []wayCases) string {
	for _, o := range ways {
		if o.Report, o.decoder = w.Report, cmp.Or(o.decoder, w.decoder); o.way == w.way && o.decoder != w.decoder {
			return results.Clip(w.decoder, maxDevice)
		}
	}
	return ""
}
