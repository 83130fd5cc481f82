package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"dlbench/bench"
	"dlbench/bench/advise"
	"dlbench/bench/external"
	"dlbench/bench/suites"
	"dlbench/bench/theory"
	"dlbench/loader"
	"dlbench/results"
	"dlbench/results/encode"
)

// runFlags are what `dlbench run` takes.
type runFlags struct {
	bench.Options
	suites   []string
	question advise.Question
	require  string
	full     bool
	join     string // the folder that all nodes of this run see
	out      output
}

func newRun() *cobra.Command {
	f := &runFlags{}
	f.Repeat, f.Step = 1, bench.DefaultStep
	c := &cobra.Command{Use: "run [DIR]", Args: cobra.MaximumNArgs(1), RunE: f.run}
	fl := c.Flags()
	fl.SortFlags = false
	fl.StringSliceVar(&f.suites, "suite", nil, "`NAMES` of suites to run, all by default (dlbench list)")
	fl.Var(devices(&f.Devices), "device", "auto, all, cuda:N[:link=LINK], or sim:LINK such as sim:gen3x16; "+
		"after LINK [:gbps=X][:pageable-gbps=Y] in GB/s; may be repeated")
	fl.StringVar(&f.Data, "data", "", "`PATH` of a folder of images, shards or records, or s3://BUCKET/PREFIX; "+
		"by default a small set is made once in the user's cache directory")
	addMaxBytes(c, &f.MaxBytes, defaultMaxBytes)
	addDisk(c, &f.Disk, "simulate a disk")
	addBatch(c, &f.Batch)
	fl.Var(loaders(&f.Loaders), "loader", "a loader to measure: "+strings.Join(external.Adapters(), ", ")+
		", or NAME='COMMAND' of your own (dlbench python); may be repeated")
	fl.StringVar(&f.Python, "python", "", "`PATH` of the Python for loaders; by default that of the active environment")
	fl.Var(duration(&f.Step.Time, 0, bench.MostStep), "step",
		"time `D` that the GPU works on a batch, in the pipeline; 0s: measure what the loader feeds")
	addQuestion(c, &f.question)
	option(c, &f.require, "require", "end with exit code 4 if the answer is no, 5 if there is none; "+
		"--require=cores: ENOUGH CORES is a yes, too", "loader", "cores")
	fl.Lookup("require").NoOptDefVal = "loader"
	fl.BoolVar(&f.full, "full", false, "print all tables, findings and predictions below the answer")
	fl.Var(count(&f.Step.CPU, 0, 0), "step-cpu",
		"CPU threads that your training script keeps busy; 0: none (optimistic)")
	fl.Var(duration(&f.Soak, 0, bench.MostStep), "soak",
		"a GPU works for `D` (60s) without a pause, to see whether it throttles (claim A13)")
	fl.BoolVar(&f.Quick, "quick", false, "fewer cases and less time for each")
	fl.Var(count(&f.Count, 0, 0), "count", "take exactly N samples of each case; 0: until the interval is narrow")
	fl.Var(duration(&f.MinTime, 0, 0), "min-time", "shortest time `D` of a sample (5ms)")
	fl.Var(duration(&f.Timeout, 0, 0), "timeout", "longest time `D` for a case (1m0s); unsteady cases may use all of it")
	fl.Var(count(&f.Repeat, 1, 0), "repeat", "repeat every case `N` times")
	fl.VarP(axes(&f.Axes), "axis", "a", "values of an axis instead of the defaults; may be repeated")
	fl.BoolVar(&f.Strict, "strict", false, "fail when a file of the data is not good, instead of leaving it out")
	fl.Uint64Var(&f.Seed, "seed", 1, "seed `N` of the random bytes that are copied, of shuffling and of crops")
	fl.StringVarP(&f.out.dir, "output", "o", "", "`DIR` for report.json and charts (dlbench-out/<UTC time>)")
	fl.StringVar(&f.join, "join", "",
		"measure with other nodes at the same time; `DIR` is a folder that all of them see (dlbench help cluster)")
	fl.StringVar(&f.Label, "label", "", "`TEXT` that names this machine or run in charts")
	addReportFormat(c)
	var names []string
	for _, s := range suites.All {
		names = append(names, s.Name)
	}
	complete(c, "suite", names...)
	complete(c, "device", "auto", "all", "cuda:0", "cuda:0:link=gen3x8",
		"sim:gen3x4", "sim:gen3x8", "sim:gen3x16", "sim:gen4x16", "sim:gen5x16")
	c.RegisterFlagCompletionFunc("axis", cobra.FixedCompletions(axisWords(),
		cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace))
	return c
}

