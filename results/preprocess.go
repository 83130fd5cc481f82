package results

import (
	"cmp"
	"slices"

	"dlbench/bench/theory"
)

// Values of the preprocess suite's axes that code refers to.
const (
	Online, Offline = "online", "offline"
	NHWC, NCHW      = "nhwc", "nchw"
	On, Off         = "on", "off"
)

// scalingLine is the cases that differ in their threads alone.
type ScalingLine struct {
	Cases []*Result // by threads
	Rates []theory.Rate
}

func (l *ScalingLine) First() *Result { return l.Cases[0] }

// scalingLines groups the cases of the suite.
func ScalingLines(rs []Result) []*ScalingLine {
	var lines []*ScalingLine
	at := map[string]*ScalingLine{}
	for _, r := range Pick(rs, func(r *Result) bool { return r.Suite == "preprocess" && r.Metric("throughput") != nil }) {
		key := r.Params.With("threads", int64(0)).Name("")
		l := at[key]
		if l == nil {
			l = &ScalingLine{}
			at[key] = l
			lines = append(lines, l)
		}
		l.Cases = append(l.Cases, r)
	}
	for _, l := range lines {
		slices.SortStableFunc(l.Cases, func(a, b *Result) int { return cmp.Compare(a.Params.Int("threads"), b.Params.Int("threads")) })
		for _, r := range l.Cases {
			l.Rates = append(l.Rates, RateOf(r, "throughput"))
		}
	}
	return lines
}

func RateOf(r *Result, metric string) theory.Rate {
	m := r.Metric(metric)
	lo, hi := Bounds(m)
	return theory.Rate{Threads: int(r.Params.Int("threads")), Value: m.Median, Lo: lo, Hi: hi}
}

// usualLine is the line of a strategy with the batch as it is by default: the first.
func UsualLine(rs []Result, strategy string) *ScalingLine {
	for _, l := range ScalingLines(rs) {
		if l.First().Params.Text("strategy") == strategy && l.First().Params.Text("clock") == "" {
			return l
		}
	}
	return nil
}

// MostThreads bounds the threads axis.
const MostThreads = 1024
