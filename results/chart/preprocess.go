package chart

import (
	"cmp"
	"slices"
	"strings"

	"dlbench/results"
)

// strategies are in the order in which they are shown.
var strategies = []string{results.Online, results.Offline}

// strategyTexts say what each image costs.
var strategyTexts = map[string]string{
	results.Online:  "each image is read, decoded and resampled when it is needed",
	results.Offline: "each image was preprocessed before, and is read as a tensor",
}

// decoderTitles are the decoders where a result does not name its own.
var decoderTitles = map[string]string{"turbo": "libjpeg-turbo", "go": "Go decoder"}

// method is one method of making images into batches.
type method struct {
	Strategy string
	Decoder  string // "" for none
	Variant  string // what is unusual about its output: "nchw, no antialiasing"
}

// methodCase is one result of suite preprocess.
type methodCase struct {
	method
	Threads int
	measured
}

// maxThreads bounds what is drawn as a number of threads.
const maxThreads = 1 << 20

// preprocessMethods gathers the results of suite preprocess that have a throughput
// and those that failed, by report and method in ascending threads; online before offline
// and what is usual before variants, else in the order of the results. Nothing simulated is
// among them: the suite measures the CPU.
func preprocessMethods(reports []*results.Report) (all [][]methodCase) {
	cases := casesOf(reports, "preprocess", func(m measured) (c methodCase, ok bool) {
		p := results.As[results.PreprocessParams](m.Result.Params)
		c = methodCase{methodOf(p), max(1, p.Threads), m}
		return c, len(m.Result.Assumed) == 0 && (m.Failed() || has(m.Result, "throughput")) && c.Threads <= maxThreads
	})
	type key struct {
		report int
		method
	}
	for _, same := range groups(cases, func(c methodCase) key { return key{c.report, c.method} }) {
		same = firsts(same, func(c methodCase) int { return c.Threads })
		slices.SortFunc(same, func(a, b methodCase) int { return cmp.Compare(a.Threads, b.Threads) })
		all = append(all, same)
	}
	slices.SortStableFunc(all, func(x, y []methodCase) int {
		a, b := x[0], y[0]
		return cmp.Or(cmp.Compare(a.report, b.report), compareIn(strategies, a.Strategy, b.Strategy),
			compareBool(a.Variant != "", b.Variant != ""))
	})
	return all
}

func methodOf(p results.PreprocessParams) method {
	w := method{Strategy: cmp.Or(clean(p.Strategy), results.Online), Decoder: clean(p.Decoder)}
	var unusual []string
	add := func(v, usual string) {
		if v != "" && v != usual {
			unusual = append(unusual, short(v))
		}
	}
	add(p.Layout, results.NHWC)
	add(p.DType, "float32")
	if p.Antialias == results.Off {
		unusual = append(unusual, "no antialiasing")
	} else {
		add(p.Antialias, results.On)
	}
	w.Variant = strings.Join(unusual, ", ")
	return w
}

// title names the decoder, as its result does or in general, and what is unusual; the
// strategy where there is no decoder.
func (c methodCase) title() string {
	own := clean(results.As[results.PreprocessProof](c.Result.Proof).Decoder)
	return c.named(cmp.Or(own, decoderTitles[c.Decoder]))
}

// named is w with that name of its decoder.
func (w method) named(decoder string) string {
	if w.Decoder == "" {
		decoder = w.Strategy
	}
	return results.List(results.Clip(cmp.Or(decoder, w.Decoder), maxDevice), w.Variant)
}

// group is that of w on any machine.
func (w method) group() barGroup {
	title := w.named(decoderTitles[w.Decoder])
	if w.Decoder != "" {
		title = results.Clip(w.Strategy, maxDevice) + ", " + title
	}
	return barGroup{Title: title, key: w}
}

// stages are parts of the work on an image, by their metrics, in the order of the work.
var stages = []part{
	{"read", "read: copied from the store", partColor["read"]},
	{"decode", "decode: JPEG to pixels", partColor["decode"]},
	{"resample", "resample: cropped, resized and normalised", partColor["resample"]},
	{"collate", "collate: put into the batch", partColor["collate"]},
	{otherStage, "other: in none of these", partColor[otherStage]},
}

// otherStage is the processor time that no stage accounts for.
const otherStage = "other"

// otherFrom is the share of the processor time from which what no stage accounts
// for is worth showing.
const otherFrom = 0.01

// stageTimes has a group for each method of making images into batches, with the fewest and
// the most threads; of several machines with the fewest threads of each.
func stageTimes(reports []*results.Report) bars {
	v := bars{
		title:    "Processor time for one image, by stage",
		subtitle: "All threads together, with the fewest and the most threads; median, shorter is better",
		quantity: quantity{"processor time per image", results.Seconds},
		captions: captions(reports),
		parts:    stages,
	}
	if v.compare(reports); v.machines != nil {
		v.subtitle = "With the fewest threads of each; median, shorter is better"
	}
	for _, same := range preprocessMethods(reports) {
		rows := stageRows(same)
		if v.machines != nil {
			rows = rows[:min(len(rows), 1)]
		}
		for _, r := range rows {
			v.add(same[0].group(), r)
		}
	}
	return v
}

// stageRows are the rows of a method with the fewest threads and the most that have times.
func stageRows(cases []methodCase) (rows []barRow) {
	for _, c := range cases {
		r := barRow{Machine: c.report, Detail: results.Plural(c.Threads, "thread"), Failed: c.Failed()}
		if !r.Failed {
			p, _ := pointOf(c.Result, "throughput")
			r.Parts = stagesOf(c.Result)
			for _, t := range r.Parts {
				r.Median += t
			}
			if r.Median == 0 {
				continue
			}
			r.Value = results.FormatValue(r.Median, results.Seconds) + ", " + throughput.value(p.Median)
		}
		rows = append(rows[:min(len(rows), 1)], r) // the first and the last so far
	}
	return rows
}

// stagesOf reads the times of the stages, 0 for those that a method does not have,
// and as the last the rest of the processor time.
func stagesOf(r *results.Result) []float64 {
	times := make([]float64, len(stages))
	var sum float64
	for i, s := range stages {
		if p, ok := pointOf(r, s.name); ok && s.name != otherStage {
			times[i] = p.Median
			sum += p.Median
		}
	}
	if p, ok := pointOf(r, "cpu"); ok && p.Median-sum > otherFrom*p.Median {
		times[len(times)-1] = p.Median - sum
	}
	return times
}
