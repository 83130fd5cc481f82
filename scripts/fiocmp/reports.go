package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// dlbenchRun is what counts of a report with one case.
type dlbenchRun struct {
	rate     float64 // B/s over all samples
	depth    float64 // of the device's queue; 0 for unknown
	unproven string  // why the reads may not have gone where they should
}

func readDlbench(path string) (run dlbenchRun, err error) {
	var report struct {
		Results []struct {
			Name, Status, Reason string
			Metrics              []struct {
				Name    string
				Median  float64
				Samples []struct {
					Value float64
					N     float64
				}
			}
			Proof struct {
				Proven *bool
				Why    string
			}
		}
	}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &report)
	}
	if err == nil && len(report.Results) != 1 {
		err = fmt.Errorf("%d cases: want 1", len(report.Results))
	}
	if err != nil {
		return run, fmt.Errorf("%s: %w", path, err)
	}
	r := report.Results[0]
	if r.Status != "ok" {
		return run, fmt.Errorf("%s %s: %s", r.Name, r.Status, r.Reason)
	}
	if p := r.Proof.Proven; p != nil && !*p {
		run.unproven = r.Proof.Why
	}
	var times, rates []float64
	for _, m := range r.Metrics {
		switch m.Name {
		case "queue_depth":
			run.depth = m.Median
		case "time":
			for _, s := range m.Samples {
				times = append(times, s.Value*s.N)
			}
		case "bandwidth":
			for _, s := range m.Samples {
				rates = append(rates, s.Value)
			}
		}
	}
	// fio gives the mean over its run, so this must be one, too, and no median.
	var seconds, read float64
	for i := range min(len(times), len(rates)) {
		seconds += times[i]
		read += times[i] * rates[i]
	}
	if seconds <= 0 || len(times) != len(rates) {
		return run, fmt.Errorf("%s: no time and bandwidth in %s", path, r.Name)
	}
	run.rate = read / seconds
	return run, nil
}

// fioRun is the reads of a report of fio with one group of jobs.
type fioRun struct {
	IOPS    float64 `json:"iops"`
	Runtime float64 `json:"runtime"` // ms
}

func readFio(path string) (run fioRun, err error) {
	var report struct {
		Jobs []struct {
			Error int
			Read  fioRun
		}
	}
	text, err := os.ReadFile(path)
	if err == nil { // notes may stand before it
		err = json.Unmarshal(text[max(0, bytes.IndexByte(text, '{')):], &report)
	}
	switch {
	case err != nil:
	case len(report.Jobs) != 1:
		err = fmt.Errorf("%d jobs: want 1", len(report.Jobs))
	case report.Jobs[0].Error != 0:
		err = fmt.Errorf("error %d", report.Jobs[0].Error)
	case report.Jobs[0].Read.IOPS <= 0:
		err = errors.New("nothing was read")
	default:
		return report.Jobs[0].Read, nil
	}
	return run, fmt.Errorf("%s: %w", path, err)
}