func (f *runFlags) run(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		if f.Data != "" {
			return usagef("%s: --data %s is given already", args[0], f.Data)
		}
		f.Data = args[0]
	}
	f.Step.Given = c.Flags().Changed("step")
	if err := f.check(); err != nil {
		return err
	}
	f.Need = f.question.Rate(f.Batch.Images)
	if f.join != "" {
		return f.together(c)
	}
	return f.measure(c)
}

// measure runs the suites, and saves, draws and prints what they measured.
func (f *runFlags) measure(c *cobra.Command) error {
	f.Logs = func() string { return f.out.dir }
	stderr := c.ErrOrStderr()
	notes := c.OutOrStdout() // where the report is
	if formatOf(c) != "text" {
		notes = stderr
	}
	progress := newRunProgress(stderr)
	f.Tool = tool()
	f.Save = f.out.save
	f.Conclude = func(rep *results.Report) { advise.Conclude(rep, f.question) }
	f.Notice = func(s string) { progress.keep(s, true) }
	f.Finished = func(suite string, rs []results.Result) { progress.keep(encode.Headline(suite, rs), false) }
	f.Progress = progress.update
	defer f.out.release()
	rep, err := bench.Run(c.Context(), f.Options)
	progress.finish()
	if rep == nil {
		return err
	}
	stopped := errors.Is(err, context.Canceled)
	drawn := f.out.draw(context.WithoutCancel(c.Context()), rep) // what was finished before an interrupt, too
	tables := rep
	if !f.full {
		tables = nil
	}
	if perr := printReport(c, rep, tables); perr != nil {
		return perr
	}
	if err != nil && !stopped {
		return err // what was measured is printed, at least
	}
	f.out.print(notes)
	if d := rep.Dataset; d != nil && d.Network != nil {
		fmt.Fprintf(notes, "read over the network: %s\n", d.Network)
		spent := func(r results.Result) bool { return strings.HasSuffix(r.Reason, loader.ErrMostBytes.Error()) }
		if slices.ContainsFunc(rep.Results, spent) {
			fmt.Fprintf(notes, "--max-bytes %s did not do: the other cases are skipped\n", results.FormatBytes(f.MaxBytes))
		}
	}
	switch {
	case drawn != nil:
		return fmt.Errorf("the page and the charts: %w", drawn)
	case stopped:
		return &exitError{fmt.Errorf("interrupted: what was finished is in %s", f.out.path), exitInterrupted}
	}
	asked := f.suites
	if len(f.Loaders) > 0 {
		asked = append(slices.Clone(asked), external.Suite.Name)
	}
	return cmp.Or(failures(rep, asked, f.Devices), required(rep, f.require))
}

// required is the error of an answer that is not the one that was asked for: loader, or cores
// where it is enough that a loader as fast as dlbench's keeps up.
func required(rep *results.Report, what string) error {
	if what == "" {
		return nil
	}
	answer := results.AnswerUnknown
	if rep.Verdict != nil {
		answer = rep.Verdict.Answer
	}
	switch {
	case answer == results.AnswerYes || what == "cores" && answer == results.AnswerEnoughCores:
		return nil
	case answer == results.AnswerNo:
		return &exitError{errors.New("--require: the answer is no"), exitNo}
	}
	return &exitError{fmt.Errorf("--require: there is no answer (%s)", answer), exitNoAnswer}
}

