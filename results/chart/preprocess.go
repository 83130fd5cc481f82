package chart

import (
	"cmp"
	"slices"
	"strings"

	"dlbench/results"
)

// strategyTexts say what each image costs.
var strategyTexts = map[string]string{
	results.Online:  "each image is read, decoded and resampled when it is needed",
	results.Offline: "each image was preprocessed before, and is read as a tensor",
}

// decoderTitles are decoders as people know them.
var decoderTitles = map[string]string{"turbo": "libjpeg-turbo", "go": "Go decoder"}

// method is one method of making images into batches.
type method struct {
	Strategy string
	Decoder  string // "" for none
	Variant  string // what is unusual about its output: "nchw, no antialiasing"
	Threads  int
}

// methodCase is one result of suite preprocess.
type methodCase struct {
	method
	measured
}

// maxThreads bounds what is drawn as a number of threads.
const maxThreads = 1 << 20

// preprocessMethods gathers the results of suite preprocess that have a throughput
// and those that failed, by report and method in ascending threads; online before offline
// and what is usual before variants, else in the order of the results. Nothing simulated is
// among them: the suite measures the CPU.
func preprocessMethods(reports []*results.Report) [][]methodCase {
	cases := casesOf(reports, "preprocess", func(m measured) (methodCase, any, bool) {
		c := methodCase{methodOf(results.As[results.PreprocessParams](m.Result.Params)), m}
		return c, c.method, len(m.Result.Assumed) == 0 && m.has("throughput") && c.Threads <= maxThreads
	})
	slices.SortStableFunc(cases, func(a, b methodCase) int {
		return cmp.Or(cmp.Compare(a.report, b.report),
			compareIn([]string{results.Online, results.Offline}, a.Strategy, b.Strategy),
			cmp.Compare(a.Variant, b.Variant), cmp.Compare(a.Threads, b.Threads))
	})
	return results.Grouped(cases, func(c methodCase) any { return [3]any{c.report, c.Strategy, c.title()} })
}

func methodOf(p results.PreprocessParams) method {
	unusual := func(v, usual string) string { return strings.TrimPrefix(short(v), usual) }
	antialias := map[string]string{results.Off: "no antialiasing"}[p.Antialias]
	return method{cmp.Or(short(p.Strategy), results.Online), short(p.Decoder),
		results.List(unusual(p.Layout, results.NHWC), unusual(p.DType, "float32"), antialias), max(1, p.Threads)}
}

// title names the decoder, or the strategy where there is none, and what is unusual.
func (w method) title() string {
	return results.List(cmp.Or(decoderTitles[w.Decoder], w.Decoder, w.Strategy), w.Variant)
}

// otherStage is the CPU time that no stage accounts for, worth showing from a share of otherFrom.
const otherStage, otherFrom = "other", 0.01

// stages are parts of the work on an image, by their metrics, in the order of the work.
var stages = []part{
	{"read", "read: copied from the store", partColor["read"]},
	{"decode", "decode: JPEG to pixels", partColor["decode"]},
	{"resample", "resample: cropped, resized and normalised", partColor["resample"]},
	{"collate", "collate: put into the batch", partColor["collate"]},
	{otherStage, "other: in none of these", partColor[otherStage]},
}

// stageTimes has a group for each method of making images into batches, with the fewest and
// the most threads; of several machines with the fewest threads of each.
func stageTimes(reports []*results.Report) []picture {
	v := bars{
		title:    "Thread time for one image, by stage",
		subtitle: "All threads together, with the fewest and the most threads; median, shorter is better",
		quantity: quantity{"thread time per image", results.Seconds},
		reports:  reports,
		parts:    stages,
	}
	most := 2
	if v.several() {
		most, v.subtitle = 1, "With the fewest threads of each; median, shorter is better"
	}
	for _, same := range preprocessMethods(reports) {
		title := same[0].title()
		if same[0].Decoder != "" {
			title = same[0].Strategy + ", " + title
		}
		same = slices.DeleteFunc(same, func(c methodCase) bool {
			_, sum := c.stages()
			return !c.Failed() && sum == 0
		})
		for i, c := range same {
			if i == 0 || i == len(same)-1 && most > 1 {
				v.add(title, "", results.Plural(c.Threads, "thread"), c.row())
			}
		}
	}
	return v.pictures()
}

// row is the thread time of c.
func (c methodCase) row() barRow {
	r := rowOf(c.measured, "throughput", throughput)
	if !r.Failed {
		r.point = point{}
		r.Parts, r.Median = c.stages()
		r.Value = results.FormatValue(r.Median, results.Seconds) + ", " + r.Value
	}
	return r
}

// stages reads the times of the stages, 0 for those that a method does not have, and as the
// last the rest of the CPU time, and what they add up to.
func (c methodCase) stages() (times []float64, sum float64) {
	times = make([]float64, len(stages))
	for i, s := range stages {
		if p, ok := pointOf(c.Result, s.name); ok && s.name != otherStage {
			times[i] = p.Median
			sum += p.Median
		}
	}
	if p, ok := pointOf(c.Result, "cpu"); ok && p.Median-sum > otherFrom*p.Median {
		times[len(times)-1], sum = p.Median-sum, p.Median
	}
	return times, sum
}
