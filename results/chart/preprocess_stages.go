package chart

import (
	"fmt"
	"image/color"
	"slices"

	"dlbench/results"
)

// stage is a part of the work on an image, by its metric.
type stage struct {
	name, text string
	color      color.Color
}

// stages are in the order of the work; colours are Okabe and Ito's.
var stages = []stage{
	{"read", "copied from the store", color.RGBA{0x00, 0x72, 0xB2, 255}},
	{"decode", "JPEG to pixels", color.RGBA{0xD5, 0x5E, 0x00, 255}},
	{"resample", "cropped, resized and normalised", color.RGBA{0x00, 0x9E, 0x73, 255}},
	{"collate", "put into the batch", color.RGBA{0xCC, 0x79, 0xA7, 255}},
	{otherStage, "in none of these", color.Gray{150}},
}

// otherStage is the processor time that no stage accounts for.
const otherStage = "other"

// otherFrom is the share of the processor time from which what no stage accounts
// for is worth showing.
const otherFrom = 0.01

// stageTimes are processor times of one image by stage, in seconds.
type stageTimes struct {
	Groups  []stageGroup
	reports []*results.Report
}

// stageGroup is one way.
type stageGroup struct {
	Title []string // lines
	Bars  []stageBar
}

// stageBar is one number of threads.
type stageBar struct {
	Threads int64
	Times   []float64 // as stages
	Rate    float64   // images per second
	Failed  bool
}

// total is the processor time of an image.
func (b stageBar) total() (sum float64) {
	for _, t := range b.Times {
		sum += t
	}
	return sum
}

// stageTimesOf extracts the charts' data: one element, more for more than maxGroups
// groups.
func stageTimesOf(reports []*results.Report) []stageTimes {
	var groups []stageGroup
	for _, w := range preprocessWays(reports) {
		if g, ok := stageGroupOf(w); ok {
			groups = append(groups, g)
		}
	}
	var all []stageTimes
	for part := range slices.Chunk(groups, maxGroups) {
		all = append(all, stageTimes{part, reports})
	}
	return all
}

// stageGroupOf takes of w the fewest threads and the most; ok is false unless one of
// them has times.
func stageGroupOf(w wayCases) (g stageGroup, ok bool) {
	for _, c := range w.Cases {
		b := stageBar{Threads: c.Threads, Failed: c.Failed()}
		if !b.Failed {
			p, _ := diskPoint(c.Result, "throughput")
			b.Rate, b.Times = p.Median, stagesOf(c.Result)
			if b.total() == 0 {
				continue
			}
		}
		g.Bars = append(g.Bars[:min(len(g.Bars), 1)], b) // the first and the last so far
	}
	g.Title = []string{w.named()}
	return g, slices.ContainsFunc(g.Bars, func(b stageBar) bool { return !b.Failed })
}

// stagesOf reads the times of the stages, 0 for those that a way does not have,
// and as the last the rest of the processor time.
func stagesOf(r *results.Result) []float64 {
	times := make([]float64, len(stages))
	var sum float64
	for i, s := range stages {
		if p, ok := diskPoint(r, s.name); ok && s.name != otherStage {
			times[i] = p.Median
			sum += p.Median
		}
	}
	if p, ok := diskPoint(r, "cpu"); ok && p.Median-sum > otherFrom*p.Median {
		times[len(times)-1] = p.Median - sum
	}
	return times
}

// threadsText is a number of threads in words.
func threadsText(n int64) string {
	if n == 1 {
		return "1 thread"
	}
	return thousands(fmt.Sprint(n)) + " threads"
}
