package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"dlbench/bench"
	"dlbench/bench/pagecache"
	"dlbench/loader"
	"dlbench/loader/decode"
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
	if len(r.lates) == 0 {
		return nil
	}
	step := r.step.Seconds()
	if r.prefetch > 0 {
		if late := bench.TooLate(r.lates, step); late > 1 && float64(late) > bench.LatePart*float64(len(r.lates)) {
			return fmt.Errorf("%d of %d waits for the assumed device end more than a step late: this machine is too busy to stand in for it", late, len(r.lates))
		}
		return nil
	}
	all := make([]float64, len(r.lates))
	for i, l := range r.lates {
		all[i] = l.Seconds() / step
	}
	if late := results.Middle(all); late > bench.PaceMargin {
		return fmt.Errorf("waits for the assumed device end %.1f %% of a step late: this machine is too busy to stand in for it", 100*late)
	}
	return nil
}

// Report adds what ran, how memory compares with what was announced, and a trace.
func (r *pipelineRunner) Report(res *results.Result) {
	proof := &results.PipelineProof{Slots: loader.Slots(r.prefetch), MemoryAnnounced: r.announced(), Steps: r.pipeline.Next(), StepCPU: r.env.Step.CPU}
	res.Proof = results.RecordOf(proof)
	if r.sink.loaded.Loader != nil {
		proof.LinkSource = r.device.Info().Source
		proof.LoadedLink = r.sink.loaded.Report(res)
	}
	var stages loader.Stages
	bad := map[string]string{}
	for i := range r.makers {
		w := &r.makers[i]
		w.Look(func() { // batches ahead are still being made
			if w.Preprocessor != nil {
				stages.Add(w.Preprocessor.Stages())
				if r.strategy == results.Online && !r.null() {
					proof.Decoder = loader.DecoderName(w.Preprocessor.Kind())
				}
			}
			maps.Copy(bad, w.Bad)
		})
	}
	if c := r.env.Data; c != nil && c.Checked != nil && r.strategy == results.Online {
		proof.ShortSide = float64(min(c.Checked.Heights.Median, c.Checked.Widths.Median))
	}
	if !r.null() {
		proof.Epochs = new(r.pipeline.Epochs())
	}
	if stages.Damaged+stages.Bad > 0 {
		proof.Damaged, proof.Bad = &stages.Damaged, &stages.Bad
	}
	for i, name := range slices.Sorted(maps.Keys(bad)) {
		if i == bench.MostNamed {
			res.Warnings = append(res.Warnings, fmt.Sprintf("%d more files went bad while measuring", len(bad)-i))
			break
		}
		res.Warnings = append(res.Warnings, "went bad while measuring: "+name+": "+bad[name])
	}
	if _, err := decode.Library(); err != nil && r.strategy == results.Online && !r.isFree(results.PartPreprocess) {
		res.Warnings = append(res.Warnings, bench.GoDecoderCost+": "+results.OneLine(err))
	}
	if n := r.pipeline.Epochs(); n > 1 {
		proof.Repeated = fmt.Sprintf("the data was gone through %d times", n)
	}
	res.Warnings = append(res.Warnings, r.state.Changes(bench.ReadMachineState(r.env.Root, nil))...)
	if all, _ := bench.UsableThreads(r.env); !r.null() && r.workers > all {
		res.Warnings = append(res.Warnings, fmt.Sprintf("%d workers are more than the %s CPUs that this process may use", r.workers, strconv.FormatFloat(r.env.Host.CPU.Usable, 'g', 4, 64)))
	} else if !r.null() && r.workers+r.env.Step.CPU > all {
		res.Warnings = append(res.Warnings, fmt.Sprintf("%d workers share %d CPUs with %d threads that the step keeps busy (--step-cpu)", r.workers, all, r.env.Step.CPU))
	}
	if r.strategy == results.Offline && !r.null() && !loader.Crops(r.set.Record) {
		res.Warnings = append(res.Warnings, "not the same training as online: each epoch sees the same crops, without flips")
	}
	if !r.env.Step.Given && r.step > 0 && r.env.Batch.Images != 32 {
		res.Warnings = append(res.Warnings, fmt.Sprintf("the step of %v is the article's, for a batch of 32: --step names that of %d", r.step, r.env.Batch.Images))
	}
	if r.cache == results.Direct && !r.null() {
		r.prove(res, proof)
	}
	r.trace(res)
}

// othersRead is how many times the bytes that were asked for this process may have read
// from devices: more were others' reads, which hide what is missing of these.
const othersRead = 1.5

// prove tells whether reads past the page cache came from the disk, in this restart and
// those before.
func (r *pipelineRunner) prove(res *results.Result, proof *results.PipelineProof) {
	p := pagecache.Proof{Unverified: "what was cached was not looked at", Asked: r.reads.Bytes}
	r.watch.Fill(&p)
	if _, why := judgeDirect(p); why != "" {
		*r.doubt = why
	}
	proof.Proven, proof.BytesAsked, proof.FromDevice, proof.Why = new(*r.doubt == ""), &p.Asked, &p.FromDevice, *r.doubt
	if *r.doubt != "" {
		if text := "unproven: " + *r.doubt; !slices.Contains(res.Warnings, text) {
			res.Warnings = append(res.Warnings, text)
		}
	}
}

// judgeDirect is judgeCache of direct reads by a process that may read other data, too.
func judgeDirect(p pagecache.Proof) (ok bool, why string) {
	if float64(p.FromDevice) > othersRead*float64(p.Asked) && p.Asked > 0 {
		return false, fmt.Sprintf("%v: this process read other data from the disk meanwhile", pagecache.ErrUnverifiable)
	}
	why = pagecache.Judge(results.Direct, p)
	return why == "", why
}

// trace adds steps and waits over time.
func (r *pipelineRunner) trace(res *results.Result) {
	steps := results.Series{Name: "step_time", Unit: results.Seconds}
	var at time.Duration
	for _, t := range r.series {
		at += t.Since
		steps.T, steps.V = append(steps.T, at.Seconds()), append(steps.V, t.Since.Seconds())
	}
	waits := results.Series{Name: "wait", Unit: results.Seconds}
	for i, w := range r.waits {
		if i < len(steps.T) {
			waits.T, waits.V = append(waits.T, steps.T[i]), append(waits.V, w.Seconds())
		}
	}
	res.Series = []results.Series{steps, waits} // of the last restart
}
