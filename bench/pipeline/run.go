package pipeline

import (
	"cmp"
	"context"
	"errors"
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
	params
	env        bench.Env
	device     cuda.Device
	step       time.Duration
	disk       theory.DiskSpec
	cpus       []int // of all threads; nil for any
	batch      theory.Batch
	set        *loader.Set
	preprocess loader.PreprocessOptions

	waits bool // it is measured what waiting for a step takes, too

	sink     *deviceSink
	pipeline *loader.Pipeline
	stop     context.CancelCauseFunc
	makers   *bench.Workers

	times    []stepTimes       // of steps since a sample began, as they end
	batches  []loader.Times    // delivered since then
	first    time.Duration     // to the first batch; 0 once it is recorded
	ended    time.Time         // of the last sample, or of opening
	paused   bool              // other cases were measured since
	loaded   bool              // the step keeps its threads busy
	lasted   time.Duration     // the last sample
	before   int64             // resident memory before, B
	peak     int64             // since, above that
	lateness []time.Duration   // of waits for a simulated device's steps
	trace    [2]results.Series // steps, and waits for batches, of the restart
	traced   time.Duration
	state    bench.MachineState
	reads    loader.Stats
	watch    pagecache.ReadWatch // since opening
	doubt    *string             // of all runs, that reads past the page cache were that
}

// mostTrace is how many steps a trace has at most.
const mostTrace = 2000

// stuckAfter is how long no stage may get on before a pipeline is given up on, besides
// ten steps.
const stuckAfter = 20 * time.Second

// Open starts the pipeline and does a step.
func (r *pipelineRunner) Open(ctx context.Context) error {
	unbind, err := r.device.Bind()
	if err != nil {
		return err
	}
	defer unbind()
	r.before = bench.ResidentBytes()
	r.state = bench.ReadMachineState(r.env.Root, nil)
	r.sink, err = newDeviceSink(r.device, sinkOptions{mem: r.Mem, bytes: int(r.batch.Bytes()),
		depth: loader.Slots(r.Prefetch), step: r.step, work: r.Soak > 0, null: r.IsFree(results.PartCopy),
		ended: r.stepEnded})
	if err != nil {
		return err
	}
	o := loader.PipelineOptions{Prefetch: r.Prefetch, Workers: r.Workers, Null: r.null()}
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
	if err = cmp.Or(err, r.makers.Err()); err != nil {
		return err
	}
	defer r.guard(ctx)()
	if err := r.run(ctx); err != nil {
		return err
	}
	r.first = r.batches[0].Loaded - began // by one clock, read once each
	defer func() { r.ended = time.Now() }()
	return r.sink.Done()
}

// stepEnded takes the times of a step of the device.
func (r *pipelineRunner) stepEnded(t stepTimes) {
	r.times = append(r.times, t)
	if r.step > 0 && r.device.Info().Assumed {
		r.lateness = append(r.lateness, r.device.Late())
	}
}

// Size is how many steps make a sample: of a stream blocks of at least twice the
// prefetch.
func (r *pipelineRunner) Size(n int) int {
	if r.null() && r.IsFree(results.PartCopy) && r.step == 0 { // nothing but the pipeline's own cost
		n = max(n, nullSteps)
	}
	return max(n, 2*r.Prefetch, 1)
}

// nullSteps is how many steps with nothing to do make a sample that a clock can tell.
const nullSteps = 4096

func (r *pipelineRunner) Sample(ctx context.Context, n int, rec *bench.Recorder) error {
	unbind, err := r.device.Bind()
	if err != nil {
		return err
	}
	defer unbind()
	defer bench.WithProcessors(r.Workers + r.StepCPU + 2)()
	defer r.guard(ctx)()
	if err := r.resume(ctx, rec.Warmup); err != nil {
		return err
	}
	r.times, r.batches = r.times[:0], r.batches[:0]
	reads, late := r.reads.Nanos, len(r.lateness)
	bad, cpu, start := r.makers.Bad(), bench.ProcessCPU(), time.Now()
	spun, err := r.runUnderLoad(ctx, func() bool { return len(r.times) >= n })
	if err != nil {
		return err
	}
	r.lasted = r.ended.Sub(start)
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
	rec.Add(since, max(0, int64(n*r.batch.Images)-(r.makers.Bad()-bad)), int64(n)*r.batch.Bytes())
	if rec.Warmup {
		return nil
	}
	r.observe(rec, n)
	for _, l := range r.lateness[late:] {
		rec.Observe("lateness", l)
	}
	if r.step > 0 {
		rec.Set("utilisation", busy.Seconds()/since.Seconds())
	}
	rec.SetKnown("cpu", cpu.Seconds()/float64(len(r.batches)))
	rec.SetKnown("read", time.Duration(r.reads.Nanos-reads).Seconds()/float64(len(r.batches)))
	rec.SetKnown("first_batch", r.first.Seconds())
	r.first = 0
	rec.SetKnown("memory", float64(r.peak))
	if r.waits {
		return r.recordWaits(rec)
	}
	return nil
}

