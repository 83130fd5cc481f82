// Package external is the suite of the user's own loaders: each runs in a process of its own,
// writes a record for every batch, and is measured in turn with dlbench's loader.
package external

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"dlbench/bench"
	"dlbench/bench/theory"
	"dlbench/loader"
	"dlbench/results"
)

// Suite is the suite external.
var Suite = bench.Suite{
	Name:    "external",
	Doc:     "how many images a second the loader that you train with delivers (--loader), next to dlbench's own",
	Axes:    axes.Info(),
	Cases:   externalCases,
	Claims:  claims,
	Data:    true,
	Decode:  true,
	Share:   60 * time.Second,
	Quick:   10 * time.Second,
	Samples: 9,
	Visit:   3,
}

type params = results.ExternalParams

var axes = bench.Axes[params]{
	{Name: "loader", Set: bench.Text(func(p *params) *string { return &p.Loader }), Doc: "set by --loader"},
	{Name: "workers", Set: bench.Count(func(p *params) *int { return &p.Workers }, "workers", 0, results.MostThreads),
		Doc: "processes or threads that the loader is asked to use; 0 is the training process itself"},
	{Name: "step", Set: bench.StepTime(func(p *params) *results.Duration { return &p.Step }),
		Doc: "time that a batch is worked on; 0s: nothing waits"},
}

var metrics = []bench.MetricDef{
	bench.MetricImages,
	{Name: "wait", Unit: results.Seconds, Better: results.Lower, Resolution: 1e-6, Distribution: true}, // for a batch
	{Name: "utilisation", Unit: results.Ratio, Better: results.Higher},
	{Name: "cpu", Unit: results.Seconds, Better: results.Lower},      // an image, of all processes
	{Name: "main_cpu", Unit: results.Seconds, Better: results.Lower}, // of it, the training process's
	{Name: "memory", Unit: results.Bytes, Better: results.Lower},     // PSS of all processes, after each sample
	{Name: "import", Unit: results.Seconds, Better: results.Lower},   // from the start to the loader's first record
	{Name: "startup", Unit: results.Seconds, Better: results.Lower},  // to make it: to list files, to start workers
	{Name: "first_batch", Unit: results.Seconds, Better: results.Lower},
}

// points are the curated points: each loader with nothing waiting, by its workers, and
// against the step that the user's GPU takes, where that is known.
func points(env bench.Env) (all []params) {
	usable, _ := bench.UsableThreads(env)
	counts := []int{1}
	for n := 2; n < usable && !env.Quick; n *= 2 {
		counts = append(counts, n)
	}
	counts = slices.Compact(append(counts, usable))
	add := func(workers int, step results.Duration) {
		for _, l := range append([]bench.Loader{{Name: results.OwnLoader}}, env.Loaders...) {
			all = append(all, params{Loader: l.Name, Workers: workers, Step: step})
		}
	}
	for _, n := range counts {
		add(n, 0)
	}
	if step := env.NeededStep(); step > 0 {
		add(usable, results.Duration(step))
	}
	return all
}

func externalCases(env bench.Env) ([]bench.Case, error) {
	if len(env.Loaders) == 0 {
		return nil, nil
	}
	all, err := axes.Expand(points(env), env.Axes)
	if err != nil {
		return nil, err
	}
	prepared := map[string]error{}
	return bench.CasesOf(all, func(p params) (bench.Case, error) {
		list, err := axes.Params(p, nil)
		if err != nil {
			return bench.Case{}, err
		}
		r := &runner{ExternalParams: p, env: env}
		c := bench.Case{Params: list, Group: fmt.Sprintf("%d/%v", p.Workers, p.Step), Metrics: metrics,
			References: bench.Demands(), Open: bench.OpenCopy(*r)}
		if supported && slices.Contains(prepares, p.Loader) && r.userCommand() == "" {
			c.Prepare = func(ctx context.Context) error { return r.prepare(ctx, prepared) }
		}
		if p.Step > 0 {
			c.Assumed = []string{"step"}
		}
		if !slices.ContainsFunc(env.Loaders, func(l bench.Loader) bool { return l.Name == p.Loader }) &&
			p.Loader != results.OwnLoader {
			const want = "no such loader: name it with --loader"
			return c, &bench.UsageError{Flag: "-a", Value: "loader=" + p.Loader, Want: want}
		}
		if p.Loader == results.OwnLoader && env.Data.Images == nil {
			c.Skip = "no images here that dlbench's own loader decodes"
		}
		if env.Data.Remote != nil && slices.Contains(env.Loaders, bench.Loader{Name: p.Loader}) {
			c.Skip = "this loader is given folders alone, not s3://: measure a script of yours, --loader NAME='COMMAND'"
		}
		return c, nil
	})
}

// leastPass is how many batches a pass over the data has at least: a small data set is gone
// through several times, so that its end does not come where a large one has none.
const leastPass = 1000

// settings are what a loader is asked to do.
func (r *runner) settings() settings {
	s := settings{Batch: r.env.Batch, Workers: r.Workers, Seed: r.env.Seed, Epochs: 1, Step: time.Duration(r.Step),
		Path: r.env.Data.Path}
	s.Batch.DType = theory.ArticleBatch.DType // whatever the other suites have
	if r.env.Data.Made {
		store := loader.Files
		if r.Loader == "webdataset" {
			store = loader.Tar
		}
		s.Path = r.env.Data.Sets[store].Root
	}
	if r.env.Data.Remote != nil {
		if most := r.env.MaxBytes; most > 0 && r.Loader == results.OwnLoader {
			s.MaxBytes = max(1, most-r.env.Data.Remote.Stats().Bytes)
		}
	} else if path, err := filepath.Abs(s.Path); err == nil {
		s.Path = path // its command may go to another folder
	}
	if images := r.env.Data.Images; images != nil && len(images.Samples) > 0 {
		s.Epochs = max(1, (leastPass*r.env.Batch.Images+len(images.Samples)-1)/len(images.Samples))
	}
	return s
}
