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

// point is the parameters of a case, and the group in which it is measured; "" for one of
// its own.
type point struct {
	params
	group string
}

// lanesAhead is the prefetch of the cases that compare links or disks: loading overlaps
// steps, and blocks of steps stay short.
const lanesAhead = 1

// points are the curated points.
func points(env bench.Env) (all []point) {
	best := bestDevice(env.Devices)
	base := point{params: params{Device: best.Spec, Mem: "pinned", Prefetch: 2,
		Strategy: results.Online, Free: results.FreeNothing, Disk: results.RealDisk, Cache: results.CacheUsed,
		Step: results.Duration(env.Step.Time), DType: env.Batch.DType, StepCPU: env.Step.CPU}}
	if env.Quick {
		base.Prefetch = 1
	}
	if env.Disk.Emulated() {
		base.Disk = env.Disk.Name
	}
	add := func(change func(*point)) {
		p := base
		change(&p)
		all = append(all, p)
	}
	devices := env.Devices
	if env.Quick && len(devices) > 2 { // the widest apart
		devices = []cuda.Device{devices[0], devices[len(devices)-1]}
	}
	for _, d := range devices {
		for _, prefetch := range []int{0, lanesAhead} {
			add(func(p *point) { p.Device, p.Free, p.Prefetch = d.Info().Spec, results.FreeLoading, prefetch })
		}
	}
	usual := env.Data.UsualStrategy()
	chosen := func(a bench.Axis[point]) bool { return a.Name != "device" && len(env.Axes[a.Name]) > 0 }
	if slices.ContainsFunc(axes, chosen) { // what was asked for, over each device and at top speed
		for _, d := range devices {
			add(func(p *point) { p.Device, p.Strategy = d.Info().Spec, usual })
		}
		add(func(p *point) { p.Strategy, p.Step = usual, 0 })
		return all
	}
	free := []string{results.FreeNothing, results.PartRead, results.PartPreprocess, results.PartCopy,
		results.FreeLoading, results.PartRead + "+" + results.PartCopy,
		results.PartPreprocess + "+" + results.PartCopy, results.FreeAll}
	if env.Quick {
		free = free[:1]
	}
	together := checkGroup(env)
	for _, f := range free {
		group := ""
		if f == results.FreeNothing || f == results.PartRead || f == results.PartCopy {
			group = together
		}
		add(func(p *point) { p.Strategy, p.Step, p.Free, p.group = usual, 0, f, group })
	}
	if env.Quick {
		return all
	}
	add(func(p *point) { p.Strategy, p.Prefetch = usual, lanesAhead })
	if !env.Alone {
		base := base
		base.Strategy = usual
		all = append(all, checkPoints(env, base, together)...)
	}
	if !best.AssumedLink() {
		add(func(p *point) { p.Mem, p.Free, p.Prefetch = "pageable", results.FreeLoading, 0 })
	}
	if env.Data.Sets[loader.Tensor] == nil {
		return all
	}
	if usual == results.Online {
		add(func(p *point) { p.Strategy, p.Step = results.StrategyTensor, 0 })
	}
	if !env.Disk.Emulated() {
		base.Disk = "stream100"
	}
	for _, prefetch := range []int{0, lanesAhead} {
		add(func(p *point) { p.Strategy, p.Prefetch = results.StrategyTensor, prefetch })
	}
	return all
}

// bestDevice is the device over which what does not ask about links is measured: the
// first GPU, or the fastest assumed link.
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
// them. It is "" where the suite runs alone, and where their batches would not fit into
// memory together.
func checkGroup(env bench.Env) string {
	const cases, slots = 5, 4
	have := env.Host.Memory.Available
	if env.Quick || env.Alone || have > 0 && cases*slots*env.Batch.Bytes() > have/4 {
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
func checkPoints(env bench.Env, base point, group string) (all []point) {
	add := func(group string, change func(*point)) {
		p := base
		p.Step, p.group = 0, group
		change(&p)
		all = append(all, p)
	}
	if cpus, _ := bench.UsableThreads(env); cpus > 1 && base.Strategy != results.StrategyTensor {
		add(group, func(p *point) { p.CPUs = results.CPUCount(cpus / 2) })
	}
	if !env.Disk.Emulated() && pagecache.Controlled && !slices.Contains(slowOrNone, env.Data.Disk.Kind) {
		add(group, func(p *point) { p.Cache = results.Direct })
	}
	if base.Strategy == results.Online && env.Data.Sets[loader.Raw] != nil {
		add("", func(p *point) { p.Strategy = results.Offline })
	}
	return all
}
