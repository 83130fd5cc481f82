package pipeline

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"dlbench/bench"
	"dlbench/bench/pace"
	"dlbench/bench/pagecache"
	"dlbench/bench/theory"
	"dlbench/cuda"
	"dlbench/loader"
	"dlbench/results"
)

// pipelineRunner runs batches through a pipeline to a device.
type pipelineRunner struct {
	env      bench.Env
	device   cuda.Device
	strategy string
	cache    string
	mem      string
	prefetch int
	workers  int
	free     []string
	step     time.Duration
	disk     theory.DiskSpec
	cpus     []int // of all threads; nil for any
	batch    theory.Batch

	sink     *deviceSink
	pipeline *loader.Pipeline
	stop     context.CancelCauseFunc
	makers   []bench.Worker
	held     [][]byte // the samples' bytes, where reading is free
	set      *loader.Set
	wentBad  *atomic.Int64 // samples that no image could be made of

	times  []stepTimes // of steps since a sample began, as they end
	handed []loader.Times
	first  time.Duration   // to the first batch
	told   bool            // first was recorded
	ended  time.Time       // of the last sample, or of opening
	paused bool            // other cases had their turn since
	load   *busy           // what the step keeps busy, while steps are done
	lasted time.Duration   // the last sample
	before int64           // resident memory before, B
	peak   int64           // since, above that
	lates  []time.Duration // by how much waits for an assumed device's steps were late
	late   int             // the first of the sample's
	series []stepTimes     // of all samples, for the trace
	waits  []time.Duration
	state  bench.MachineState
	reads  loader.Stats
	watch  pagecache.ReadWatch // since opening
	doubt  *string             // of all restarts, that reads past the page cache were that
}

// Bounds of what a case holds in memory where reading is free, and of its trace.
const (
	mostHeld  = 256 << 20
	mostTrace = 2000
)

// stuckAfter is how long no stage may get on before a pipeline is given up on, beside
// ten steps.
const stuckAfter = 20 * time.Second

func (r *pipelineRunner) open(ctx context.Context) error {
	unbind, err := r.device.Bind()
	if err != nil {
		return err
	}
	defer unbind()
	r.before = bench.ResidentBytes()
	r.wentBad = &atomic.Int64{}
	r.state = bench.ReadMachineState(r.env.Root, nil)
	took := func(t stepTimes) {
		r.times = append(r.times, t)
		if r.step > 0 && r.device.Info().Assumed {
			r.lates = append(r.lates, r.sink.late())
		}
	}
	if r.sink, err = newDeviceSink(r.device, r.mem, int(r.batch.Bytes()), loader.Slots(r.prefetch), r.step, r.isFree(results.PartCopy), took); err != nil {
		return err
	}
	o := loader.PipelineOptions{Prefetch: r.prefetch, Workers: r.workers, Null: r.null()}
	own, stop := context.WithCancelCause(context.Background()) // ctx is that of opening
	r.stop = stop
	var plan *loader.Plan
	if !o.Null {
		if plan, err = r.prepare(ctx, &o); err != nil {
			return err
		}
	}
	r.watch = pagecache.WatchReads(r.env.Root, nil)
	began := pace.Real.Now()
	r.pipeline, err = loader.NewPipeline(own, r.set, plan, r.sink, o)
	if err = skipNoDirect(err); err != nil {
		return err
	}
	for i := range r.makers {
		if err := r.makers[i].Err; err != nil {
			return err
		}
	}
	defer r.guard(ctx)()
	first, err := r.firstBatch(ctx, began)
	if err != nil {
		return err
	}
	r.first = first
	defer func() { r.ended = time.Now() }()
	return r.sink.Done()
}

// Size is how many steps make a sample: of a stream blocks of at least twice the
// prefetch.
func (r *pipelineRunner) Size(n int) int {
	if r.null() && r.isFree(results.PartCopy) && r.step == 0 { // nothing but the pipeline's own cost
		n = max(n, nullSteps)
	}
	return max(n, 2*r.prefetch, 1)
}

// nullSteps is how many steps with nothing to do make a sample that a clock can tell.
const nullSteps = 4096

