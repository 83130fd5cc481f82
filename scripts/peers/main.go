//go:build linux

// Command peers measures dlbench's preprocessing next to that of torchvision, OpenCV
// and Pillow: compare-peers.sh runs it. Each way to preprocess is a process that lives
// as long as the comparison does and makes one pass over the same files when it is
// asked to; passes alternate, round by round.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"dlbench/bench/host"
	"dlbench/loader"
	"dlbench/results"
)

// Work that every peer does.
const (
	batch         = 32
	height, width = 225, 225
)

// options are the command line's.
type options struct {
	data, out      string
	python, script string
	peers          []string
	cores          []int
	rounds, images int
	timeout        time.Duration
	label          string
	worker         bool
	decoder        string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o, err := parse(os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err == nil && o.worker:
		err = serve(os.Stdin, os.Stdout, o)
	case err == nil:
		err = compare(ctx, o, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		stop()
		if errors.Is(err, context.Canceled) {
			os.Exit(130)
		}
		os.Exit(1)
	}
}

func parse(args []string) (options, error) {
	var o options
	var names, cores string
	f := flag.NewFlagSet("peers", flag.ContinueOnError)
	f.StringVar(&o.data, "data", "", "folder of JPEG files, or of class folders of them")
	f.StringVar(&o.out, "o", "", "folder for report.json and table.md")
	f.StringVar(&o.python, "python", "python3", "interpreter that has requirements.txt installed")
	f.StringVar(&o.script, "script", filepath.Join("scripts", "peers", "peers.py"), "the Python workers")
	f.StringVar(&names, "peers", strings.Join(known, ","), "which, separated by commas")
	f.StringVar(&cores, "cores", "1,2", "numbers of cores, separated by commas")
	f.IntVar(&o.rounds, "rounds", 15, "of one pass of each peer")
	f.IntVar(&o.images, "images", 512, "in a pass, at least: the files are gone through that often")
	f.DurationVar(&o.timeout, "timeout", 5*time.Minute, "for a pass")
	f.StringVar(&o.label, "label", "", "what to call this machine in the report")
	f.BoolVar(&o.worker, "worker", false, "be dlbench's own worker")
	f.StringVar(&o.decoder, "decoder", "turbo", "of that worker: turbo or go")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	o.peers = strings.Split(names, ",")
	for _, p := range o.peers {
		if !slices.Contains(known, p) {
			return o, fmt.Errorf("-peers %s: want some of %s", p, strings.Join(known, ", "))
		}
	}
	for c := range strings.SplitSeq(cores, ",") {
		n, err := strconv.Atoi(c)
		if err != nil || n < 1 {
			return o, fmt.Errorf("-cores %s: want numbers such as 1,2", cores)
		}
		o.cores = append(o.cores, n)
	}
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("unknown argument %q", f.Arg(0))
	case o.data == "":
		return o, errors.New("-data is missing: a folder of JPEG files")
	case o.rounds < 1 || o.images < 1:
		return o, errors.New("want at least 1 round and 1 image")
	case o.out == "" && !o.worker:
		return o, errors.New("-o is missing: a folder for the report")
	}
	return o, nil
}

// compare measures all peers and writes report.json and table.md, of the rounds that
// were finished when something went wrong.
func compare(ctx context.Context, o options, stdout io.Writer) error {
	cpus := host.UsableCPUs()
	if most := slices.Max(o.cores); most > len(cpus) {
		return fmt.Errorf("%d CPUs are wanted and this process may use %d: -cores 1 measures on one", most, len(cpus))
	}
	set, err := loader.Open(o.data, loader.OpenOptions{Store: loader.Files})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	peers, err := commands(o)
	if err != nil {
		return err
	}
	r := newReport(o, set)
	say := func(string, ...any) {}
	if term.IsTerminal(int(os.Stderr.Fd())) {
		say = func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
	}
	p := plan{cpus: cpus, rounds: o.rounds, files: len(set.Files), bytes: set.Bytes, timeout: o.timeout}
	m, failed := measure(ctx, peers, p, say)
	if m.rounds == 0 {
		return cmp.Or(failed, errors.New("no round was finished"))
	}
	r.add(m)
	r.Finished = time.Now()
	if failed != nil {
		r.Status = results.Interrupted
	}
	save := errors.Join(
		results.Save(filepath.Join(o.out, "report.json"), &r.Report),
		results.SaveAs(filepath.Join(o.out, "table.md"), func(w io.Writer) error { return r.table(w) }),
		r.table(stdout))
	return errors.Join(failed, save)
}
