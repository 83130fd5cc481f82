package preprocess

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"dlbench/bench"
	"dlbench/bench/host"
	"dlbench/bench/theory"
	"dlbench/loader"
	"dlbench/results"
)

// preprocessRunner makes batches with a number of threads, each on a CPU of its own,
// and next to them has as many threads work that share nothing.
type preprocessRunner struct {
	params
	env    bench.Env
	memory *batchMemory
	batch  theory.Batch
	set    *loader.Set
	o      loader.PreprocessOptions

	feed    *loader.Feed
	stop    context.CancelFunc
	batches []byte // memory of those being made
	workers *bench.Workers
	control control
	cpus    []int // of the threads, in their order
	restore []func()
	before  bench.MachineState
	after   bench.MachineState // while the last sample was taken
}

// depth is how many batches are in the making at most: each thread has its own sample,
// and the consumer one batch.
func (r *preprocessRunner) depth() int {
	return 2 + (r.Threads+r.batch.Images-1)/r.batch.Images
}

// sampleBytes is the size of a sample in the batch.
func (r *preprocessRunner) sampleBytes() int64 { return r.batch.Bytes() / int64(r.batch.Images) }

// newWorkers are as many as the case has threads, each on its CPU.
func (r *preprocessRunner) newWorkers() *bench.Workers {
	return bench.NewWorkers(r.Threads, bench.WorkerOptions{Set: r.set, Strategy: r.Strategy, Preprocess: r.o,
		CPUs: r.cpus, OwnCPU: true})
}

// remoteImages is how many images of an object store a case reads into memory, once.
const remoteImages = 256

// Open starts the threads and those of the control.
func (r *preprocessRunner) Open(ctx context.Context) error {
	plan := r.set.Plan(loader.Order{Shuffle: true, Seed: r.env.Seed}, r.batch.Images)
	if r.Strategy == results.Offline {
		plan = plan.Part(0, min(plan.Len(), r.env.WarmBatches(r.batch.Bytes())))
	}
	var read loader.ReadOptions
	if r.set.Remote != nil { // a core is measured, and no network
		var err error
		plan = plan.Part(0, min(plan.Len(), max(1, remoteImages/r.batch.Images)))
		if read.Memory, err = bench.LoadSamples(ctx, r.set, plan); err != nil {
			return err
		}
	}
	slots := host.CPUOrder(r.env.Root, host.UsableCPUs())
	for i := range r.Threads {
		if len(slots) > 0 {
			r.cpus = append(r.cpus, slots[i%len(slots)].CPU)
		}
	}
	if err := r.fixClock(); err != nil { // can it be done at all?
		return err
	}
	r.releaseClock()
	var err error
	if r.batches, err = r.memory.get(); err != nil {
		return err
	}
	r.workers = r.newWorkers()
	own, stop := context.WithCancel(context.Background()) // ctx is that of opening
	r.stop = stop
	r.feed, err = loader.NewFeed(own, r.set, plan, loader.FeedOptions{Readers: r.Threads, Depth: r.depth(),
		Part: bench.SamplesAtATime, Read: read, Thread: r.workers.Thread,
		Work: func(i int, at loader.Place, data []byte) error { return r.workers.Work(i, at, r.place(at), data) },
		Missing: func(i int, at loader.Place, err error) bool {
			return r.workers.Missing(i, at, r.place(at), err)
		}})
	if err = cmp.Or(err, r.workers.Err()); err != nil {
		return err
	}
	r.before = bench.ReadMachineState(r.env.Root, r.cpus)
	r.after = r.before
	return r.control.start(ctx, r)
}

// fixClock gives the CPUs the clock that was asked for.
func (r *preprocessRunner) fixClock() error {
	if r.Clock == 0 {
		return nil
	}
	for _, cpu := range r.cpus {
		restore, err := host.HoldClock(r.env.Root, cpu, 1e9*r.Clock)
		if err != nil {
			return &bench.SkipError{Reason: err.Error()}
		}
		r.restore = append(r.restore, restore)
	}
	return nil
}

// releaseClock gives the CPUs their clocks back, the last one fixed first: CPUs may share a
// clock, or come twice.
func (r *preprocessRunner) releaseClock() {
	for _, restore := range slices.Backward(r.restore) {
		restore()
	}
	r.restore = nil
}

// place is where a sample goes.
func (r *preprocessRunner) place(at loader.Place) []byte {
	size := int(r.sampleBytes())
	i := at.Batch%r.depth()*r.batch.Images + at.At
	return r.batches[i*size : (i+1)*size]
}

// imagesPerThread is how many images a sample has at least for each of several
// threads, so that the last ones, which not every thread has, weigh little.
const imagesPerThread = 128

func (r *preprocessRunner) Size(n int) int {
	if r.Threads == 1 {
		return max(n, 1)
	}
	return max(n, (imagesPerThread*r.Threads+r.batch.Images-1)/r.batch.Images)
}

