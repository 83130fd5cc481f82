package pipeline

import (
	"fmt"

	"dlbench/bench"
	"dlbench/bench/pagecache"
	"dlbench/loader"
	"dlbench/results"
)

// Check fails when this machine wakes up too late to stand in for a device. A serial
// step begins with a wake-up, which is the pipeline's own and usually in time; with
// batches ahead one may be late by the step that is queued already, and no longer. It
// fails, too, when a loaded link missed its time.
func (r *pipelineRunner) Check() error {
	if err := r.sink.loaded.Check(); err != nil {
		return err
	}
	if len(r.lateness) == 0 {
		return nil
	}
	if r.Prefetch > 0 {
		if late := bench.TooLate(r.lateness, r.step.Seconds()); late > 0 {
			return fmt.Errorf("%d of %d waits for the simulated device end more than a step late: "+
				"this machine is too busy to simulate it", late, len(r.lateness))
		}
		return nil
	}
	all := make([]float64, len(r.lateness))
	for i, l := range r.lateness {
		all[i] = l.Seconds() / r.step.Seconds()
	}
	if late := results.Median(all); late > bench.PaceMargin {
		return fmt.Errorf("waits for the simulated device end %.1f %% of a step late: "+
			"this machine is too busy to simulate it", 100*late)
	}
	return nil
}

// Report adds what ran, how memory compares with what was announced, and a trace.
func (r *pipelineRunner) Report(res *results.Result) {
	_, batches, workers := r.memory()
	proof := &results.PipelineProof{Slots: loader.Slots(r.Prefetch), MemoryAnnounced: batches + workers,
		Steps: r.pipeline.Next(), StepCPU: r.StepCPU}
	res.Proof = results.RecordOf(proof)
	if r.sink.loaded.Loader != nil {
		proof.LinkSource = r.device.Info().Source
		proof.LoadedLink = r.sink.loaded.Report(res)
	}
	if c := r.env.Data; c != nil && c.Checked != nil && r.Strategy == results.Online {
		proof.ShortSide = float64(min(c.Checked.Heights.Median, c.Checked.Widths.Median))
	}
	if !r.null() {
		r.reportLoading(res, proof)
	}
	res.Warnings = append(res.Warnings, r.state.Changes(bench.ReadMachineState(r.env.Root, nil))...)
	if !r.env.Step.Given && r.step > 0 && r.env.Batch.Images != 32 {
		res.Warnf("the step of %v is the article's, for a batch of 32: --step names that of %d",
			r.step, r.env.Batch.Images)
	}
	res.Series = r.trace[:]
}

// reportLoading adds what became of the samples that were read and made.
func (r *pipelineRunner) reportLoading(res *results.Result, proof *results.PipelineProof) {
	if kind := r.makers.Kind(); kind != "" {
		proof.Decoder = loader.DecoderName(kind)
	}
	epochs := r.pipeline.Epochs()
	proof.Epochs = &epochs
	if epochs > 1 {
		proof.Repeated = fmt.Sprintf("the data was gone through %d times", epochs)
	}
	if stages := r.makers.Stages(); stages.Damaged+stages.Bad > 0 {
		proof.Damaged, proof.Bad = &stages.Damaged, &stages.Bad
	}
	r.makers.Warn(res)
	tooMany := bench.MoreThan(r.env, r.Workers, "worker")
	res.Warnings = append(res.Warnings, tooMany...)
	if all, _ := bench.UsableThreads(r.env); tooMany == nil && r.Workers+r.StepCPU > all {
		res.Warnf("%d workers share %d CPUs with %d threads that the step keeps busy (--step-cpu)",
			r.Workers, all, r.StepCPU)
	}
	if r.Cache == results.Direct {
		r.prove(res, proof)
	}
}

// prove tells whether reads past the page cache came from the disk, in this restart and
// those before.
func (r *pipelineRunner) prove(res *results.Result, proof *results.PipelineProof) {
	p := pagecache.Proof{Unverified: "what was cached was not looked at", Asked: r.reads.Bytes}
	r.watch.Fill(&p)
	if why := pagecache.JudgeDirect(p); why != "" {
		*r.doubt = why
	}
	proof.Proven, proof.Why = new(*r.doubt == ""), *r.doubt
	proof.BytesAsked, proof.FromDevice = &p.Asked, pagecache.KnownBytes(p.FromDevice)
	if *r.doubt != "" {
		res.Warnings = results.AppendNew(res.Warnings, "unproven: "+*r.doubt)
	}
}
