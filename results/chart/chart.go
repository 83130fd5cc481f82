// Package chart draws pictures from reports: PNG for reading, SVG for pages.
//
// A chart is made in two steps. Extraction turns reports into plain data and
// is exact; drawing turns the data into a figure: title, legend, axes, caption.
// A chart of measured and assumed values shows which is which, in its title, its
// legend and its strokes. Text that comes from a report may hold anything and is
// made safe to draw.
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
	{"pcie-batch-time", ofBars(allBatchTimes)},     // the time that one batch takes over each link
	{"pcie-bandwidth-size", ofLines(sweeps)},       // how bandwidth grows with the size of a copy
	{"disk-batch-time", ofBars(single(diskTimes))}, // the time that one batch takes from each store
	{"disk-readers", ofLines(diskReaders)},         // what more readers bring
	{"disk-latency", ofLines(diskLatencies)},       // how the times of single reads are distributed
	{"preprocess-scaling", ofLines(scalingLines)},  // what more threads bring
	{"preprocess-decoders", ofBars(single(decoderRates))},
	{"preprocess-stages", ofBars(single(stageTimes))}, // what an image costs
	{"pipeline-step-time", ofBars(single(stepTimes))}, // how much of a step the device works
	{"pipeline-feed", ofBars(allFeeds)},               // top speed of loaders, and what models take
	{"verdict-predictions", ofLines(predictionLines)}, // compared with what was measured
	{"verdict-whatifs", ofBars(allWhatIfs)},           // what changes are predicted to bring
	{"pipeline-time", ofLines(stepTraces)},            // whether steps come evenly
}

// kind makes the charts of one name from one report, or those that compare several
// machines, none when there is no data for them.
type kind struct {
	name    string
	figures func([]*results.Report) []func() *figure
}

func ofLines(extract func([]*results.Report) []lines) func([]*results.Report) []func() *figure {
	return func(reports []*results.Report) (figures []func() *figure) {
		for _, d := range extract(reports) {
			figures = append(figures, d.figure)
		}
		return figures
	}
}

func ofBars(extract func([]*results.Report) []bars) func([]*results.Report) []func() *figure {
	return func(reports []*results.Report) (figures []func() *figure) {
		for _, v := range extract(reports) {
			for _, page := range v.pages() {
				figures = append(figures, page.figure)
			}
		}
		return figures
	}
}

// single is extract where there is one of its kind.
func single(extract func([]*results.Report) bars) func([]*results.Report) []bars {
	return func(reports []*results.Report) []bars { return []bars{extract(reports)} }
}

// Chart is one picture, not drawn yet.
type Chart struct {
	Name   string // of the file, without extension: pcie-batch-time
	Title  string
	figure func() *figure
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
		for i, f := range k.figures(reports) {
			c := Chart{Name: k.name, Title: f().title, figure: f}
			if i > 0 {
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