// check refuses what pflag does not, and chooses the suites.
func (f *runFlags) check() (err error) {
	if f.Suites, err = bench.Select(suites.All, f.suites); err != nil {
		return err
	}
	made := func(s bench.Suite) bool { return s.Data && f.Data == "" }
	if f.Batch.Channels != 3 && slices.ContainsFunc(f.Suites, made) {
		return usagef("--shape %s: the images made for a run have 3 channels: want HxWx3, such as 225x225x3",
			formatShape(f.Batch))
	}
	if len(f.Loaders) == 0 && slices.Contains(f.suites, external.Suite.Name) {
		return usagef("--suite %s: name a loader to measure, such as --loader torchvision", external.Suite.Name)
	}
	if len(f.Loaders) > 0 && len(f.suites) > 0 && !slices.Contains(f.suites, external.Suite.Name) {
		return usagef("--loader %s: the suite external measures it: name it in --suite, too", f.Loaders[0].Name)
	}
	for i, l := range f.Loaders {
		if slices.ContainsFunc(f.Loaders[:i], func(o bench.Loader) bool { return o.Name == l.Name }) {
			return usagef("--loader %s: given twice", l.Name)
		}
	}
	if _, err := exec.LookPath(f.Python); f.Python != "" && err != nil {
		return usagef("--python %s: no such program", f.Python)
	}
	if f.Step.Given {
		if err := f.Step.Check(); err != nil {
			return err
		}
		f.question.Step = f.Step.Time
	}
	for _, v := range f.Axes["device"] { // the same choice by another name
		if err := devices(&f.Devices).Set(v); err != nil {
			return usagef("-a device=%s: %w", v, err)
		}
	}
	if values := f.Axes["disk"]; len(values) > 0 { // likewise, but there is one
		if f.Disk, err = theory.ParseDisk(values[0]); err != nil || len(values) > 1 {
			return usagef("-a disk=%s: want one disk, as --disk", strings.Join(values, ","))
		}
	}
	return checkQuestion(f.question)
}

// addReportFormat adds how a report is printed.
func addReportFormat(c *cobra.Command) {
	addFormat(c, "text", "json", "gobench", "csv", "markdown")
	c.Flags().Bool("simulated", false, "with --format gobench, print the simulated cases too")
}

// printReport prints a report in the format that was asked for; as text its answer, and below
// it the tables of tables, nil for none.
func printReport(c *cobra.Command, rep, tables *results.Report) error {
	all := cmp.Or(tables, rep)
	simulated, _ := c.Flags().GetBool("simulated")
	return forms{
		"text": func(w io.Writer) error {
			if err := encode.Screen(w, rep, colours(c)); err != nil {
				return err
			}
			if rep.Nodes != nil {
				fmt.Fprintln(w)
				if err := encode.WriteText(w, textWidth(c), encode.Nodes(rep.Nodes)...); err != nil {
					return err
				}
			}
			if tables == nil {
				return nil
			}
			fmt.Fprintln(w)
			return encode.Text(w, tables, textWidth(c))
		},
		"json":     func(w io.Writer) error { return results.Write(w, all) },
		"gobench":  func(w io.Writer) error { return encode.GoBench(w, all, runtime.GOMAXPROCS(0), simulated) },
		"csv":      func(w io.Writer) error { return encode.CSV(w, all) },
		"markdown": func(w io.Writer) error { return encode.Markdown(w, all) },
	}.print(c)
}

// failures is the error of a run in which a case failed, or in which no case of a
// suite or device that was asked for by name could run.
func failures(rep *results.Report, asked []string, devices []theory.Device) error {
	ran, why := map[string]bool{}, map[string]string{} // by suite and device
	var failed []results.Result
	for _, r := range rep.Results {
		if r.Status == results.Failed {
			failed = append(failed, r)
		}
		for _, of := range []string{r.Suite, r.Params.Text("device")} {
			ran[of] = ran[of] || r.Status == results.OK
			why[of] = cmp.Or(why[of], r.Reason)
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("%s failed: %s: %s", results.Plural(len(failed), "case"), failed[0].Name, failed[0].Reason)
	}
	for _, s := range asked {
		if !ran[s] {
			return fmt.Errorf("nothing of the suite %s could be measured: %s", s, cmp.Or(why[s], "it has no case here"))
		}
	}
	for _, d := range devices {
		if d.Named() && !d.Sim() && why[d.Text] != "" && !ran[d.Text] {
			return fmt.Errorf("nothing of the device %s could be measured: %s", d.Text, why[d.Text])
		}
	}
	return nil
}
