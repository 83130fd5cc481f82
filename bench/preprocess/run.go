package preprocess

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"dlbench/bench"
	"dlbench/bench/host"
	"dlbench/bench/theory"
	"dlbench/loader"
)

// preprocessRunner makes batches with a number of threads, each on a CPU of its own,
// and beside them has as many threads work that share nothing.
type preprocessRunner struct {
	env     bench.Env
	shared  *preparation
	threads int
	offline bool
	batch   theory.Batch
	clock   float64 // cycles/s that the CPUs are held to; 0 leaves them alone
	o       loader.PreprocessOptions

	set     *loader.Set
	feed    *loader.Feed
	stop    context.CancelFunc
	slots   [][]byte
	workers []bench.Worker
	control *control
	cpus    []int // of the threads, in their order
	restore []func()
	kind    string // of the decoder that runs
	before  bench.MachineState
	after   bench.MachineState // while the last sample was taken
	bad     map[string]string  // files that went bad while measuring, and why
}

// depth is how many batches are in the making at most: each thread has its own sample,
// and the consumer one batch.
func (r *preprocessRunner) depth() int {
	return 2 + (r.threads+r.batch.Images-1)/r.batch.Images
}

// preprocessBatches bounds the stream of a case.
const preprocessBatches = 1 << 30

func (r *preprocessRunner) open(ctx context.Context) error {
	r.set = r.env.Data.Images
	if r.offline {
		r.set = r.env.Data.Sets[loader.Raw]
	}
	plan := r.set.Plan(loader.Order{Shuffle: true, Seed: r.env.Seed}, r.batch.Images)
	if r.offline {
		plan = plan.Part(0, min(plan.Len(), r.shared.warm(r.env, r.batch)))
	}
	slots := host.CPUOrder(r.env.Root, host.UsableCPUs())
	for i := range r.threads {
		if len(slots) > 0 {
			r.cpus = append(r.cpus, slots[i%len(slots)].CPU)
		}
	}
	if err := r.hold(); err != nil { // can it be done at all?
		return err
	}
	r.release()
	var err error
	if r.slots, err = r.shared.get(r.depth(), int(r.batch.Bytes())); err != nil {
		return err
	}
	r.workers = make([]bench.Worker, r.threads)
	own, stop := context.WithCancel(context.Background()) // ctx is that of opening
	r.stop = stop
	r.feed, err = loader.NewFeed(own, r.set, plan, loader.FeedOptions{Readers: r.threads, Depth: r.depth(), Batches: preprocessBatches,
		Part: bench.PartImages, Held: true, Thread: r.thread, Work: r.work, Missing: r.missing})
	if err == nil {
		err = r.failed()
	}
	if err == nil {
		r.control, err = startControl(ctx, r)
	}
	r.before = bench.ReadMachineState(r.env.Root, r.cpus)
	r.after = r.before
	return err
}

// hold holds the CPUs to the clock that was asked for.
func (r *preprocessRunner) hold() error {
	if r.clock == 0 {
		return nil
	}
	for _, cpu := range r.cpus {
		restore, err := host.HoldClock(r.env.Root, cpu, r.clock)
		if err != nil {
			return &bench.SkipError{Reason: err.Error()}
		}
		r.restore = append(r.restore, restore)
	}
	return nil
}

// release gives the CPUs their clocks back, the last one held first: CPUs may share a
// clock, or come twice.
func (r *preprocessRunner) release() {
	for _, restore := range slices.Backward(r.restore) {
		restore()
	}
	r.restore = nil
}

// thread prepares the thread of a reader.
func (r *preprocessRunner) thread(i int) func() {
	w := &r.workers[i]
	var cpus []int
	if len(r.cpus) > 0 {
		cpus = r.cpus[i : i+1]
	}
	restore, err := bench.Pin(cpus)
	w.Err = err
	if w.Err == nil {
		w.Preprocessor, w.Err = loader.NewPreprocessor(r.o)
	}
	return func() {
		if w.Preprocessor != nil {
			w.Preprocessor.Close()
		}
		if restore != nil {
			restore()
		}
	}
}

