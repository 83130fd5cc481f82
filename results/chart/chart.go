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
	{"pipeline-time", batchParts, false},        // where a batch's time goes, and what the GPU needs
	{"verdict-whatifs", whatIfs, false},         // what changes would bring
	{"preprocess-scaling", scalings, false},     // what more threads bring
	{"loaders", loaders, false},                 // the user's own and dlbench's
	{"pcie-batch-time", batchTimes, true},       // the time that one batch takes over each link
	{"pcie-bandwidth-size", sweeps, true},       // how bandwidth grows with the size of a copy
	{"disk-batch-time", diskTimes, true},        // the time that one batch takes from each store
	{"disk-readers", diskReaders, true},         // what more readers bring
	{"disk-latency", diskLatencies, true},       // how far the times of single reads are apart
	{"preprocess-stages", stageTimes, false},    // what an image costs
	{"pipeline-step-time", stepTimes, true},     // how much of a step the GPU works
	{"pipeline-feed", feeds, false},             // top speed of loaders, and what GPUs need
	{"verdict-predictions", predictions, false}, // compared with what was measured
}

// kind makes the charts of one name from one report, or those that compare several
// machines, none when there is no data for them.
type kind struct {
	name     string
	pictures func([]*results.Report) []picture
	paced    bool // what is simulated of it is what it shows
}

// picture is the data of a chart: bars or lines.
type picture interface {
	figure() *figure
	points() []point
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
func Charts(reports []*results.Report) (all []Chart) {
	for _, k := range kinds {
		for i, p := range k.pictures(reports) {
			_, n := simulated(p.points())
			c := Chart{k.name, p.figure().title, k.paced && 2*n > len(p.points()), p.figure}
			if i > 0 {
				c.Name = fmt.Sprintf("%s-%d", k.name, i+1)
			}
			all = append(all, c)
		}
	}
	return all
}

// Formats of a picture. Narrow is an SVG for a telephone, in which long labels may lie on marks.
const (
	PNG    = "png"
	SVG    = "svg"
	Narrow = "narrow svg"
)

// Write draws c to w in a format.
func (c Chart) Write(w io.Writer, format string) error {
	write := map[string]func(*figure, io.Writer) error{PNG: (*figure).writePNG, SVG: (*figure).writeSVG,
		Narrow: (*figure).writeNarrow}[format]
	if write == nil {
		return fmt.Errorf("chart %s: format %q: want %s or %s", c.Name, format, PNG, SVG)
	}
	if err := write(c.figure(), w); err != nil {
		return fmt.Errorf("chart %s: %w", c.Name, err)
	}
	return nil
}