// Sample makes n batches, and then has the control do about half as much.
func (r *preprocessRunner) Sample(ctx context.Context, n int, rec *bench.Recorder) error {
	defer bench.WithProcessors(r.Threads + 2)()
	defer context.AfterFunc(ctx, r.stop)()
	if err := r.fixClock(); err != nil { // here, since other cases are open that want other clocks
		return err
	}
	defer r.releaseClock()
	r.after.Throttled = host.Throttled(r.env.Root)
	before, cpu, start := r.workers.Stages(), bench.ProcessCPU(), time.Now()
	var read loader.Stats
	r.feed.Grant(n)
	for range n {
		st, err := r.feed.Next()
		if err != nil {
			return errors.Join(ctx.Err(), err)
		}
		read.Add(st)
		r.feed.Release()
	}
	elapsed := time.Since(start)
	cpu = bench.ProcessCPU() - cpu
	done := r.workers.Stages()
	images := done.Good + done.Damaged - before.Good - before.Damaged
	if images == 0 {
		return fmt.Errorf("none of %d images could be used", n*r.batch.Images)
	}
	rec.Add(elapsed, int64(images), int64(n)*r.batch.Bytes())
	if rec.Warmup {
		return nil
	}
	each := func(t time.Duration) float64 { return t.Seconds() / float64(images) }
	rec.SetKnown("cpu", each(cpu))
	reading, copying := time.Duration(read.Nanos), done.Collate-before.Collate
	decoding, resampling := done.Decode-before.Decode, done.Transform-before.Transform
	rec.Set("read", each(reading))
	if r.Strategy == results.Online || loader.Crops(r.set.Record) {
		rec.Set("decode", each(decoding))
		rec.Set("resample", each(resampling))
	}
	rest := time.Duration(r.Threads)*elapsed - reading - decoding - resampling - copying
	rec.Set("collate", each(copying+max(0, rest)))
	stopped := r.after.Throttled
	r.after = bench.ReadMachineState(r.env.Root, r.cpus)
	stopped = r.after.Throttled - stopped
	rate, err := r.control.run(ctx, r.controlled(n, stopped))
	again := host.Throttled(r.env.Root) - r.after.Throttled
	r.after.Throttled += again
	if err == nil && alike(stopped, again) {
		rec.Set("control", rate)
	}
	return err
}

// controlled is how many images each thread of the control makes beside a sample of n batches
// that a CPU quota stopped in so many periods: half as many as the case, and as many where it
// was stopped, so that the quota stops the control as well.
func (r *preprocessRunner) controlled(n int, stopped int64) int {
	each := n * r.batch.Images / r.Threads
	if stopped > 0 {
		return max(1, each)
	}
	return (each + 1) / 2
}

// alike says whether a CPU quota left a sample and its control alike: neither was stopped,
// or both were.
func alike(sample, control int64) bool { return (sample > 0) == (control > 0) }

func (r *preprocessRunner) Close() error {
	if r.feed != nil {
		r.feed.Close()
	}
	r.stop()
	r.control.close()
	r.releaseClock()
	if r.batches == nil {
		return nil
	}
	return r.memory.put()
}

// Report adds what ran where, and what was odd.
func (r *preprocessRunner) Report(res *results.Result) {
	stages := r.workers.Stages()
	proof := &results.PreprocessProof{CPUs: r.cpus, Images: stages.Good + stages.Damaged, Damaged: stages.Damaged,
		Converted: stages.Converted, Bad: stages.Bad, ClockAfter: r.after.Hz,
		Throttled: r.after.Throttled - r.before.Throttled}
	res.Proof = results.RecordOf(proof)
	if kind := r.workers.Kind(); kind != "" {
		proof.Decoder = loader.DecoderName(kind)
	}
	if r.before.Hz > 0 {
		proof.ClockBefore, proof.Governor = r.before.Hz, &r.env.Host.CPU.Governor
	}
	if r.Clock == 0 {
		res.Warnings = append(res.Warnings, r.before.Changes(r.after)...)
	}
	r.placed(res, proof)
	r.workers.Warn(res)
}

// placed notes threads that do not have a core of their own.
func (r *preprocessRunner) placed(res *results.Result, proof *results.PreprocessProof) {
	slots := host.CPUOrder(r.env.Root, host.UsableCPUs())
	for _, s := range slots[:min(r.Threads, len(slots))] {
		if s.Sibling {
			proof.Siblings++
		}
		if s.Class > 0 {
			proof.Slower++
		}
	}
	if proof.Siblings > 0 {
		res.Warnf("%d of %d threads share a core with another (SMT)", proof.Siblings, r.Threads)
	}
	if proof.Slower > 0 {
		res.Warnf("%d of %d threads are on slower cores", proof.Slower, r.Threads)
	}
	res.Warnings = append(res.Warnings, bench.MoreThan(r.env, r.Threads, "thread")...)
}
