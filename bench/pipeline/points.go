package pipeline

import (
	"slices"

	"dlbench/bench"
	"dlbench/bench/pagecache"
	"dlbench/cuda"
	"dlbench/loader"
	"dlbench/results"
)

type params = results.PipelineParams

// Batches that are made ahead: usually; and where links or disks are compared, so that loading
// overlaps steps and blocks of steps stay short.
const (
	usualAhead = 2
	lanesAhead = 1
)

func points(env bench.Env) (all []params) {
	best := bestDevice(env.Devices)
	base := params{Device: best.Spec, Mem: "pinned", Prefetch: usualAhead,
		Strategy: results.Online, Free: results.FreeNothing, Disk: results.RealDisk, Cache: results.CacheUsed,
		Step: results.Duration(env.Step.Time), DType: env.Batch.DType, StepCPU: env.Step.CPU}
	if env.Quick {
		base.Prefetch = 1
	}
	if env.Disk.Emulated() {
		base.Disk = env.Disk.Name
	}
	add := bench.Variants(&all, &base)
	devices := env.Devices
	if env.Quick && len(devices) > 2 { // the widest apart
		devices = []cuda.Device{devices[0], devices[len(devices)-1]}
	}
	for _, d := range devices {
		for _, prefetch := range []int{0, lanesAhead} {
			add(func(p *params) { p.Device, p.Free, p.Prefetch = d.Info().Spec, results.FreeLoading, prefetch })
		}
	}
	usual := env.Data.UsualStrategy()
	if chosen(env) { // what was asked for, over each device and at top speed
		for _, d := range devices {
			add(func(p *params) { p.Device, p.Strategy = d.Info().Spec, usual })
		}
		add(func(p *params) { p.Strategy, p.Step = usual, 0 })
		return all
	}
	free := []string{results.FreeNothing, results.PartRead, results.PartPreprocess, results.PartCopy,
		results.FreeLoading, results.PartRead + "+" + results.PartCopy,
		results.PartPreprocess + "+" + results.PartCopy, results.FreeAll}
	if env.Quick {
		free = free[:1]
	}
	for _, f := range free {
		add(func(p *params) { p.Strategy, p.Step, p.Free = usual, 0, f })
	}
	if env.Quick {
		return all
	}
	add(func(p *params) { p.Strategy, p.Prefetch = usual, lanesAhead })
	add(func(p *params) { // what a thread that spins costs the loader
		p.Strategy, p.Step, p.StepCPU = usual, 0, 0
		if env.Step.CPU == 0 {
			p.StepCPU = 1
		}
	})
	if !env.Alone {
		base := base
		base.Strategy, base.Step = usual, 0
		all = append(all, checkPoints(env, base)...)
	}
	if !best.AssumedLink() {
		add(func(p *params) { p.Mem, p.Free, p.Prefetch = "pageable", results.FreeLoading, 0 })
	}
	if env.Data.Sets[loader.Tensor] == nil {
		return all
	}
	if usual == results.Online {
		add(func(p *params) { p.Strategy, p.Step = results.StrategyTensor, 0 })
	}
	if !env.Disk.Emulated() {
		base.Disk = "stream100"
	}
	for _, prefetch := range []int{0, lanesAhead} {
		add(func(p *params) { p.Strategy, p.Prefetch = results.StrategyTensor, prefetch })
	}
	return all
}

// chosen tells whether the user gave values of an axis, other than devices.
func chosen(env bench.Env) bool {
	given := func(a bench.Axis[params]) bool { return a.Name != "device" && len(env.Axes[a.Name]) > 0 }
	return slices.ContainsFunc(axes, given)
}

// bestDevice is the device over which what does not ask about links is measured: the
// first GPU, or the fastest simulated link.
func bestDevice(devices []cuda.Device) cuda.Info {
	best := devices[0].Info()
	for _, d := range devices {
		if i := d.Info(); best.AssumedLink() && (!i.AssumedLink() || i.Rates.Pinned > best.Rates.Pinned) {
			best = i
		}
	}
	return best
}

// checkGroup is the group of the base and of the cases that are predicted from it, which
// are measured in turn: what the machine does meanwhile is then the same for all of
// them. It is "" for other cases, where the suite runs alone, and where their batches would
// not fit into memory together.
func checkGroup(env bench.Env, p params) string {
	const cases, slots = 6, 4
	have := env.Host.Memory.Available
	base := p.Strategy == env.Data.UsualStrategy() && p.Step == 0 && p.Prefetch == usualAhead &&
		slices.Contains([]string{results.FreeNothing, results.PartRead, results.PartCopy}, p.Free)
	if !base || env.Quick || env.Alone || chosen(env) || have > 0 && cases*slots*env.Batch.Bytes() > have/4 {
		return ""
	}
	return "predicted"
}

// slowOrNone are kinds of disks past whose cache nothing is measured for predictions: of
// memory, and such as take long for a batch of files.
var slowOrNone = []string{results.DiskMemory, results.DiskSpinning, results.DiskNetwork, results.DiskFUSE,
	results.DiskUSB, results.DiskMMC}

// checkPoints are cases that are measured for their predictions alone, which differ from
// base in one respect each: half the cores, nothing in the page cache, images that were
// preprocessed before. Real reading or CPU time decides each of them; a simulated link,
// disk or step would show that it keeps its time, and nothing of the machine.
func checkPoints(env bench.Env, base params) (all []params) {
	add := bench.Variants(&all, &base)
	if cpus, _ := bench.UsableThreads(env); cpus > 1 && base.Strategy != results.StrategyTensor {
		add(func(p *params) { p.CPUs = results.CPUCount(cpus / 2) })
	}
	if !env.Disk.Emulated() && pagecache.Controlled && !slices.Contains(slowOrNone, env.Data.Disk.Kind) {
		add(func(p *params) { p.Cache = results.Direct })
	}
	if base.Strategy == results.Online && env.Data.Sets[loader.Raw] != nil {
		add(func(p *params) { p.Strategy = results.Offline })
	}
	return all
}
