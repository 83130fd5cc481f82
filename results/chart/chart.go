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

// Charts returns every chart that the reports have data for. Those of one report show
// its cases against each other; those of several show machines against each other, each
// in the colour and with the marker of its report in every chart. Charts are the same
// for the same reports.
func Charts(reports []*results.Report) ([]Chart, error) {
	if len(reports) > MaxReports {
		return nil, fmt.Errorf("%d reports: charts compare up to %d", len(reports), MaxReports)
	}
	var all []Chart
	if len(reports) == 0 {
		return nil, nil
	}
	for _, charts := range kinds {
		all = append(all, charts(reports)...)
	}
	return all, nil
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

// Options say how a chart is written. The zero value is a PNG of DefaultWidth.
type Options struct {
	Format string // PNG or SVG; "" is PNG
	// Width in pixels; 0 is DefaultWidth. Everything grows with it: letters are at
	// least 11 pixels high at 800 and as legible in any picture that is shown 800
	// pixels wide. The height follows from what there is to draw.
	Width int
}

// Widths of a picture in pixels.
const (
	DefaultWidth = 1000
	MinWidth     = 400
	MaxWidth     = 4000
)

// Write draws c to w.
func (c Chart) Write(w io.Writer, o Options) error {
	if o.Width == 0 {
		o.Width = DefaultWidth
	}
	if o.Width < MinWidth || o.Width > MaxWidth {
		return fmt.Errorf("chart %s: width %d: want %d to %d pixels", c.Name, o.Width, MinWidth, MaxWidth)
	}
	var err error
	switch o.Format {
	case PNG, "":
		err = c.figure().writePNG(w, o.Width)
	case SVG:
		err = c.figure().writeSVG(w, o.Width)
	default:
		err = fmt.Errorf("format %q: want %s or %s", o.Format, PNG, SVG)
	}
	if err != nil {
		return fmt.Errorf("chart %s: %w", c.Name, err)
	}
	return nil
}
