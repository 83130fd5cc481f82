package main

import (
	"fmt"
	"io"
	"time"

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
	gpu      string
}

func newWhatIf() *cobra.Command {
	f := &whatIfFlags{}
	c := &cobra.Command{Use: "whatif REPORT", RunE: f.run}
	c.Args = func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%d reports given: want one REPORT, such as dlbench-out/*/report.json", len(args))
		}
		return nil
	}
	f.GPUs = 1
	fl := c.Flags()
	fl.SortFlags = false
	fl.Var(&value[theory.Link]{&f.Link, "LINK", theory.ParseLink, nil}, "link", "another PCIe link, such as gen4x8")
	option(c, &f.Memory, "mem", "host memory of batches", "pinned", "pageable", "staged")
	fl.Var(count(&f.prefetch, 0), "prefetch", "batches that are made ahead; 0 is serial")
	fl.Float64Var(&f.Cores, "cores", 0, "`N` cores in all")
	fl.Var(count(&f.Workers, 1), "workers", "threads that read and preprocess")
	addDisk(c, &f.Disk, "another disk")
	fl.BoolVar(&f.RAM, "ram", false, "the data in RAM")
	fl.BoolVar(&f.Cold, "cold", false, "data larger than RAM, from the disk that was measured")
	fl.BoolVar(&f.Tar, "tar", false, "tar shards instead of files")
	option(c, &f.DType, "dtype", "element type of a batch on the link", theory.DTypes...)
	fl.Var(count(&f.Side, 1), "side", "JPEGs stored with a short side of so many pixels, such as 256")
	fl.BoolVar(&f.Prepared, "prepared", false, "images preprocessed before (strategy 2)")
	fl.Var(count(&f.GPUs, 1), "gpus", "GPUs that share this host")
	fl.DurationVar(&f.Step, "step", 0, "time `D` that the GPU works on a batch; 0s: the loader's top speed")
	addGPU(c, &f.gpu)
	addFormat(c, "text", "json")
	f.bound(c)
	return c
}

// bound has the flags refuse what no machine has.
func (f *whatIfFlags) bound(c *cobra.Command) {
	bound(c, "prefetch", fmt.Sprintf("want a number of batches from 0 to %d", results.MostPrefetch),
		func() bool { return f.prefetch <= results.MostPrefetch })
	bound(c, "cores", fmt.Sprintf("want a number from 0.1 to %d", mostCores),
		func() bool { return f.Cores >= 0.1 && f.Cores <= mostCores }) // NaN is neither
	bound(c, "workers", fmt.Sprintf("want a whole number from 1 to %d", results.MostThreads),
		func() bool { return f.Workers <= results.MostThreads })
	bound(c, "side", fmt.Sprintf("want pixels from 8 to %d", mostSide),
		func() bool { return f.Side >= 8 && f.Side <= mostSide })
	bound(c, "gpus", fmt.Sprintf("want a whole number from 1 to %d", mostGPUs),
		func() bool { return f.GPUs <= mostGPUs })
	bound(c, "step", fmt.Sprintf("want a time from 0s to %v", bench.MostStep),
		func() bool { return f.Step >= 0 && f.Step <= bench.MostStep })
}

func (f *whatIfFlags) run(c *cobra.Command, args []string) error {
	if f.RAM && f.Cold || f.RAM && f.Disk.Emulated() || f.Cold && f.Disk.Emulated() {
		return &bench.UsageError{Flag: "--disk, --ram, --cold", Want: "the data is in one place: want one of them"}
	}
	if c.Flags().Changed("prefetch") {
		f.Prefetch = &f.prefetch
	}
	if err := checkQuestion(advise.Question{GPU: f.gpu, Step: f.Step}); err != nil {
		return err
	}
	reps, err := readSources(c.Context(), c.InOrStdin(), []source{{path: args[0]}})
	if err != nil {
		return err
	}
	if g, ok := theory.GPUNamed(f.gpu); ok {
		f.Step = time.Duration(theory.StepFor(g.Rate, reps[0].Config.Batch) * 1e9)
	}
	all, err := advise.Predict(reps[0], f.WhatIf)
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	text := func(w io.Writer) error { return encode.Predictions(w, all, textWidth(c)) }
	return forms{"text": text, "json": jsonOf(all)}.print(c)
}
