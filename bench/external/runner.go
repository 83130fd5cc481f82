package external

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"dlbench/bench"
	"dlbench/results"
)

// runner measures a loader in its process.
type runner struct {
	results.ExternalParams
	env bench.Env

	process *process
	proof   results.ExternalProof
	ready   record             // that says when the loader could be asked for a batch
	leave   float64            // when the last batch came, by the loader's clock
	once    map[string]float64 // metrics that the next sample records
	ended   time.Time          // of the last sample
	before  usage              // when the loader had delivered its first batch
	memory  int64              // most, B
	network int64              // B that dlbench's own loader read of an object store
	stuck   time.Duration      // how long nothing may come; 0 is the usual time
}

// stuckAfter is how long nothing may come from a loader, besides ten steps.
const stuckAfter = 30 * time.Second

// Open starts the loader and waits for its first batch.
func (r *runner) Open(ctx context.Context) error {
	if !supported {
		return &bench.SkipError{Reason: "loaders of your own are measured on Linux only"}
	}
	argv, env, err := r.command(ctx)
	if err != nil {
		return err
	}
	if r.process, err = start(r.Loader, argv, append(env, r.settings().environ()...), r.env.Logs()); err != nil {
		return err
	}
	defer r.hurry(ctx)
	hello, err := r.process.hello(ctx)
	if err != nil {
		return err
	}
	r.proof.Title, r.proof.Python, r.proof.Software = hello.Loader, hello.Python, hello.Software
	first, err := r.batch(ctx)
	if err != nil {
		return err
	}
	r.once = map[string]float64{"import": hello.Time - r.process.started}
	ready := hello.Time
	if r.ready.Ready > 0 {
		ready = r.ready.Ready
		r.once["startup"] = ready - r.ready.Began
	}
	if took := first.Leave - ready; took >= 0 { // else it does not go by the clock
		r.once["first_batch"] = took
	}
	r.before = r.process.used()
	r.process.pause()
	return nil
}

// hurry has a loader end soon when ctx has ended.
func (r *runner) hurry(ctx context.Context) {
	if ctx.Err() != nil {
		r.process.patience = hurryLimit
	}
}

// depth is how many batches a loader has ready at most, as far as can be told from outside:
// two a worker, as PyTorch's DataLoader.
func (r *runner) depth() int { return max(2, 2*r.Workers) }

// Size is how many batches make a sample: blocks of at least twice what is ready.
func (r *runner) Size(n int) int { return max(n, 2*r.depth()) }

// batch is the record of the next batch, which it checks.
func (r *runner) batch(ctx context.Context) (record, error) {
	for {
		b, err := r.process.next(ctx, cmp.Or(r.stuck, stuckAfter+10*time.Duration(r.Step)))
		switch {
		case err != nil && errors.Is(ctx.Err(), context.Canceled):
			return b, ctx.Err()
		case err != nil && ctx.Err() != nil:
			return b, r.process.failed("delivered no batch: %w", err)
		case err != nil:
			return b, err
		case b.End > 0:
			return b, r.process.failed("ended by itself")
		case b.Pixels != nil:
			r.proof.Pixels = b.Pixels
			continue
		case b.Ready > 0:
			r.ready = b
			continue
		case b.Epoch > 0:
			r.proof.Epochs = max(r.proof.Epochs, b.Epoch)
			if r.proof.Batches == 0 {
				return b, r.process.failed("came to the end of its data without a batch: is there an image in %s?",
					r.settings().Path)
			}
			continue
		case b.Enter == nil:
			continue // of a later version
		}
		if err := r.check(b); err != nil {
			return b, r.process.failed("%w", err)
		}
		r.leave, r.network = b.Leave, max(r.network, b.Network)
		r.proof.Batch = max(r.proof.Batch, int(b.Images))
		r.proof.Batches++
		return b, nil
	}
}

// mostImages is more than a batch can have.
const mostImages = 1 << 30

// check tells what cannot be of a batch.
func (r *runner) check(b record) error {
	total := r.env.Host.Memory.Total
	switch {
	case b.Images <= 0 || b.Images > mostImages || b.Bytes < 0 || total > 0 && b.Bytes > total ||
		b.Bytes > 0 && b.Images > b.Bytes:
		return fmt.Errorf("says that a batch has %d images in %d bytes, which cannot be", b.Images, b.Bytes)
	case b.Leave < *b.Enter || *b.Enter < max(r.leave, r.ready.Ready) || r.ready.Ready < r.ready.Began,
		b.Leave > monotonic()+1:
		return errors.New("writes times that go backwards, or are not those of CLOCK_MONOTONIC")
	}
	return nil
}

// shortPause is how long a loader may have been stopped for its queue to be as it was.
const shortPause = 20 * time.Millisecond

