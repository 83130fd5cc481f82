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

// kinds are in the order in which a reader wants them; each makes its charts of one
// report, or those that compare several machines, none when there is no data for them. A
// new chart is a file of its own and a line here.
var kinds = []func([]*results.Report) []Chart{
	batchTimeCharts, bandwidthCharts, diskTimeCharts, diskReadersCharts, diskLatencyCharts, scalingCharts,
	decoderCharts, stageCharts, stepTimeCharts, feedCharts, predictionCharts, whatIfCharts, stepTraceCharts,
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
	for _, charts := range kinds {
		all = append(all, charts(reports)...)
	}
	return all
}

// numbered names the charts of one kind: name, name-2, name-3, ...
func numbered(name string, figures []func() *figure) []Chart {
	var all []Chart
	for i, f := range figures {
		c := Chart{Name: name, Title: f().title, figure: f}
		if i > 0 {
			c.Name = fmt.Sprintf("%s-%d", name, i+1)
		}
		all = append(all, c)
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