// Sample does n steps.
func (r *pipelineRunner) Sample(ctx context.Context, n int, rec *bench.Recorder) error {
	unbind, err := r.device.Bind()
	if err != nil {
		return err
	}
	defer unbind()
	procs := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(max(procs, r.workers+r.env.Step.CPU+2))
	defer runtime.GOMAXPROCS(procs)
	defer r.guard(ctx)()
	if err := r.resume(ctx, rec.Warmup); err != nil {
		return err
	}
	r.times, r.handed, r.late = r.times[:0], r.handed[:0], len(r.lates)
	reads := r.reads.Nanos
	bad, cpu, start := r.wentBad.Load(), bench.ProcessCPU(), time.Now()
	spun, err := r.underLoad(func() error {
		for len(r.times) < n {
			if err := r.run(ctx, 1); err != nil {
				return err
			}
		}
		r.ended = time.Now()
		r.lasted = r.ended.Sub(start)
		return nil
	})
	if err != nil {
		return err
	}
	cpu = max(0, bench.ProcessCPU()-cpu-spun)
	r.peak = max(r.peak, bench.ResidentBytes()-r.before)
	var since, busy time.Duration
	for _, t := range r.times[:n] {
		since += t.Since
		busy += t.Busy
	}
	if since <= 0 {
		since = r.lasted
	}
	r.sink.loaded.Harvest(!rec.Warmup)
	rec.Add(since, max(0, int64(n*r.batch.Images)-(r.wentBad.Load()-bad)), int64(n)*r.batch.Bytes())
	if rec.Warmup {
		return nil
	}
	r.observe(rec, n)
	for _, l := range r.lates[r.late:] {
		rec.Observe("lateness", l)
	}
	if r.step > 0 {
		rec.Set("utilisation", busy.Seconds()/since.Seconds())
	}
	rec.Set("cpu", cpu.Seconds()/float64(len(r.handed)))
	if took := time.Duration(r.reads.Nanos - reads); took > 0 {
		rec.Set("read", took.Seconds()/float64(len(r.handed)))
	}
	if !r.told {
		rec.Set("first_batch", r.first.Seconds())
		r.told = true
	}
	if r.peak > 0 {
		rec.Set("memory", float64(r.peak))
	}
	if room := mostTrace - len(r.series); room > 0 {
		r.series = append(r.series, r.times[:min(n, room)]...)
		for _, t := range r.handed[:min(len(r.handed), n, room)] {
			r.waits = append(r.waits, t.Waited())
		}
	}
	return nil
}

// observe records the times of n steps, of very many only their means: what is kept of
// each would be more than the batches.
func (r *pipelineRunner) observe(rec *bench.Recorder, n int) {
	if n >= nullSteps {
		var stall, wait time.Duration
		for _, t := range r.times[:n] {
			stall += max(0, t.Since-t.Busy)
		}
		for _, t := range r.handed {
			wait += t.Waited()
		}
		rec.Set("step_time", rec.Elapsed.Seconds()/float64(n))
		rec.Set("stall", stall.Seconds()/float64(n))
		rec.Set("wait", wait.Seconds()/float64(len(r.handed)))
		return
	}
	for _, t := range r.times[:n] {
		rec.Observe("step_time", t.Since)
		rec.Observe("stall", max(0, t.Since-t.Busy))
	}
	for _, t := range r.handed {
		rec.Observe("wait", t.Waited())
	}
}

// firstBatch does one step, and is the time from began, of pace.Real, until its batch was loaded.
func (r *pipelineRunner) firstBatch(ctx context.Context, began time.Duration) (time.Duration, error) {
	if err := r.run(ctx, 1); err != nil {
		return 0, err
	}
	return r.handed[0].Loaded - began, nil // by one clock, read once each
}

// guard ends the pipeline when ctx does, and when for a while no stage gets on; the
// error then says what each is at. What it returns ends the guard.
func (r *pipelineRunner) guard(ctx context.Context) (end func()) {
	limit := stuckAfter + 10*r.step
	if r.disk.Emulated() {
		limit += time.Duration(float64(r.batch.Bytes()) / r.disk.Rate * 1e9)
	}
	watch := r.pipeline.Watch()
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		moves := watch.Moves()
		tick := time.NewTicker(limit)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-ctx.Done():
				r.stop(context.Cause(ctx))
				return
			case <-tick.C:
				now := watch.Moves()
				if now == moves {
					r.stop(fmt.Errorf("%w: %s", errStandsStill, watch))
					return
				}
				moves = now
			}
		}
	}()
	return func() { // ctx may end right after
		close(done)
		<-ended
	}
}

// run does n steps.
func (r *pipelineRunner) run(ctx context.Context, n int) error {
	for range n {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		t, err := r.pipeline.Step()
		if err != nil {
			return skipNoDirect(err)
		}
		r.reads.Add(r.pipeline.Stats())
		r.handed = append(r.handed, t)
	}
	return nil
}

// skipNoDirect is err, or a skip where data cannot be read past the page cache, which
// some file systems only tell when they are read from.
func skipNoDirect(err error) error {
	if errors.Is(err, loader.ErrNoDirect) {
		return &bench.SkipError{Reason: err.Error()}
	}
	return err
}

// errStandsStill says that a stage of the pipeline does not get on.
var errStandsStill = errors.New("the pipeline stands still")

func (r *pipelineRunner) Close() error {
	unbind, err := r.device.Bind()
	if err != nil { // a lost device must not keep the workers
		if r.stop != nil {
			r.stop(nil)
		}
		return errors.Join(err, r.pipeline.Stop())
	}
	defer unbind()
	if r.pipeline != nil {
		err = r.pipeline.Close()
		r.pipeline = nil
	}
	if r.stop != nil {
		r.stop(nil)
	}
	if r.sink != nil {
		err = errors.Join(err, r.sink.close())
		r.sink = nil
	}
	return err
}