// Sample takes n batches, after those that were ready before.
func (r *runner) Sample(ctx context.Context, n int, rec *bench.Recorder) error {
	defer r.hurry(ctx)
	defer r.process.pause()
	defer bench.KeepBusy(r.busy(), nil)()
	skip := 1 // the one in which the loader was stopped
	if time.Since(r.ended) > shortPause {
		skip = r.depth()
	}
	if rec.Warmup && r.proof.Batches == 1 {
		skip = 2 * r.depth() // workers have just started
	}
	skip += len(r.process.records) // those written before the loader was stopped
	r.process.resume()
	for range skip {
		if _, err := r.batch(ctx); err != nil {
			return err
		}
	}
	began, before := r.leave, r.process.used()
	var images, bytes int64
	for range n {
		b, err := r.batch(ctx)
		if err != nil {
			return err
		}
		images += b.Images
		bytes += b.Bytes
		rec.Observe("wait", seconds(b.Leave-*b.Enter))
	}
	after := r.process.used()
	r.process.pause() // it would go on while its memory is counted
	r.ended = time.Now()
	lasted := seconds(r.leave - began)
	rec.Add(lasted, images, bytes)
	if rec.Warmup {
		return nil
	}
	if r.Step > 0 {
		rec.Set("utilisation", float64(n)*time.Duration(r.Step).Seconds()/lasted.Seconds())
	}
	for name, value := range r.once {
		rec.Set(name, value)
	}
	r.once = nil
	if after.processes > 0 {
		rec.Set("cpu", (after.cpu-before.cpu).Seconds()/float64(images))
		if after.mainKnown && before.mainKnown {
			rec.Set("main_cpu", (after.main-before.main).Seconds()/float64(images))
		}
		r.memory = max(r.memory, r.process.memory())
		rec.Set("memory", float64(r.memory))
		r.proof.Processes = max(r.proof.Processes, after.processes)
	}
	return nil
}

// busy is how many threads a step keeps busy besides the loader's process.
func (r *runner) busy() int {
	if r.Step == 0 {
		return 0
	}
	return r.env.Step.CPU
}

func seconds(s float64) time.Duration { return time.Duration(s * 1e9) }

// Report adds what the loader is, and what it read.
func (r *runner) Report(res *results.Result) {
	if u := r.process.used(); u.processes > 0 && u.read >= r.before.read && r.env.Data.Remote == nil {
		read, fromDevice := u.read-r.before.read, u.fromDevice-r.before.fromDevice
		r.proof.BytesRead, r.proof.FromDevice = &read, &fromDevice
	}
	res.Proof = results.RecordOf(&r.proof)
	if r.proof.Batch != r.env.Batch.Images {
		res.Warnf("a batch has %d images, not the %d of --batch", r.proof.Batch, r.env.Batch.Images)
	}
	if r.proof.Epochs > 0 {
		res.Warnf("the loader came to the end of its data while it was measured (%s): that wait is part of the figures",
			results.Plural(r.proof.Epochs, "epoch"))
	}
	res.Warnings = append(res.Warnings, bench.MoreThan(r.env, r.Workers, "worker")...)
}

// Close ends the loader and all that it started.
func (r *runner) Close() error {
	if r.process == nil {
		return nil
	}
	r.proof.Log = r.process.close()
	r.process = nil
	if r.env.Data.Remote != nil {
		r.env.Data.Remote.Charge(r.network)
	}
	return nil
}

// command is the program that starts the loader, with its arguments, and what its
// environment needs.
func (r *runner) command(ctx context.Context) (argv, env []string, err error) {
	if r.Loader == results.OwnLoader {
		self, err := os.Executable()
		wanted, failed := json.Marshal(r.settings())
		return []string{self, "feed"}, []string{"DLBENCH_SETTINGS=" + string(wanted)}, errors.Join(err, failed)
	}
	folder, err := install(r.env.Logs())
	if err != nil {
		return nil, nil, err
	}
	env = []string{"PYTHONPATH=" + results.Join(string(os.PathListSeparator), folder, os.Getenv("PYTHONPATH")),
		"DLBENCH_CACHE=" + filepath.Join(filepath.Dir(folder), "loaders")}
	if c := r.userCommand(); c != "" {
		r.proof.Command = c
		return []string{"/bin/sh", "-c", c}, env, nil
	}
	python, err := findPython(ctx, r.env.Python)
	return []string{python, filepath.Join(folder, adaptersFolder, adapterFile(r.Loader))}, env, err
}

// userCommand is the command that starts the loader, "" for one that dlbench knows.
func (r *runner) userCommand() string {
	for _, l := range r.env.Loaders {
		if l.Name == r.Loader {
			return l.Command
		}
	}
	return ""
}

// prepares are the adapters that write files of their own before they can load anything.
var prepares = []string{"ffcv"}

// prepare has the adapter write its files, however long that takes, once in a run. What is already
// there is used.
func (r *runner) prepare(ctx context.Context, done map[string]error) error {
	if err, ok := done[r.Loader]; ok {
		return err
	}
	argv, env, err := r.command(ctx)
	if err != nil {
		return err
	}
	env = append(append(env, "DLBENCH_PREPARE=1"), r.settings().environ()...)
	if r.process, err = start(r.Loader, argv, env, r.env.Logs()); err != nil {
		return err
	}
	defer r.process.close()
	for err == nil {
		_, err = r.process.next(ctx, bench.MostStep)
	}
	r.hurry(ctx)
	if r.process.done() {
		err = nil
	}
	if ctx.Err() == nil {
		done[r.Loader] = err
	}
	return err
}
