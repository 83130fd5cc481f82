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
	var all []float64 // s
	for _, l := range r.lateness {
		all = append(all, l.Seconds())
	}
	median, step := results.Median(all), r.step.Seconds()
	if r.Prefetch == 0 && median > bench.PaceMargin*step || r.Prefetch > 0 && bench.TooLate(r.lateness, step) > 0 {
		return fmt.Errorf("waits for the simulated device end too late (%s at the median): "+
			"this machine is too busy to simulate it", results.FormatSeconds(median))
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
	res.Warnings = append(res.Warnings, bench.MoreThan(r.env, r.Workers+r.StepCPU, "thread")...)
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
