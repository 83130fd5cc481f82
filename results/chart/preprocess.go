package chart

import (
	"cmp"
	"image/color"
	"math"
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

// method is one method of making images into batches, on one machine.
type method struct {
	Report   int
	Strategy string
	Decoder  string // "" for none
	Variant  string // what is unusual about its output: "nchw, no antialiasing"
}

// methodCases are the results of suite preprocess of one method, by threads.
type methodCases struct {
	method
	decoder string // as the result names it: libjpeg-turbo 2.1.5
	Cases   []methodCase
}

type methodCase struct {
	method
	Threads int
	measured
}

// maxThreads bounds what is drawn as a number of threads.
const maxThreads = 1 << 20

// preprocessMethods gathers the results of suite preprocess that have a throughput
// and those that failed, by report; online before offline and what is usual
// before variants, else in the order of the results. Nothing assumed is
// among them: the suite measures the CPU.
func preprocessMethods(reports []*results.Report) (all []methodCases) {
	cases := casesOf(reports, "preprocess", func(m measured) (c methodCase, ok bool) {
		p := results.As[results.PreprocessParams](m.Result.Params)
		c = methodCase{methodOf(m.report, p), max(1, p.Threads), m}
		return c, len(m.Result.Assumed) == 0 && (m.Failed() || has(m.Result, "throughput")) && c.Threads <= maxThreads
	})
	for _, same := range groups(cases, func(c methodCase) method { return c.method }) {
		w := methodCases{method: same[0].method, Cases: firsts(same, func(c methodCase) int { return c.Threads })}
		for _, c := range w.Cases {
			w.decoder = cmp.Or(w.decoder, clean(results.As[results.PreprocessProof](c.Result.Proof).Decoder))
		}
		slices.SortFunc(w.Cases, func(a, b methodCase) int { return cmp.Compare(a.Threads, b.Threads) })
		all = append(all, w)
	}
	slices.SortStableFunc(all, func(a, b methodCases) int {
		return cmp.Or(cmp.Compare(a.Report, b.Report), compareIn(strategies, a.Strategy, b.Strategy),
			compareBool(a.Variant != "", b.Variant != ""))
	})
	return all
}

func methodOf(report int, p results.PreprocessParams) method {
	w := method{Report: report, Strategy: cmp.Or(clean(p.Strategy), results.Online), Decoder: clean(p.Decoder)}
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

// title names the decoder and what is unusual; the strategy where there is no decoder.
func (w methodCases) title() string {
	s := results.Clip(cmp.Or(w.decoder, decoderTitles[w.Decoder], w.Decoder), maxDevice)
	if w.Decoder == "" {
		s = results.Clip(w.Strategy, maxDevice)
	}
	return results.List(s, w.Variant)
}

// group is that of w among the methods of other machines.
func (w methodCases) group(methods []methodCases) barGroup {
	if w.version(methods) != "" {
		w.decoder = ""
	}
	title := w.title()
	if w.Decoder != "" {
		title = results.Clip(w.Strategy, maxDevice) + ", " + title
	}
	return barGroup{Title: title, key: w.alike()}
}

// alike is w on any machine.
func (w method) alike() method {
	w.Report = 0
	return w
}

// version is the decoder of w where that of another machine has another name.
func (w methodCases) version(methods []methodCases) string {
	for _, o := range methods {
		o.decoder = cmp.Or(o.decoder, w.decoder)
		if o.alike() == w.alike() && o.decoder != w.decoder {
			return results.Clip(w.decoder, maxDevice)
		}
	}
	return ""
}

// strategyColor distinguishes the strategies, blue and vermilion of Okabe and Ito.
var strategyColor = map[string]color.Color{results.Online: seriesColor[0], results.Offline: seriesColor[1]}

// decoderRates has a group for each strategy of one machine, or for each method of making
// images into batches of several machines. There is none of one machine unless there are
// two to compare.
func decoderRates(reports []*results.Report) bars {
	v := bars{
		title:    "Preprocessing with one thread",
		subtitle: "Median, longer is better",
		quantity: throughput,
		captions: captions(reports, cpuText),
	}
	v.compare(reports)
	methods := preprocessMethods(reports)
	rows := 0
	for _, w := range methods {
		c := w.Cases[0]
		if c.Threads != 1 {
			continue
		}
		row, g := rowOf(c.measured, "throughput", throughput), w.group(methods)
		row.Detail = w.version(methods)
		if v.machines == nil {
			row.Detail, g = w.title(), strategyGroup(w.Strategy)
		}
		v.add(g, row)
		rows++
	}
	if v.machines == nil {
		v.ratios()
		if rows < 2 {
			v.Groups = nil
		}
	}
	return v
}

// strategyGroup has the methods of one strategy.
func strategyGroup(strategy string) barGroup {
	g := barGroup{Title: results.Clip(strategy, maxDevice), key: strategy, fill: muted}
	if text, ok := strategyTexts[strategy]; ok {
		g.Title, g.fill = strategy+": "+text, strategyColor[strategy]
	}
	return g
}

// ratios adds to the values of v what they are of the slowest, where there are several.
func (v *bars) ratios() {
	slowest, n := math.Inf(1), 0
	for _, r := range v.rows() {
		if !r.Failed {
			slowest, n = min(slowest, r.Median), n+1
		}
	}
	if n < 2 {
		return
	}
	v.subtitle += "; ×: ratio to the slowest"
	for _, g := range v.Groups {
		for i, r := range g.Rows {
			g.Rows[i].Value += ", " + results.FormatExact(r.Median/slowest, "×")
		}
	}
}

// stages are parts of the work on an image, by their metrics, in the order of the work.
var stages = []part{
	{"read", "read: copied from the store", seriesColor[0]},
	{"decode", "decode: JPEG to pixels", seriesColor[1]},
	{"resample", "resample: cropped, resized and normalised", seriesColor[2]},
	{"collate", "collate: put into the batch", seriesColor[3]},
	{otherStage, "other: in none of these", color.Gray{150}},
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
		captions: captions(reports, cpuText),
		parts:    stages,
	}
	if v.compare(reports); v.machines != nil {
		v.subtitle = "With the fewest threads of each; median, shorter is better"
	}
	methods := preprocessMethods(reports)
	for _, w := range methods {
		rows := stageRows(w)
		if !slices.ContainsFunc(rows, func(r barRow) bool { return !r.Failed }) {
			continue
		}
		g := w.group(methods)
		if v.machines != nil {
			rows = rows[:1]
			if version := w.version(methods); version != "" {
				rows[0].Detail = version + ", " + rows[0].Detail
			}
		}
		for _, r := range rows {
			v.add(g, r)
		}
	}
	return v
}

// stageRows are the rows of w with the fewest threads and the most that have times.
func stageRows(w methodCases) (rows []barRow) {
	for _, c := range w.Cases {
		r := barRow{Machine: w.Report, Detail: results.Plural(c.Threads, "thread"), Failed: c.Failed()}
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
