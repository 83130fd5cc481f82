package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"dlbench/bench"
	"dlbench/bench/advise"
	"dlbench/bench/suites"
	"dlbench/bench/theory"
	"dlbench/results"
	"dlbench/results/encode"
)

// runFlags are what `dlbench run` takes.
type runFlags struct {
	suites  []string
	devices deviceFlag
	data    string
	disk    diskFlag
	batch   *batchFlags
	quick   bool
	strict  bool
	step    time.Duration
	stepCPU countFlag
	gpu     *choiceFlag
	count   countFlag
	minTime time.Duration
	timeout time.Duration
	repeat  countFlag
	axes    axesFlag
	seed    uint64
	dir     string
	label   string
	format  *choiceFlag
}

func newRun() *cobra.Command {
	f := &runFlags{repeat: countFlag{1, 1}, stepCPU: countFlag{bench.DefaultStep.CPU, 0}}
	c := &cobra.Command{
		Use:   "run",
		Short: "Measure, print a table with findings, and save report.json and charts",
		Long: `Run measures and prints a table with findings. It saves report.json and the charts
under dlbench-out, or under the directory given with -o. Without a GPU, assumed
links stand in, and everything that follows from them is labelled so.`,
		Example: `  dlbench run
  dlbench run --suite pcie --device cuda:0 -a mem=pinned,pageable
  dlbench run --device sim:gen3x4 --device sim:gen3x16:gbps=12.1 -o out`,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.StringSliceVar(&f.suites, "suite", nil, "`NAMES` of suites to run, all by default (dlbench list)")
	fl.Var(&f.devices, "device", "auto, all, cuda:N[:link=LINK], or sim:LINK such as sim:gen3x16; behind a LINK [:gbps=X][:pageable-gbps=Y] in GB/s; may be repeated")
	fl.StringVar(&f.data, "data", "", "`PATH` of a folder of images, shards or records; by default a small set is made once in the user's cache directory")
	fl.Var(&f.disk, "disk", "emulate a disk by pacing reads: "+strings.Join(theory.DiskPresets(), ", ")+", or RATE[:LATENCY]")
	f.batch = addBatch(c)
	fl.DurationVar(&f.step, "step", bench.DefaultStep.Time, "time `D` that the GPU works on a batch, in the pipeline; 0s: the loader's top speed")
	f.gpu = gpuFlag(c)
	fl.Var(&f.stepCPU, "step-cpu", "threads that a training step keeps busy, as a launching thread that spins; 0 is optimistic")
	fl.BoolVar(&f.quick, "quick", false, "fewer cases and less time for each")
	fl.Var(&f.count, "count", "samples a case, exactly; 0: until the interval is narrow")
	fl.DurationVar(&f.minTime, "min-time", 0, "least length `D` of a sample (5ms)")
	fl.DurationVar(&f.timeout, "timeout", 0, "longest time `D` for a case (1m0s); also allows unsteady cases that much")
	fl.Var(&f.repeat, "repeat", "restarts: measure every case so many times anew")
	fl.VarP(&f.axes, "axis", "a", "values of an axis instead of the curated ones; may be repeated")
	fl.BoolVar(&f.strict, "strict", false, "fail when a file of the data is bad, instead of leaving it out")
	fl.Uint64Var(&f.seed, "seed", 1, "seed `N` of the random bytes that are copied, of shuffling and of crops")
	fl.StringVarP(&f.dir, "output", "o", "", "`DIR` for report.json and charts (dlbench-out/<UTC time>)")
	fl.StringVar(&f.label, "label", "", "`TEXT` to call this machine or run by in charts")
	f.format = choice(c, "format", "what to print", "text", "json", "gobench", "csv", "markdown")
	var names []string
	for _, s := range suites.All {
		names = append(names, s.Name)
	}
	c.RegisterFlagCompletionFunc("axis", completeAxis)
	c.RegisterFlagCompletionFunc("disk", cobra.FixedCompletions(theory.DiskPresets(), cobra.ShellCompDirectiveNoFileComp))
	c.RegisterFlagCompletionFunc("device", cobra.FixedCompletions([]string{"auto", "all", "cuda:0", "cuda:0:link=gen3x8", "sim:gen3x4", "sim:gen3x8", "sim:gen3x16", "sim:gen4x16", "sim:gen5x16"}, cobra.ShellCompDirectiveNoFileComp))
	c.RegisterFlagCompletionFunc("suite", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (f *runFlags) run(c *cobra.Command) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	if o.Step.Given = c.Flags().Changed("step"); o.Step.Given {
		if err := o.Step.Check(); err != nil {
			return err
		}
	}
	demand := advise.Demanded{GPU: f.gpu.value}
	if o.Step.Given {
		demand.Step = o.Step.Time
	}
	if demand.GPU != "" && o.Step.Given {
		return &bench.UsageError{Flag: "--gpu", Value: demand.GPU, Want: "a GPU's step is known: want --gpu or --step"}
	}
	o.Conclude = func(rep *results.Report) { advise.Conclude(rep, demand) }
	stdout, stderr := c.OutOrStdout(), c.ErrOrStderr()
	out := &output{dir: f.dir}
	o.Save = out.save
	o.Notice = func(s string) {
		w := stdout
		if f.format.value != "text" {
			w = stderr
		}
		fmt.Fprintln(w, s)
	}
	bar := newBar(stderr)
	o.Progress = bar.update
	rep, err := bench.Run(c.Context(), o)
	bar.close()
	if rep == nil && errors.Is(err, context.Canceled) {
		return fmt.Errorf("interrupted before anything was measured%w", quiet{context.Canceled})
	}
	if rep == nil {
		return err
	}
	stopped := errors.Is(err, context.Canceled)
	drawing := context.WithoutCancel(c.Context()) // what was finished before an interrupt, too
	charts, cerr := writeCharts(drawing, []*results.Report{rep}, out.dir, "svg")
	if cerr == nil {
		var png []string
		png, cerr = writeCharts(drawing, []*results.Report{rep}, out.dir, "png")
		charts = append(charts, png...)
	}
	if perr := print(stdout, rep, f.format.value); perr != nil {
		return perr
	}
	if err != nil && !stopped {
		return err // what was measured is printed, at least
	}
	w := stdout
	if f.format.value != "text" {
		w = stderr
	}
	fmt.Fprintf(w, "\nsaved: %s\n", out.path)
	for _, c := range charts {
		fmt.Fprintf(w, "       %s\n", c)
	}
	if out.moved != "" {
		fmt.Fprintf(w, "       an earlier report there is now %s\n", out.moved)
	}
	if cerr != nil {
		return fmt.Errorf("charts: %w", cerr)
	}
	if stopped {
		return fmt.Errorf("interrupted: what was finished is in %s%w", out.path, quiet{context.Canceled})
	}
	return failures(rep, f.suites)
}

// options turns flags into what bench takes.
func (f *runFlags) options() (bench.Options, error) {
	o := bench.Options{Devices: f.devices.specs, Data: f.data, Disk: f.disk.spec, Batch: f.batch.batch(), Quick: f.quick, Count: f.count.value,
		MinTime: f.minTime, Timeout: f.timeout, Repeat: f.repeat.value, Axes: f.axes.values, Seed: f.seed, Step: bench.Step{Time: f.step, CPU: f.stepCPU.value, Set: true}, Strict: f.strict, Label: f.label, Tool: tool()}
	var err error
	if o.Suites, err = bench.Select(suites.All, f.suites); err != nil {
		return o, err
	}
	for name, d := range map[string]time.Duration{"--min-time": f.minTime, "--timeout": f.timeout} {
		if d < 0 {
			return o, &bench.UsageError{Flag: name, Value: d.String(), Want: "want a duration above 0, such as 5ms"}
		}
	}
	if values := f.axes.values["device"]; len(values) > 0 { // the same choice by another name
		var d deviceFlag
		for _, v := range values {
			if err := d.Set(v); err != nil {
				return o, &bench.UsageError{Flag: "-a", Value: "device=" + v, Want: err.Error()}
			}
		}
		o.Devices = append(o.Devices, d.specs...)
	}
	if values := f.axes.values["disk"]; len(values) > 0 { // likewise, but there is one
		var d diskFlag
		if err := d.Set(values[0]); err != nil || len(values) > 1 {
			return o, &bench.UsageError{Flag: "-a", Value: "disk=" + strings.Join(values, ","), Want: "want one disk, as --disk"}
		}
		o.Disk = d.spec
	}
	return o, nil
}

// failures is the error of a run in which a case failed, or in which no case of a
// suite that was asked for by name could run.
func failures(rep *results.Report, asked []string) error {
	ran := map[string]bool{}
	for _, r := range rep.Results {
		if r.Status == results.Failed {
			return errReported
		}
		ran[r.Suite] = ran[r.Suite] || r.Status == results.OK
	}
	for _, s := range asked {
		if !ran[s] {
			return errReported
		}
	}
	return nil
}

// output is where a run's report goes.
type output struct {
	dir   string // as given; "" for a new one
	path  string // of the report, once it has been saved
	moved string // where an earlier report was moved
}

// save makes the directory, the first time, and saves.
func (o *output) save(rep *results.Report) error {
	if o.path == "" {
		if err := o.prepare(rep.Started); err != nil {
			return err
		}
	}
	return results.Save(o.path, rep)
}

// prepare makes the directory. One that was given may hold an earlier report, which
// is moved out of the way; a new one is this run's alone, whoever else starts now.
func (o *output) prepare(started time.Time) error {
	if o.dir == "" {
		name := filepath.Join("dlbench-out", started.UTC().Format("20060102T150405Z"))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		o.dir = name
		for i := 2; ; i++ {
			err := os.Mkdir(o.dir, 0o755)
			if err == nil {
				break
			}
			if !errors.Is(err, fs.ErrExist) {
				return err
			}
			o.dir = fmt.Sprintf("%s-%d", name, i)
		}
	} else if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return err
	}
	path := filepath.Join(o.dir, "report.json")
	if old, err := os.Stat(path); err == nil && old.Mode().IsRegular() {
		o.moved = filepath.Join(o.dir, "report-"+old.ModTime().UTC().Format("20060102T150405.000Z")+".json")
		if err := os.Rename(path, o.moved); err != nil {
			return err
		}
	}
	o.path = path
	return nil
}

// pageWidth is the columns of a table that goes to no terminal.
const pageWidth = 120

// print writes a report in one of the formats of --format.
func print(w io.Writer, rep *results.Report, format string) error {
	switch format {
	case "json":
		return results.Write(w, rep)
	case "gobench":
		return encode.GoBench(w, rep, runtime.GOMAXPROCS(0))
	case "csv":
		return encode.CSV(w, rep)
	case "markdown":
		return encode.Markdown(w, rep)
	}
	width := terminalWidth(w)
	if width == 0 {
		width = pageWidth
	}
	return encode.Text(w, rep, width)
}
