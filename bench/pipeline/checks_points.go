package pipeline

import (
	"fmt"
	"slices"

	"dlbench/bench"
	"dlbench/bench/pagecache"
	"dlbench/loader"
	"dlbench/results"
)

// pointGroup is the key in a point under which its case's group stands, where it has one
// with others.
const pointGroup = "group"

// checkGroup is the group of the base and of the cases that are predicted from it, which
// are measured in turn: what the machine does meanwhile is then the same for all of
// them. It is "" where the suite runs alone, and where their batches would not fit into
// memory together.
func checkGroup(env bench.Env) string {
	const cases, slots = 7, 4
	if have := env.Host.Memory.Available; env.Quick || env.Alone || have > 0 && cases*slots*env.Batch.Bytes() > have/4 {
		return ""
	}
	return "predicted"
}

// slowOrNone are kinds of disks past whose cache nothing is measured for predictions: of
// memory, and such as take long for a batch of files.
var slowOrNone = []string{results.DiskMemory, results.DiskSpinning, results.DiskNetwork, results.DiskFUSE, results.DiskUSB, results.DiskMMC}

// checkPoints are cases that are measured for their predictions alone: half the cores,
// a slower disk, nothing in the page cache, images that were preprocessed before, no
// prefetch.
func checkPoints(env bench.Env, best, usual, group string, add func(pairs ...string)) {
	if env.Alone {
		return
	}
	check := func(pairs ...string) { add(append(pairs, "device", best, pointGroup, group)...) }
	if all, _ := bench.UsableThreads(env); all > 1 && usual != results.StrategyTensor {
		check("strategy", usual, "step", "0s", "cpus", fmt.Sprint(all/2))
	}
	if !env.Disk.Emulated() && usual == results.Online && env.Data.Images.Store == loader.Files {
		check("strategy", usual, "step", "0s", "disk", "stream100")
	}
	if !env.Disk.Emulated() && pagecache.Controlled && !slices.Contains(slowOrNone, env.Data.Disk.Kind) {
		check("strategy", usual, "step", "0s", "cache", results.Direct)
	}
	if usual == results.Online && env.Data.Sets[loader.Raw] != nil {
		add("device", best, "strategy", results.Offline, "step", "0s")
	}
	if env.Step.Time > 0 {
		add("device", best, "strategy", usual, "prefetch", "0") // the step is most of it, whatever the machine does
	}
}
