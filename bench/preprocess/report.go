package preprocess

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"dlbench/bench"
	"dlbench/bench/host"
	"dlbench/loader"
	"dlbench/loader/decode"
	"dlbench/results"
)

// Report adds what ran where, and what was odd.
func (r *preprocessRunner) Report(res *results.Result) {
	after := r.after
	stages := r.stages()
	proof := &results.PreprocessProof{CPUs: r.cpus, Images: stages.Good + stages.Damaged, Damaged: stages.Damaged, Converted: stages.Converted, Bad: stages.Bad,
		ClockAfter: after.Hz, Throttled: after.Throttled - r.before.Throttled}
	res.Proof = results.RecordOf(proof)
	if !r.offline {
		proof.Decoder = loader.DecoderName(r.kind)
	}
	if r.before.Hz > 0 {
		proof.ClockBefore, proof.Governor = r.before.Hz, &r.before.Governor
	}
	if r.clock == 0 {
		res.Warnings = append(res.Warnings, r.before.Changes(after)...)
	}
	res.Warnings = append(res.Warnings, r.placed(proof)...)
	if r.kind == decode.Go && r.o.Decoder == decode.Go && !r.offline {
		if _, err := decode.Library(); err != nil {
			res.Warnings = append(res.Warnings, bench.GoDecoderCost+": "+results.OneLine(err))
		}
	}
	if r.offline && !loader.Crops(r.set.Record) {
		res.Warnings = append(res.Warnings, "not the same training as online: each epoch sees the same crops, without flips")
	}
	bad := map[string]string{}
	for i := range r.workers {
		maps.Copy(bad, r.workers[i].Bad)
	}
	for i, name := range slices.Sorted(maps.Keys(bad)) {
		if i == bench.MostNamed {
			res.Warnings = append(res.Warnings, fmt.Sprintf("%d more files went bad while measuring", len(bad)-i))
			break
		}
		res.Warnings = append(res.Warnings, "went bad while measuring: "+name+": "+bad[name])
	}
}

// placed tells about threads that do not have a core of their own.
func (r *preprocessRunner) placed(proof *results.PreprocessProof) (w []string) {
	slots := host.CPUOrder(r.env.Root, host.UsableCPUs())
	siblings, slower := 0, 0
	for _, s := range slots[:min(r.threads, len(slots))] {
		if s.Sibling {
			siblings++
		}
		if s.Class > 0 {
			slower++
		}
	}
	proof.Siblings, proof.Slower = siblings, slower
	if siblings > 0 {
		w = append(w, fmt.Sprintf("%d of %d threads share a core with another (SMT)", siblings, r.threads))
	}
	if slower > 0 {
		w = append(w, fmt.Sprintf("%d of %d threads are on slower cores", slower, r.threads))
	}
	if all, _ := bench.UsableThreads(r.env); r.threads > all {
		w = append(w, fmt.Sprintf("%d threads are more than the %s CPUs that this process may use", r.threads, strconv.FormatFloat(r.env.Host.CPU.Usable, 'g', 4, 64)))
	}
	return w
}