// observe records the times of n steps, of very many only their means, since what is kept
// of each would be more than the batches; and adds the first ones to the trace.
func (r *pipelineRunner) observe(rec *bench.Recorder, n int) {
	var stall, wait time.Duration
	each := func(name string, t time.Duration) time.Duration {
		if n < nullSteps {
			rec.Observe(name, t)
		}
		return t
	}
	for _, t := range r.times[:n] {
		each("step_time", t.Since)
		stall += each("stall", max(0, t.Since-t.Busy))
	}
	for _, t := range r.batches {
		wait += each("wait", t.Waited())
	}
	rec.Set("step_time", rec.Elapsed.Seconds()/float64(n))
	rec.Set("stall", stall.Seconds()/float64(n))
	rec.Set("wait", wait.Seconds()/float64(len(r.batches)))
	steps, waits := &r.trace[0], &r.trace[1]
	for i, t := range r.times[:min(n, mostTrace-len(steps.T))] {
		r.traced += t.Since
		steps.T, steps.V = append(steps.T, r.traced.Seconds()), append(steps.V, t.Since.Seconds())
		if i < len(r.batches) {
			waits.T, waits.V = append(waits.T, r.traced.Seconds()), append(waits.V, r.batches[i].Waited().Seconds())
		}
	}
}

// leastPause is what passes between samples in a row at most, with what is done there,
// and pauseShare how much of the last sample's time it may be: what was loaded meanwhile
// then matters no more than that.
const (
	leastPause = 20 * time.Millisecond
	pauseShare = 0.01
)

// resume gets the pipeline going again after a pause in which the device did everything.
// Serial steps go on from now. Others follow batches that were loaded meanwhile, which
// would pass for speed: these are worked on first, under the same load as those that
// are measured.
//
// A step to warm up leaves that to the sample after it, since it may end with copies
// of its batches unfinished.
func (r *pipelineRunner) resume(ctx context.Context, warmup bool) error {
	idle, err := r.sink.idle()
	if err != nil {
		return err
	}
	if warmup {
		r.paused = r.paused || idle && time.Since(r.ended) > leastPause
		return nil
	}
	short := time.Since(r.ended).Seconds() <= pauseShare*r.lasted.Seconds()
	if !r.paused && (!idle || short && r.Prefetch > 0 && r.step == 0) {
		return nil
	}
	r.paused = false
	if r.Prefetch == 0 {
		return r.sink.restart()
	}
	from := r.sink.next // by the device: steps end later than their batches are delivered
	_, err = r.runUnderLoad(ctx, func() bool { return r.sink.timed > from+r.Prefetch })
	return err
}

// runUnderLoad does steps until done, while the step keeps its threads busy. It returns the
// CPU time that these used.
func (r *pipelineRunner) runUnderLoad(ctx context.Context, done func() bool) (used time.Duration, err error) {
	stop := bench.KeepBusy(r.StepCPU, r.cpus)
	r.loaded = true
	defer func() { used, r.loaded = stop(), false }()
	for !done() && err == nil {
		err = r.run(ctx)
	}
	r.ended = time.Now()
	return 0, err
}

// guard ends the pipeline when ctx does, and when for a while no stage gets on. What it
// returns ends the guard.
func (r *pipelineRunner) guard(ctx context.Context) (end func()) {
	limit := stuckAfter + 10*r.step
	if r.disk.Emulated() {
		limit += time.Duration(float64(r.batch.Bytes()) / r.disk.Rate * 1e9)
	}
	return r.pipeline.Guard(ctx, limit, r.stop)
}

func (r *pipelineRunner) run(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	t, err := r.pipeline.Step()
	if err != nil {
		return err
	}
	r.reads.Add(r.pipeline.Stats())
	r.batches = append(r.batches, t)
	return nil
}

func (r *pipelineRunner) Close() error {
	unbind, err := r.device.Bind()
	if err != nil { // a lost device must not keep the workers
		r.stop(nil)
		r.pipeline.Stop()
		return err
	}
	defer unbind()
	if r.pipeline != nil {
		err = r.pipeline.Close()
		r.pipeline = nil
	}
	r.stop(nil)
	if r.sink != nil {
		err = errors.Join(err, r.sink.close())
		r.sink = nil
	}
	return err
}
