package page

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"dlbench/results"
	"dlbench/results/encode"
)

// summary is what one report says apart from its cases.
type summary struct {
	*results.Report
	Name     string
	ID       int            // from 1
	Screen   string         // its first screen
	When     string         // "14 March 2026, 15:09 UTC"
	Took     string         // "1m30s"
	Samples  string         // how many there are, and what is to be known of them
	Command  string         // that measures the same, as far as the report records it
	Assumed  []string       // the parts that were simulated anywhere
	Checked  encode.Table   // predictions that were checked
	WhatIf   encode.Table   // those that were not
	Doubts   []encode.Note  // warnings of the report and of its cases, each text once
	Statuses map[string]int // how many cases have each
}

func newSummary(r *results.Report, name string, id int) (summary, error) {
	s := summary{Report: r, Name: name, ID: id, Samples: samples(r), Command: command(r.Config),
		Checked: encode.PredictionTable(r.Predictions, true), WhatIf: encode.PredictionTable(r.Predictions, false),
		Statuses: map[string]int{}}
	s.WhatIf.Suite = "What changes would bring"
	if !r.Started.IsZero() {
		s.When = r.Started.UTC().Format("2 January 2006, 15:04 UTC")
		if r.Merged == 0 && r.Finished.After(r.Started) { // it is not known what lay between merged ones
			s.Took = r.Finished.Sub(r.Started).Round(time.Second).String()
		}
	}
	var warnings encode.Table
	for _, w := range r.Warnings {
		warnings.AddNote("", "", w)
	}
	for _, res := range r.Results {
		s.Statuses[res.Status]++
		s.Assumed = results.AppendNew(s.Assumed, res.Assumed...)
		for _, w := range res.Warnings {
			warnings.AddNote("warning", res.Name, w)
		}
	}
	s.Doubts = warnings.Notes
	var screen strings.Builder
	err := encode.Screen(&screen, r, false)
	s.Screen = screen.String()
	return s, err
}

// command is the command line of a configuration. What a report does not hold, such
// as paths, is not in it.
func command(c results.Config) string {
	args := []string{"dlbench run"}
	flag := func(name, value string) {
		if value != "" {
			args = append(args, name+" "+shell(value))
		}
	}
	number := func(name string, v float64, unit string) {
		if v > 0 {
			flag(name, strconv.FormatFloat(v, 'f', -1, 64)+unit)
		}
	}
	flag("--suite", strings.Join(c.Suites, ","))
	for _, d := range c.Devices {
		flag("--device", d)
	}
	number("--batch", float64(c.Batch), "")
	flag("--shape", strings.Trim(strings.ReplaceAll(fmt.Sprint(c.Shape), " ", "x"), "[]"))
	flag("--dtype", c.DType)
	if c.Quick {
		args = append(args, "--quick")
	}
	number("--count", float64(c.Count), "")
	number("--min-time", c.MinTime, "s")
	number("--timeout", c.Timeout, "s")
	if c.Repeat > 1 {
		number("--repeat", float64(c.Repeat), "")
	}
	for _, axis := range slices.Sorted(maps.Keys(c.Axes)) {
		flag("-a", axis+"="+strings.Join(c.Axes[axis], ","))
	}
	flag("--seed", strconv.FormatUint(c.Seed, 10))
	return strings.Join(args, " ")
}

var shellSafe = regexp.MustCompile(`^[A-Za-z0-9_./:=,+-]+$`)

// shell quotes s for a POSIX shell where it has to be.
func shell(s string) string {
	if s = results.Plain(s); shellSafe.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// samples says how many samples there are, and what is to be known of them; "" for none.
func samples(r *results.Report) string {
	all, noisy, throttled, outliers, dropped := 0, 0, 0, 0, 0
	for _, res := range r.Results {
		for _, m := range res.Metrics {
			all, outliers, dropped = all+len(m.Samples), outliers+m.Outliers, dropped+m.Dropped
			for _, s := range m.Samples {
				if s.Noisy() {
					noisy++
				}
				if s.Throttled() {
					throttled++
				}
			}
		}
	}
	if all == 0 {
		return ""
	}
	s := fmt.Sprintf("%d in all; %d from noisy rounds; %d outliers, counted and kept", all, noisy, outliers)
	if throttled > 0 {
		s += fmt.Sprintf("; %d while the GPU was throttled", throttled)
	}
	if dropped > 0 {
		s += fmt.Sprintf("; %d that were no finite numbers, left out", dropped)
	}
	return s
}
