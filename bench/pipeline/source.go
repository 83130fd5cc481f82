package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"dlbench/bench"
	"dlbench/bench/pagecache"
	"dlbench/bench/theory"
	"dlbench/loader"
	"dlbench/loader/transform"
	"dlbench/results"
)

// null tells whether batches are taken as they are.
func (r *pipelineRunner) null() bool {
	return r.IsFree(results.PartRead) && r.IsFree(results.PartPreprocess)
}

// newRunner is the runner of a case, as far as it is known before it is opened.
func newRunner(env bench.Env, p params) (*pipelineRunner, error) {
	r := &pipelineRunner{params: p, env: env, device: env.Device(p.Device), step: time.Duration(p.Step),
		cpus: bench.SomeCPUs(env.Root, int(p.CPUs)), batch: env.Batch, set: env.Data.Source(p.Strategy),
		makers: &bench.Workers{}, doubt: new(string), stop: func(error) {},
		trace: [2]results.Series{{Name: "step_time", Unit: results.Seconds}, {Name: "wait", Unit: results.Seconds}}}
	r.batch.DType = p.DType
	r.waits = p.Free == results.FreeLoading && p.Prefetch == 0 && p.Step > 0 && p.Mem == "pinned" &&
		p.Device == bestDevice(env.Devices).Spec
	r.preprocess = loader.PreprocessOptions{Memory: env.Data.Memory, Seed: env.Seed, Sample: transform.Options{
		Height: env.Batch.Height, Width: env.Batch.Width, DType: p.DType, Layout: results.NHWC}}
	if p.Disk != results.RealDisk {
		var err error
		if r.disk, err = theory.ParseDisk(p.Disk); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// unable says why a case cannot run here, "" if it can.
func (r *pipelineRunner) unable() string {
	if r.null() {
		return ""
	}
	reads := !r.IsFree(results.PartRead)
	why := r.env.Data.Unable(r.Strategy, r.batch, r.preprocess)
	if reads {
		why = cmp.Or(why, r.env.Data.WhyNotRemote(r.Cache == results.Remote, r.disk.Emulated()))
	}
	switch {
	case why != "" || r.Cache == results.CacheUsed || r.Cache == results.Remote && reads:
		return why
	case !reads:
		return "nothing is read: cache=" + results.CacheUsed
	case r.disk.Emulated():
		return "a simulated disk reads from the page cache: cache=" + results.CacheUsed
	}
	return pagecache.CachedOnly(r.env.Data.Disk)
}

// memory is what the pipeline takes, in bytes: a batch in the making, all of these, and what
// the workers read and decode into.
func (r *pipelineRunner) memory() (batch, batches, workers int64) {
	batch = r.batch.Bytes()
	if r.Mem == results.Staged {
		batch *= 2
	}
	batches = int64(loader.Slots(r.Prefetch)) * batch
	if r.null() {
		return batch, batches, 0
	}
	largest, pictures := int64(loader.BlockBytes), int64(0)
	for _, s := range r.set.Samples {
		largest = max(largest, s.Len)
	}
	if r.Strategy == results.Online && !r.IsFree(results.PartPreprocess) {
		pictures = int64(r.Workers) * decodedPixel * r.env.Data.LargestImage()
		if most := r.env.Data.Memory.Bytes(); most > 0 { // then workers wait for each other
			pictures = min(pictures, most)
		}
	}
	workers = int64(r.Workers)*largest + pictures
	if r.IsFree(results.PartRead) {
		workers += min(r.set.Bytes, mostInMemory)
	}
	return batch, batches, workers
}

const (
	decodedPixel = 4         // bytes
	mostInMemory = 256 << 20 // bytes of the samples of a case whose reading is free
)

// fits refuses a prefetch for which there is no memory, and says which there is.
func (r *pipelineRunner) fits() error {
	batch, batches, workers := r.memory()
	if r.env.Fits(batches + workers) {
		return nil
	}
	room := (r.env.Host.Memory.Available/2-workers)/batch - int64(loader.Slots(0))
	if room < 0 {
		return r.env.TooLarge("--batch", strconv.Itoa(r.batch.Images), "one batch, and what its workers take,",
			int64(loader.Slots(0))*batch+workers, "less")
	}
	return r.env.TooLarge("-a", fmt.Sprintf("prefetch=%d", r.Prefetch), "the batches", batches+workers,
		fmt.Sprintf("prefetch=%d", room))
}

// prepare says how the batches of the case are read and made.
func (r *pipelineRunner) prepare(ctx context.Context, o *loader.PipelineOptions) (*loader.Plan, error) {
	order := loader.Order{Shuffle: r.set.Store != loader.Tensor && r.set.Store != loader.Tar, Seed: r.env.Seed}
	plan := r.set.Plan(order, r.batch.Images)
	emulated := r.disk.Emulated()
	if emulated || r.IsFree(results.PartRead) { // what is read must be in memory
		each := r.set.Bytes / int64(len(r.set.Samples)) * int64(len(plan.Batch(0)))
		plan = plan.Part(0, int(min(int64(plan.Len()), max(1, mostInMemory/max(1, each)))))
	}
	o.Read = loader.ReadOptions{Direct: r.Cache == results.Direct, Disk: bench.DiskClock(r.disk),
		Stream: !order.Shuffle && r.Workers <= 1}
	if r.IsFree(results.PartRead) {
		samples, err := bench.LoadSamples(ctx, r.set, plan)
		if err != nil {
			return nil, err
		}
		o.Read = loader.ReadOptions{Memory: samples}
	} else if emulated {
		_, err := pagecache.Load(ctx, bench.CacheFiles(r.set, plan))
		if err != nil && !errors.Is(err, pagecache.ErrNotSupported) {
			return nil, err
		}
	}
	o.Part = bench.SamplesAtATime
	if r.Strategy == results.StrategyTensor {
		o.Part = 0
	}
	r.makers = bench.NewWorkers(max(1, r.Workers), bench.WorkerOptions{Set: r.set, Strategy: r.Strategy,
		Preprocess: r.preprocess, Free: r.IsFree(results.PartPreprocess), CPUs: r.cpus, Paced: emulated})
	o.Thread, o.Work, o.Missing = r.makers.Thread, r.makers.Work, r.makers.Missing
	return plan, nil
}
