package bench

import (
	"fmt"
	"slices"
	"time"

	"dlbench/bench/host"
	"dlbench/loader"
	"dlbench/loader/decode"
	"dlbench/results"
)

// newReport is the report of a run before anything is measured.
func newReport(env Env) *results.Report {
	b := env.Batch
	rep := &results.Report{
		SchemaVersion: results.SchemaVersion, Status: results.Interrupted, // until it is complete
		Tool: env.Tool, Started: time.Now().UTC(), Label: env.Label, Host: env.Host, Results: []results.Result{},
		Config: results.Config{
			Batch: b.Images, Shape: []int{b.Height, b.Width, b.Channels}, DType: b.DType,
			Quick: env.Quick, Count: env.Count, MinTime: env.MinTime.Seconds(), Timeout: env.Timeout.Seconds(),
			Repeat: env.Repeat, Axes: env.Axes, Seed: env.Seed},
	}
	if env.Data != nil {
		rep.Dataset, rep.Warnings = env.Data.Describe()
	}
	for _, s := range env.Suites {
		rep.Config.Suites = append(rep.Config.Suites, s.Name)
		if s.Decode && env.Data != nil {
			rep.Software.Decoder = loader.DecoderName(decode.Auto)
		}
	}
	for _, d := range env.Devices {
		info := d.Info()
		rep.Config.Devices = append(rep.Config.Devices, info.Spec)
		if rep.Software.Backend == "" || !info.Assumed {
			rep.Software.Backend, rep.Software.Driver = info.Backend, info.Driver
		}
	}
	if env.Missing != nil {
		rep.Warnings = append(rep.Warnings, env.notice())
	}
	return rep
}

// put replaces the result of that name or inserts it in the order of the cases, not
// in which they were finished.
func put(rep *results.Report, r results.Result, order map[string]int) {
	rest := slices.DeleteFunc(rep.Results, func(x results.Result) bool { return x.Name == r.Name })
	rep.Results = append(rest, r)
	slices.SortFunc(rep.Results, func(a, b results.Result) int { return order[a.Name] - order[b.Name] })
}

// saver returns a function that saves rep, at most every saveEvery unless forced.
func saver(rep *results.Report, env Env) func(force bool) error {
	var last time.Time
	return func(force bool) error {
		if env.Data != nil {
			rep.Dataset.Network = NetworkOf(env.Data.Remote, env.MaxBytes)
		}
		if env.Save == nil || (!force && time.Since(last) < saveEvery) {
			return nil
		}
		if !force {
			rep.Finished = time.Now().UTC()
		}
		if err := env.Save(rep); err != nil {
			return fmt.Errorf("save the report: %w", err)
		}
		last = time.Now()
		return nil
	}
}

// after compares the machine with what it was before: a clock that moved or a quota
// that stopped the process is in the numbers.
func after(rep *results.Report, root string) {
	usable := host.UsableCPUs()
	before := MachineState{Hz: rep.Host.CPU.Hz, Throttled: rep.Host.CPU.NrThrottled}
	for _, change := range before.Changes(ReadMachineState(root, usable[:min(len(usable), 1)])) {
		rep.Warnings = append(rep.Warnings, change+" during the run")
	}
}