func (r *preprocessRunner) failed() error {
	for i := range r.workers {
		if err := r.workers[i].Err; err != nil {
			return err
		}
		r.kind = r.workers[i].Preprocessor.Kind()
	}
	return nil
}

// work makes one sample in its place.
func (r *preprocessRunner) work(i int, at loader.Place, data []byte) error {
	w := &r.workers[i]
	dst := r.place(at)
	if r.offline {
		return w.Preprocessor.Record(dst, data, r.set.Record, at)
	}
	if _, err := w.Preprocessor.Image(dst, data, at); err != nil { // it was good when the data was checked
		w.Name(r.set.Name(int(at.Sample)), err)
	}
	return nil
}

// place is where a sample goes.
func (r *preprocessRunner) place(at loader.Place) []byte {
	size := int(r.batch.Bytes()) / r.batch.Images
	return r.slots[at.Batch%len(r.slots)][at.At*size : (at.At+1)*size]
}

// missing notes an image file that could be read when the data was checked.
func (r *preprocessRunner) missing(i int, at loader.Place, err error) bool {
	if r.offline {
		return false
	}
	w := &r.workers[i]
	w.Preprocessor.Missed(r.place(at))
	w.Name(r.set.Name(int(at.Sample)), err)
	return true
}

// imagesPerThread is how many images a sample has at least for each of several
// threads, so that the last ones, which not every thread has, weigh little.
const imagesPerThread = 128

// Size is how many batches make a sample.
func (r *preprocessRunner) Size(n int) int {
	if r.threads == 1 {
		return max(n, 1)
	}
	return max(n, (imagesPerThread*r.threads+r.batch.Images-1)/r.batch.Images)
}

// Sample makes n batches, and then has the control do about half as much.
func (r *preprocessRunner) Sample(ctx context.Context, n int, rec *bench.Recorder) error {
	procs := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(max(procs, r.threads+2))
	defer runtime.GOMAXPROCS(procs)
	defer context.AfterFunc(ctx, r.stop)()
	if err := r.hold(); err != nil { // here, since other cases are open that want other clocks
		return err
	}
	defer r.release()
	before, cpu, start := r.stages(), bench.ProcessCPU(), time.Now()
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
	done := r.stages()
	images := done.Good + done.Damaged - before.Good - before.Damaged
	if images == 0 {
		return fmt.Errorf("none of %d images could be used", n*r.batch.Images)
	}
	rec.Add(elapsed, int64(images), int64(n)*r.batch.Bytes())
	if rec.Warmup {
		return nil
	}
	each := func(t time.Duration) float64 { return t.Seconds() / float64(images) }
	if cpu > 0 {
		rec.Set("cpu", each(cpu))
	}
	decoding, resampling, copying := done.Decode-before.Decode, done.Transform-before.Transform, done.Collate-before.Collate
	rec.Set("read", each(time.Duration(read.Nanos)))
	if !r.offline || loader.Crops(r.set.Record) {
		rec.Set("decode", each(decoding))
		rec.Set("resample", each(resampling))
	}
	rest := time.Duration(r.threads)*elapsed - time.Duration(read.Nanos) - decoding - resampling - copying
	rec.Set("collate", each(copying+max(0, rest)))
	r.after = bench.ReadMachineState(r.env.Root, r.cpus)
	rate, err := r.control.run(ctx, (n*r.batch.Images/r.threads+1)/2)
	if err == nil {
		rec.Set("control", rate)
	}
	return err
}

// stages is what all threads did so far; they must be idle.
func (r *preprocessRunner) stages() (all loader.Stages) {
	for i := range r.workers {
		all.Add(r.workers[i].Preprocessor.Stages())
	}
	return all
}

func (r *preprocessRunner) Close() error {
	var err error
	if r.feed != nil {
		err = r.feed.Close()
		r.feed = nil
	}
	if r.stop != nil {
		r.stop()
	}
	if r.control != nil {
		r.control.close()
	}
	r.release()
	if r.slots != nil {
		err = errors.Join(err, r.shared.put())
		r.slots = nil
	}
	return err
}
