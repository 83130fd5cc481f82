// Package chart draws pictures from reports: PNG for reading, SVG for pages.
//
// A chart is made in two steps. Extraction turns reports into plain data and
// is exact; drawing turns the data into a figure: title, legend, axes, caption.
// A chart of measured and simulated values shows which is which, in its title, its legend
// and by hollow marks. One report is the case of a comparison with one machine. Text that
// comes from a report may hold anything and is made safe to draw.
package chart

import (
	"fmt"
	"io"

	"dlbench/results"
)

// MaxReports is the number of reports that one set of charts can compare.
const MaxReports = 8

// kinds are in the order in which a reader wants them. A new chart is a file of its own and
// a line here.
var kinds = []kind{
	{name: "pipeline-time", charts: ofBars(single(batchParts))},     // where a batch's time goes, and what the GPU needs
	{name: "verdict-whatifs", charts: ofBars(single(whatIfs))},      // what changes would bring
	{name: "preprocess-scaling", charts: ofLines(scalingLines)},     // what more threads bring
	{name: "loaders", charts: ofBars(single(loaders))},              // the user's own and dlbench's
	{"pcie-batch-time", ofBars(allBatchTimes), true},                // the time that one batch takes over each link
	{"pcie-bandwidth-size", ofLines(sweeps), true},                  // how bandwidth grows with the size of a copy
	{"disk-batch-time", ofBars(single(diskTimes)), true},            // the time that one batch takes from each store
	{"disk-readers", ofLines(diskReaders), true},                    // what more readers bring
	{"disk-latency", ofLines(diskLatencies), true},                  // how the times of single reads are distributed
	{name: "preprocess-stages", charts: ofBars(single(stageTimes))}, // what an image costs
	{"pipeline-step-time", ofBars(single(stepTimes)), true},         // how much of a step the GPU works
	{name: "pipeline-feed", charts: ofBars(allFeeds)},               // top speed of loaders, and what GPUs need
	{name: "verdict-predictions", charts: ofLines(predictionLines)}, // compared with what was measured
}

// kind makes the charts of one name from one report, or those that compare several
// machines, none when there is no data for them.
type kind struct {
	name   string
	charts func([]*results.Report) []Chart
	paced  bool // what is simulated of it is what it shows
}

func ofLines(extract func([]*results.Report) []lines) func([]*results.Report) []Chart {
	return func(reports []*results.Report) (all []Chart) {
		for _, d := range extract(reports) {
			_, n, of := d.simulated()
			all = append(all, Chart{Title: d.figure().title, Simulated: 2*n > of, figure: d.figure})
		}
		return all
	}
}

func ofBars(extract func([]*results.Report) []bars) func([]*results.Report) []Chart {
	return func(reports []*results.Report) (all []Chart) {
		for _, v := range extract(reports) {
			if len(v.worked()) > 1 { // one bar is no chart
				_, n, of := v.simulated()
				all = append(all, Chart{Title: v.figure().title, Simulated: 2*n > of, figure: v.figure})
			}
		}
		return all
	}
}

// single is extract where there is one of its kind.
func single(extract func([]*results.Report) bars) func([]*results.Report) []bars {
	return func(reports []*results.Report) []bars { return []bars{extract(reports)} }
}

// Chart is one picture, not drawn yet.
type Chart struct {
	Name      string // of the file, without extension: pcie-batch-time
	Title     string
	Simulated bool // most of what it shows, as its title says
	figure    func() *figure
}

// Charts returns every chart that the reports have data for; there are up to MaxReports.
// Those of one report show its cases against each other; those of several show machines
// against each other, each in the colour and with the marker of its report in every
// chart. Charts are the same for the same reports.
func Charts(reports []*results.Report) []Chart {
	var all []Chart
	if len(reports) == 0 {
		return nil
	}
	for _, k := range kinds {
		for i, c := range k.charts(reports) {
			c.Simulated = c.Simulated && k.paced
			if c.Name = k.name; i > 0 {
				c.Name = fmt.Sprintf("%s-%d", k.name, i+1)
			}
			all = append(all, c)
		}
	}
	return all
}

// Formats of a picture.
const (
	PNG = "png"
	SVG = "svg"
)

// Write draws c to w as a PNG or an SVG.
func (c Chart) Write(w io.Writer, format string) error {
	write := map[string]func(*figure, io.Writer) error{PNG: (*figure).writePNG, SVG: (*figure).writeSVG}[format]
	if write == nil {
		return fmt.Errorf("chart %s: format %q: want %s or %s", c.Name, format, PNG, SVG)
	}
	if err := write(c.figure(), w); err != nil {
		return fmt.Errorf("chart %s: %w", c.Name, err)
	}
	return nil
}
