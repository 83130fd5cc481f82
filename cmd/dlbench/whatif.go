package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"dlbench/bench"
	"dlbench/bench/advise"
	"dlbench/bench/theory"
	"dlbench/results"
	"dlbench/results/encode"
)

// whatIfFlags are what `dlbench whatif` takes.
type whatIfFlags struct {
	link     linkFlag
	mem      *choiceFlag
	prefetch countFlag
	cores    float64
	workers  countFlag
	disk     diskFlag
	ram      bool
	cold     bool
	tar      bool
	dtype    *choiceFlag
	side     countFlag
	prepared bool
	gpus     countFlag
	step     time.Duration
	gpu      *choiceFlag
	format   *choiceFlag
}

func newWhatIf() *cobra.Command {
	f := &whatIfFlags{prefetch: countFlag{0, 0}, workers: countFlag{0, 1}, side: countFlag{0, 1}, gpus: countFlag{1, 1}}
	c := &cobra.Command{
		Use:   "whatif REPORT",
		Short: "Predict what a change would bring, from a report",
		Long: `Whatif predicts from the parts that a report measured what changes would bring:
each by itself, and all of them together. Nothing is measured. A REPORT is a
report.json, the directory that holds it, or - for standard input.

Each prediction has an interval, the error that its kind of prediction showed
where the report could check one, and the word "extrapolated" where it leaves
what was checked.`,
		Example: `  dlbench whatif dlbench-out/20260102T030405Z --link gen4x8 --cores 8
  dlbench whatif report.json --disk nvme --tar --gpu a100
  dlbench whatif report.json --prefetch 0 --step 100ms --format json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("%d reports given: want one REPORT, such as dlbench-out/*/report.json", len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.Var(&f.link, "link", "another PCIe link, such as gen4x8")
	f.mem = option(c, "mem", "host memory of batches", "pinned", "pageable", "staged")
	fl.Var(&f.prefetch, "prefetch", "batches that are made ahead; 0 is serial")
	fl.Float64Var(&f.cores, "cores", 0, "`N` cores in all")
	fl.Var(&f.workers, "workers", "threads that read and preprocess")
	fl.Var(&f.disk, "disk", "another disk: "+strings.Join(theory.DiskPresets(), ", ")+", or RATE[:LATENCY]")
	fl.BoolVar(&f.ram, "ram", false, "the data in RAM")
	fl.BoolVar(&f.cold, "cold", false, "data larger than RAM, from the disk that was measured")
	fl.BoolVar(&f.tar, "tar", false, "tar shards instead of files")
	f.dtype = option(c, "dtype", "element type of a batch on the link", theory.DTypes...)
	fl.Var(&f.side, "side", "JPEGs stored with a short side of so many pixels, such as 256")
	fl.BoolVar(&f.prepared, "prepared", false, "images preprocessed before (strategy 2)")
	fl.Var(&f.gpus, "gpus", "GPUs that share this host")
	fl.DurationVar(&f.step, "step", 0, "time `D` that the GPU works on a batch; 0s: the loader's top speed")
	f.gpu = gpuFlag(c)
	f.format = choice(c, "format", "what to print", "text", "json")
	c.RegisterFlagCompletionFunc("disk", cobra.FixedCompletions(theory.DiskPresets(), cobra.ShellCompDirectiveNoFileComp))
	return c
}

// option is a choice that need not be made.
func option(c *cobra.Command, name, doc string, allowed ...string) *choiceFlag {
	f := choice(c, name, doc, allowed...)
	f.value = ""
	c.Flags().Lookup(name).DefValue = ""
	return f
}

// gpuFlag adds --gpu.
func gpuFlag(c *cobra.Command) *choiceFlag {
	var names, texts []string
	for _, g := range theory.GPUs {
		names = append(names, g.Name)
		texts = append(texts, fmt.Sprintf("%s %.0f", g.Name, g.Rate()))
	}
	return option(c, "gpu", "a GPU instead of a step, by the images/s that it takes in: "+strings.Join(texts, ", "), names...)
}

// linkFlag is a PCIe link.
type linkFlag struct{ link theory.Link }

func (l *linkFlag) Type() string { return "LINK" }
func (l *linkFlag) String() string {
	if l.link == (theory.Link{}) {
		return ""
	}
	return l.link.String()
}

func (l *linkFlag) Set(text string) (err error) {
	l.link, err = theory.ParseLink(text)
	return err
}

func (f *whatIfFlags) run(c *cobra.Command, path string) error {
	w := advise.WhatIf{Link: f.link.link, Memory: f.mem.value, Cores: f.cores, Workers: f.workers.value, Disk: f.disk.spec, RAM: f.ram, Cold: f.cold, Tar: f.tar,
		DType: f.dtype.value, Side: f.side.value, Prepared: f.prepared, GPUs: f.gpus.value, Step: f.step}
	if c.Flags().Changed("prefetch") {
		w.Prefetch = &f.prefetch.value
	}
	if c.Flags().Changed("cores") && f.cores == 0 {
		return &bench.UsageError{Flag: "--cores", Value: "0", Want: "want at least a part of one, such as 0.5"}
	}
	if err := checkWhatIf(w); err != nil {
		return err
	}
	reps, err := readReports(c.Context(), c.InOrStdin(), []string{path})
	if err != nil {
		return err
	}
	rep := reps[0]
	if i := f.gpu.value; i != "" {
		if f.step != 0 {
			return &bench.UsageError{Flag: "--gpu", Value: i, Want: "a GPU's step is known: want --gpu or --step"}
		}
		for _, g := range theory.GPUs {
			if g.Name == i {
				w.Step = time.Duration(float64(rep.Config.Batch) / g.Rate() * 1e9)
			}
		}
	}
	all, err := advise.Predict(rep, w)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if f.format.value == "json" {
		return writeJSON(c.OutOrStdout(), all)
	}
	return buffered(c.OutOrStdout(), func(out io.Writer) error {
		width := terminalWidth(c.OutOrStdout())
		if width == 0 {
			width = pageWidth
		}
		return encode.Predictions(out, all, width)
	})
}

// Bounds of what may be asked.
const (
	mostCores = 4096
	mostGPUs  = 64
	mostSide  = 16384
)

// checkWhatIf says what is wrong with w.
func checkWhatIf(w advise.WhatIf) error {
	refuse := func(flag string, value any, want string) error {
		return &bench.UsageError{Flag: flag, Value: fmt.Sprint(value), Want: want}
	}
	switch {
	case w.Cores != 0 && !(w.Cores >= 0.1 && w.Cores <= mostCores):
		return refuse("--cores", w.Cores, fmt.Sprintf("want a number from 0.1 to %d", mostCores))
	case w.Workers < 0 || w.Workers > results.MostThreads:
		return refuse("--workers", w.Workers, fmt.Sprintf("want a whole number from 1 to %d", results.MostThreads))
	case w.Prefetch != nil && (*w.Prefetch < 0 || *w.Prefetch > results.MostPrefetch):
		return refuse("--prefetch", *w.Prefetch, fmt.Sprintf("want a number of batches from 0 to %d", results.MostPrefetch))
	case w.Side != 0 && (w.Side < 8 || w.Side > mostSide):
		return refuse("--side", w.Side, fmt.Sprintf("want pixels from 8 to %d", mostSide))
	case w.GPUs != 0 && (w.GPUs < 1 || w.GPUs > mostGPUs):
		return refuse("--gpus", w.GPUs, fmt.Sprintf("want a whole number from 1 to %d", mostGPUs))
	case w.Step < 0 || w.Step > bench.MostStep:
		return refuse("--step", w.Step, fmt.Sprintf("want a time from 0s to %v", bench.MostStep))
	case w.RAM && w.Cold, w.RAM && w.Disk.Emulated(), w.Cold && w.Disk.Emulated():
		return &bench.UsageError{Flag: "--disk, --ram, --cold", Want: "the data is in one place: want one of them"}
	}
	return nil
}
