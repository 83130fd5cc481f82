package bench

import (
	"cmp"
	"dlbench/bench/theory"
	"dlbench/results"
	"slices"
)

// Values of the preprocess suite's axes that code refers to.
const (
	online, offline = "online", "offline"
	nhwc, nchw      = "nhwc", "nchw"
	on, off         = "on", "off"
)

// scalingLine is the cases that differ in their threads alone.
type scalingLine struct {
	cases []*results.Result // by threads
	rates []theory.Rate
}

func (l *scalingLine) first() *results.Result { return l.cases[0] }

// scalingLines groups the cases of the suite.
func scalingLines(rs []results.Result) []*scalingLine {
	var lines []*scalingLine
	at := map[string]*scalingLine{}
	for _, r := range pick(rs, func(r *results.Result) bool { return r.Suite == "preprocess" && r.Metric("throughput") != nil }) {
		key := r.Params.With("threads", int64(0)).Name("")
		l := at[key]
		if l == nil {
			l = &scalingLine{}
			at[key] = l
			lines = append(lines, l)
		}
		l.cases = append(l.cases, r)
	}
	for _, l := range lines {
		slices.SortStableFunc(l.cases, func(a, b *results.Result) int { return cmp.Compare(a.Params.Int("threads"), b.Params.Int("threads")) })
		for _, r := range l.cases {
			l.rates = append(l.rates, rateOf(r, "throughput"))
		}
	}
	return lines
}

func rateOf(r *results.Result, metric string) theory.Rate {
	m := r.Metric(metric)
	lo, hi := bounds(m)
	return theory.Rate{Threads: int(r.Params.Int("threads")), Value: m.Median, Lo: lo, Hi: hi}
}

// usualLine is the line of a strategy with the batch as it is by default: the first.
func usualLine(rs []results.Result, strategy string) *scalingLine {
	for _, l := range scalingLines(rs) {
		if l.first().Params.Text("strategy") == strategy && l.first().Params.Text("clock") == "" {
			return l
		}
	}
	return nil
}

// MostThreads bounds the threads axis.
const MostThreads = 1024
