package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"dlbench/bench"
	"dlbench/bench/advise"
	"dlbench/bench/theory"
	"dlbench/results"
	"dlbench/results/encode"
)

// Bounds of what may be asked.
const (
	mostCores = 4096
	mostGPUs  = 64
	mostSide  = 16384
)

// whatIfFlags are what `dlbench whatif` takes.
type whatIfFlags struct {
	advise.WhatIf
	prefetch int
	question advise.Question
}

func newWhatIf() *cobra.Command {
	f := &whatIfFlags{}
	c := &cobra.Command{Use: "whatif [REPORT]", Args: cobra.MaximumNArgs(1), RunE: f.run}
	f.GPUs = 1
	fl := c.Flags()
	fl.SortFlags = false
	fl.Var(&value[theory.Link]{&f.Link, "LINK", theory.ParseLink, nil}, "link", "another PCIe link, such as gen4x8")
	option(c, &f.Memory, "mem", "host memory of batches", "pinned", "pageable", "staged")
	fl.Var(count(&f.prefetch, 0, results.MostPrefetch), "prefetch", "batches prepared ahead; 0 is serial")
	fl.Var(amount(&f.Cores, 0.1, mostCores), "cores", "`N` cores in all")
	fl.Var(count(&f.Workers, 1, results.MostThreads), "workers", "threads that read and prepare")
	addDisk(c, &f.Disk, "another disk")
	fl.BoolVar(&f.RAM, "ram", false, "the data in RAM")
	fl.BoolVar(&f.Cold, "cold", false, "data larger than RAM, from the disk that was measured")
	fl.BoolVar(&f.Tar, "tar", false, "tar shards instead of files")
	addDType(c, &f.DType, "element type of a batch on the link")
	fl.Var(count(&f.Side, 8, mostSide), "side", "JPEGs stored with a short side of N pixels, such as 256")
	fl.BoolVar(&f.Prepared, "prepared", false, "images prepared before (offline: same crops each epoch)")
	fl.Var(count(&f.GPUs, 1, mostGPUs), "gpus", "GPUs that share this host")
	fl.Var(duration(&f.question.Step, 0, bench.MostStep), "step",
		"time `D` that the GPU works on a batch; 0s: what the loader feeds")
	addNeed(c, &f.question.Need)
	addGPU(c, &f.question.GPU)
	addFormat(c, "text", "json")
	return c
}

func (f *whatIfFlags) run(c *cobra.Command, args []string) error {
	if several(f.RAM, f.Cold, f.Disk.Emulated()) {
		return usagef("--disk, --ram, --cold: give only one of these")
	}
	if c.Flags().Changed("prefetch") {
		f.Prefetch = &f.prefetch
	}
	q := &f.question
	if c.Flags().Changed("gpus") { // else those that were found, where a published figure is for them
		q.GPUs = f.GPUs
	}
	if err := checkQuestion(*q); err != nil {
		return err
	}
	path := pathOf(args)
	rep, err := savedReport(c, path)
	if err != nil {
		return err
	}
	if formatOf(c) == "json" {
		all, err := advise.Predict(rep, f.WhatIf, *q)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return forms{"json": jsonOf(all)}.print(c)
	}
	answer, err := advise.Answer(rep, f.WhatIf, *q)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return forms{"text": func(w io.Writer) error { return encode.WhatIf(w, rep, answer) }}.print(c)
}
