package pipeline

import (
	"context"
	"errors"

	"dlbench/bench"
	"dlbench/bench/pace"
	"dlbench/bench/pagecache"
	"dlbench/loader"
	"dlbench/results"
)

// prepare says how the batches of the case are read and made.
func (r *pipelineRunner) prepare(ctx context.Context, o *loader.PipelineOptions) (*loader.Plan, error) {
	r.set = r.source()
	order := loader.Order{Shuffle: r.set.Store != loader.Tensor && r.set.Store != loader.Tar, Seed: r.env.Seed}
	plan := r.set.Plan(order, r.batch.Images)
	most := plan.Len()
	if each := r.set.Bytes / int64(len(r.set.Samples)) * int64(len(plan.Batch(0))); each > 0 {
		most = max(1, min(most, int64AsInt(mostHeld/each)))
	}
	if r.disk.Emulated() || r.isFree(results.PartRead) { // what is read must be in memory
		plan = plan.Part(0, most)
	}
	o.Read = loader.ReadOptions{Direct: r.cache == results.Direct, Disk: bench.DiskClock(r.disk), HugePages: true}
	if r.isFree(results.PartRead) {
		if err := r.hold(ctx, plan); err != nil {
			return nil, err
		}
		o.Read = loader.ReadOptions{Memory: r.held}
	} else if r.disk.Emulated() {
		if _, err := pagecache.Load(ctx, bench.CacheFiles(r.set, plan)); err != nil && !errors.Is(err, pagecache.ErrNotSupported) {
			return nil, err
		}
	}
	o.Part = bench.PartImages
	if r.strategy == results.StrategyTensor {
		o.Part = 0
	}
	r.makers = make([]bench.Worker, max(1, r.workers))
	o.Thread, o.Work = r.thread, r.work
	if r.strategy == results.Online {
		o.Missing = r.missing
	}
	return plan, nil
}

func int64AsInt(n int64) int { return int(min(n, 1<<30)) }

// hold reads the samples of plan into memory.
func (r *pipelineRunner) hold(ctx context.Context, plan *loader.Plan) error {
	reader, err := loader.NewReader(r.set, loader.ReadOptions{})
	if err != nil {
		return err
	}
	defer reader.Close()
	r.held = make([][]byte, len(r.set.Samples))
	for i := range plan.Len() {
		if _, err := reader.Read(plan.Batch(i), func(sample int32, data []byte) error {
			r.held[sample] = append([]byte(nil), data...)
			return ctx.Err()
		}); err != nil {
			return err
		}
	}
	return nil
}

// thread prepares the thread of a worker.
func (r *pipelineRunner) thread(i int) func() {
	w := &r.makers[i]
	unpin, err := bench.Pin(r.cpus)
	if err != nil {
		w.Err = err
		return nil
	}
	undo := func() {}
	if r.disk.Emulated() {
		undo = pace.Sharpen()
	}
	if r.strategy != results.StrategyTensor {
		w.Preprocessor, w.Err = loader.NewPreprocessor(loader.PreprocessOptions{Decoder: usualDecoder(), Seed: r.env.Seed, Sample: r.sample()})
	}
	return func() {
		undo()
		unpin()
		if w.Preprocessor != nil {
			w.Preprocessor.Close()
		}
	}
}

// work makes a sample.
func (r *pipelineRunner) work(i int, at loader.Place, dst, data []byte) error {
	w := &r.makers[i]
	w.Mu.Lock() // free but for a glance of the report's
	defer w.Mu.Unlock()
	switch {
	case r.isFree(results.PartPreprocess):
		return nil
	case w.Err != nil:
		return w.Err
	case r.strategy == results.StrategyTensor:
		copy(dst, data)
		return nil
	case r.strategy == results.Offline:
		return w.Preprocessor.Record(dst, data, r.set.Record, at)
	}
	if _, err := w.Preprocessor.Image(dst, data, at); err != nil { // it was good when the data was checked
		r.wentBad.Add(1)
		w.Name(r.set.Name(int(at.Sample)), err)
	}
	return nil
}

// missing notes an image file that could be read when the data was checked.
func (r *pipelineRunner) missing(i int, at loader.Place, dst []byte, err error) bool {
	if errors.Is(err, loader.ErrNoDirect) {
		return false // of all files, probably
	}
	w := &r.makers[i]
	w.Mu.Lock()
	defer w.Mu.Unlock()
	if w.Preprocessor != nil {
		w.Preprocessor.Missed(dst)
	}
	r.wentBad.Add(1)
	w.Name(r.set.Name(int(at.Sample)), err)
	return true
}
