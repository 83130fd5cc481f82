package chart

import (
	"slices"

	"dlbench/results"
)

// stepTimes are the times from one step to the next, in seconds, of pipelines with
// a device that works.
type stepTimes struct {
	Groups  []stepGroup
	cases   []pipeCase
	reports []*results.Report
}

// stepGroup is one device of one machine.
type stepGroup struct {
	Title []string // lines
	Bars  []stepBar
}

// stepBar is one case: Compute + Wait + Rest is the median of the step time.
type stepBar struct {
	Title string
	point
	Compute     float64 // the device works
	Wait        float64 // it stands still, and the loop waited that long for a batch
	Rest        float64 // it stands still else: copy, launch; all of it where waits are unknown
	Utilisation float64 // 0..1, 0 unknown
	Failed      bool    // no bar, but a row that says so
	Assumed     bool
}

// maxSteps is how many bars one chart shows; more go to another.
const maxSteps = 10

// stepTimesOf extracts the charts' data: one element, more for more than maxSteps
// cases, none without one that did not fail.
func stepTimesOf(reports []*results.Report) []stepTimes {
	cases := pipeCases(reports, func(c pipeCase) bool {
		_, ok := diskPoint(c.Result, "step_time")
		return c.Step > 0 && (ok || c.Failed())
	})
	if !slices.ContainsFunc(cases, func(c pipeCase) bool { return !c.Failed() }) {
		return nil
	}
	titles := pipeTitles(cases)
	var all []stepTimes
	for len(cases) > 0 {
		n := min(len(cases), maxSteps)
		d := stepTimes{cases: cases[:n], reports: reports}
		for i, c := range d.cases {
			if i == 0 || c.Report != cases[i-1].Report || c.Device != cases[i-1].Device {
				d.Groups = append(d.Groups, stepGroup{Title: c.head(reports)})
			}
			g := &d.Groups[len(d.Groups)-1]
			g.Bars = append(g.Bars, stepBarOf(c, titles[i]))
		}
		all = append(all, d)
		cases, titles = cases[n:], titles[n:]
	}
	return all
}

// head is the title of a group: device and link.
func (c pipeCase) head(reports []*results.Report) []string {
	device, link := c.device(reports)
	title := []string{device}
	if link != "" {
		title = append(title, link)
	}
	return title
}

func stepBarOf(c pipeCase, title string) stepBar {
	b := stepBar{Title: title, Failed: c.Failed(), Assumed: c.Assumed()}
	if b.Failed {
		return b
	}
	b.point, _ = diskPoint(c.Result, "step_time")
	b.Compute = min(c.Step, b.Median)
	b.Rest = b.Median - b.Compute
	if m := c.Result.Metric("wait"); m != nil && m.Median > 0 {
		b.Wait = min(m.Median, b.Rest)
		b.Rest -= b.Wait
	}
	if m := c.Result.Metric("utilisation"); m != nil && m.Median >= 0 && m.Median <= 1.001 {
		b.Utilisation = min(m.Median, 1)
	}
	return b
}

// longest is the longest time that is drawn.
func (d stepTimes) longest() (most float64) {
	for _, g := range d.Groups {
		for _, b := range g.Bars {
			most = max(most, b.Median, b.Spread.Hi)
		}
	}
	return most
}

func (d stepTimes) any(f func(stepBar) bool) bool {
	return slices.ContainsFunc(d.Groups, func(g stepGroup) bool { return slices.ContainsFunc(g.Bars, f) })
}
