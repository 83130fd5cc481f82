package pipeline

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"dlbench/bench"
	"dlbench/bench/benchtest"
	"dlbench/bench/pace"
	"dlbench/bench/pagecache"
	"dlbench/bench/theory"
	"dlbench/cuda"
	"dlbench/loader"
	"dlbench/results"
)

func pipelineEnv(t *testing.T, specs ...string) bench.Env {
	t.Helper()
	env := benchtest.ImagesEnv(t, true)
	env.Step = bench.Step{Time: 2 * time.Millisecond, Given: true}
	for _, s := range specs {
		env.Devices = append(env.Devices, benchtest.Sim(t, s))
	}
	return env
}

func TestPipelineCases(t *testing.T) {
	env := pipelineEnv(t, "sim:gen3x4", "sim:gen3x16")
	all, _ := benchtest.Named(t, Suite, env)
	for _, want := range []string{
		"device=sim:gen3x4/mem=pinned/prefetch=0/workers=2/strategy=online/free=read+preprocess/step=2ms",
		"device=sim:gen3x16/mem=pinned/prefetch=1/workers=2/strategy=online/free=read+preprocess/step=2ms",
		"device=sim:gen3x16/mem=pinned/prefetch=2/workers=2/strategy=online/step=0s",
		"device=sim:gen3x16/mem=pinned/prefetch=2/workers=2/strategy=online/free=read+preprocess+copy/step=0s",
		"device=sim:gen3x16/mem=pinned/prefetch=1/workers=2/strategy=online/step=2ms",
	} {
		if !slices.Contains(all, want) {
			t.Errorf("no case %s in\n%s", want, strings.Join(all, "\n"))
		}
	}
	env.Alone = true // without what is measured for predictions alone
	alone, _ := benchtest.Named(t, Suite, env)
	half := func(name string) bool { return strings.Contains(name, "/cpus=") }
	if len(alone) >= len(all) || !slices.ContainsFunc(all, half) || slices.ContainsFunc(alone, half) {
		t.Errorf("alone: %d of %d cases:\n%s", len(alone), len(all), strings.Join(alone, "\n"))
	}
	env.Axes = map[string][]string{"prefetch": {"0", "2"}, "mem": {"pinned", "pageable"}, "workers": {"3"}}
	all, cases := benchtest.Named(t, Suite, env)
	if len(cases) != 2*2*2*2+2*2 {
		t.Errorf("with axes: %d cases:\n%s", len(cases), strings.Join(all, "\n"))
	}
	for _, c := range cases { // what is assumed follows from what is there
		p := results.As[params](c.Params)
		want := []string{"link"}
		if p.Step > 0 {
			want = append(want, "step")
		}
		if !slices.Equal(c.Assumed, want) || p.Workers != 3 {
			t.Errorf("%s: assumed %v", c.Params.Name(""), c.Assumed)
		}
	}
}

func TestPipelineRefusals(t *testing.T) {
	env := pipelineEnv(t, "sim:gen3x16")
	for axis, values := range map[string][]string{"prefetch": {"-1", "x", "5000"}, "step": {"5", "-1s", "2h"},
		"free": {"all", "read+read", "read+nothing"}, "workers": {"0"}, "cpus": {"some"}, "disk": {"floppy"}} {
		for _, v := range values {
			if err := bench.CheckAxes([]bench.Suite{Suite}, map[string][]string{axis: {v}}); err == nil {
				t.Errorf("%s=%s was taken", axis, v)
			}
		}
	}
	env.Host.Memory.Available = 10 * benchtest.SmallBatch.Bytes()
	env.Axes = map[string][]string{"prefetch": {"1000"}, "free": {results.FreeLoading}}
	var usage *bench.UsageError
	_, err := pipelineCases(env)
	if !errors.As(err, &usage) || usage.Value != "prefetch=1000" || !strings.Contains(usage.Want, "prefetch=4") {
		t.Errorf("without memory for it: %v", err)
	}
	env.Step = bench.Step{Time: -1, Given: true}
	if _, err := pipelineCases(env); !errors.As(err, &usage) || usage.Flag != "--step" {
		t.Errorf("a step of less than nothing: %v", err)
	}
}

// The whole suite over an assumed link: every case has its metrics, times are those of
// the device's clock, and findings follow.
func TestPipelineSuite(t *testing.T) {
	env := pipelineEnv(t, "sim:gen3x4", "sim:gen3x16")
	rs := benchtest.Run(t, Suite, env, 3)
	for _, r := range rs {
		if r.Status == results.Skipped {
			continue
		}
		if r.Status == results.Failed && strings.Contains(r.Reason, "too busy") {
			continue // the machine, not the suite
		}
		if r.Status != results.OK {
			t.Fatalf("%s: %s %s", r.Name, r.Status, r.Reason)
		}
		for _, name := range []string{"step_time", "throughput", "stall", "wait", "first_batch"} {
			if m := r.Metric(name); m == nil || math.IsNaN(m.Median) || m.Median < 0 {
				t.Errorf("%s: %s is %+v", r.Name, name, m)
			}
		}
		p := paramsOf(&r)
		step, took := time.Duration(p.Step).Seconds(), r.Metric("step_time")
		if took.Median < step*(1-1e-9) {
			t.Errorf("%s: a step of %v takes %v s", r.Name, p.Step, took.Median)
		}
		u := r.Metric("utilisation")
		if step > 0 && (u == nil || u.Median <= 0 || u.Median > 1+1e-9) || step == 0 && u != nil {
			t.Errorf("%s: utilisation %+v", r.Name, u)
		}
		if p.Prefetch == 0 && p.Free == results.FreeLoading { // copy and step, one after the other
			rates := benchtest.Sim(t, p.Device).Info().Rates
			rate := map[string]float64{"pinned": rates.Pinned, "pageable": rates.Pageable}[p.Mem]
			if want := step + float64(env.Batch.Bytes())/rate; took.Min < want*(1-1e-6) {
				t.Errorf("%s: %v s, but copy and step take %v s", r.Name, took.Min, want)
			}
		}
		if len(r.Series) != 2 || len(r.Series[0].T) == 0 || !slices.IsSorted(r.Series[0].T) {
			t.Errorf("%s: series %+v", r.Name, r.Series)
		}
	}
	fs := Suite.Findings(env, rs)
	for _, id := range []string{"feeds", "bound", "A2", "A3", "A5"} {
		if benchtest.Finding(fs, id).Claim == "" {
			t.Errorf("no finding %s", id)
		}
	}
	if f := benchtest.Finding(fs, "feeds"); f.Value == nil || f.Verdict == results.NotMeasured {
		t.Errorf("%+v", f)
	}
	if f := benchtest.Finding(fs, "A3"); f.Verdict == results.NotMeasured || !slices.Contains(f.Assumed, "link") {
		t.Errorf("%+v", f)
	}
}

// overSim is a pipeline of batches as they are to an assumed device on a manual clock.
func overSim(t *testing.T, clock *pace.Manual, prefetch int, o sinkOptions) (*loader.Pipeline, *deviceSink) {
	t.Helper()
	o.depth = loader.Slots(prefetch)
	sink, err := newDeviceSink(cuda.NewSim(benchtest.Spec(t, "sim:gen3x4"), clock), o)
	benchtest.Must(t, err)
	p, err := loader.NewPipeline(t.Context(), nil, nil, sink, loader.PipelineOptions{Null: true, Prefetch: prefetch})
	benchtest.Must(t, err)
	t.Cleanup(func() {
		benchtest.Must(t, errors.Join(p.Close(), sink.close()))
	})
	return p, sink
}

// A pipeline over a manual clock: serial steps are copy and step together, overlapped
// ones the longer of the two, whatever the machine does.
func TestDeviceSinkTimes(t *testing.T) {
	const bytes = 1 << 20
	for _, prefetch := range []int{0, 2} {
		for _, step := range []time.Duration{0, 100 * time.Microsecond, 5 * time.Millisecond} {
			clock := &pace.Manual{}
			var times []stepTimes
			p, sink := overSim(t, clock, prefetch, sinkOptions{mem: "pinned", bytes: bytes, step: step,
				ended: func(t stepTimes) { times = append(times, t) }})
			for n := range 21 {
				if n == 20 && prefetch == 0 { // a pause is no part of the next step
					clock.Advance(time.Second)
					benchtest.Must(t, sink.restart())
				}
				if _, err := p.Step(); err != nil {
					t.Fatal(err)
				}
			}
			benchtest.Must(t, sink.Done())
			copyTime := pace.Length(bytes, sink.device.Info().Rates.Pinned)
			want := copyTime + step
			if prefetch > 0 {
				want = max(copyTime, step)
			}
			if len(times) != 21 {
				t.Fatalf("%d steps of 21", len(times))
			}
			for i, s := range times[5:] {
				if s.Step != i+5 || s.Busy != step || (s.Since-want).Abs() > time.Microsecond {
					t.Errorf("prefetch %d, step %v: step %d took %v since the last, busy %v; want %v",
						prefetch, step, s.Step, s.Since, s.Busy, want)
				}
			}
		}
	}
}

func TestDeviceSinkAllocatesNothing(t *testing.T) {
	for _, mem := range []string{"pinned", "pageable", results.Staged} {
		for _, prefetch := range []int{0, 2} {
			p, _ := overSim(t, &pace.Manual{}, prefetch, sinkOptions{mem: mem, bytes: 1 << 12, step: time.Millisecond})
			if n := testing.AllocsPerRun(100, func() {
				if _, err := p.Step(); err != nil {
					t.Fatal(err)
				}
			}); n != 0 {
				t.Errorf("%s, prefetch %d: %v allocations a batch", mem, prefetch, n)
			}
		}
	}
}

// The error of a device ends its cases and names the batch.
func TestPipelineOfALostDevice(t *testing.T) {
	env := pipelineEnv(t, "sim:gen3x16")
	env.Axes = map[string][]string{"free": {results.FreeLoading}, "step": {"1ms"}, "prefetch": {"2"}}
	env.Devices[0] = &failing{Device: env.Devices[0], after: 3}
	rs := benchtest.Run(t, Suite, env, 3)
	var failed []string
	for _, r := range rs {
		if r.Status == results.Failed {
			failed = append(failed, r.Reason)
		}
	}
	odd := func(why string) bool { return !strings.Contains(why, "batch") && !strings.Contains(why, "not run") }
	if len(failed) == 0 || slices.ContainsFunc(failed, odd) {
		t.Errorf("failed: %q", failed)
	}
}

// failing is a device whose steps fail after some.
type failing struct {
	cuda.Device
	after int
}

func (f *failing) Step(d time.Duration, s cuda.Stream) error {
	if f.after--; f.after < 0 {
		return cuda.ErrLost
	}
	return f.Device.Step(d, s)
}

// Whatever steps a sample does, also those after a pause that are not measured, are done
// under the load of the step: what is measured was loaded under it.
func TestStepsUnderLoad(t *testing.T) {
	env := pipelineEnv(t, "sim:gen3x16")
	env.Step.CPU = 1
	env.Axes = map[string][]string{"step": {"0s"}, "prefetch": {"2"}, "free": {results.FreeNothing}}
	cases := benchtest.Cases(t, Suite, env)
	opened, err := cases[0].Open(t.Context(), env)
	benchtest.Must(t, err)
	r := opened.(*pipelineRunner)
	defer r.Close()
	steps, ended := 0, r.sink.o.ended
	r.sink.o.ended = func(s stepTimes) {
		steps++
		if !r.loaded {
			t.Errorf("step %d was done without load", s.Step)
		}
		ended(s)
	}
	for _, paused := range []bool{true, false, true} {
		r.paused = paused
		before := r.sink.timed
		rec := &bench.Recorder{}
		benchtest.Must(t, r.Sample(t.Context(), 4, rec))
		if discarded := r.sink.timed - before - 4; paused && discarded < r.Prefetch+1 {
			t.Errorf("%d steps after a pause are not measured, want %d", discarded, r.Prefetch+1)
		}
	}
	r.sink.o.ended = ended // closing takes the last steps
	if steps < 3*4 || r.loaded {
		t.Errorf("%d steps, load %v", steps, r.loaded)
	}
}

// What a pipeline announces as its memory is what it takes, within a tenth.
func TestPipelineMemory(t *testing.T) {
	if bench.ResidentBytes() == 0 {
		t.Skip("resident memory is unknown on this system")
	}
	env := pipelineEnv(t, "sim:gen3x16")
	env.Batch = theory.Batch{Images: 32, Height: 225, Width: 225, Channels: 3, DType: "float32"}
	env.Axes = map[string][]string{"free": {results.FreeLoading}, "prefetch": {"7"}, "step": {"0s"}}
	for _, r := range benchtest.Run(t, Suite, env, 3) {
		m := r.Metric("memory")
		announced := results.As[results.PipelineProof](r.Proof).MemoryAnnounced
		if r.Status != results.OK || m == nil || math.Abs(m.Median/float64(announced)-1) > 0.1 {
			t.Errorf("%s: %s, memory %+v of %v announced", r.Name, r.Status, m, announced)
		}
	}
}

// Past the page cache a batch is really read each time, and what that takes is reported. A
// case that cannot be says why.
func TestPipelinePastTheCache(t *testing.T) {
	env := pipelineEnv(t, "sim:gen3x16")
	env.Axes = map[string][]string{"cache": {results.CacheUsed, results.Direct}, "step": {"0s"},
		"free": {results.FreeNothing, results.PartRead, results.FreeLoading, results.PartPreprocess + "+" +
			results.PartCopy}}
	for _, r := range benchtest.Run(t, Suite, env, 3) {
		p := paramsOf(&r)
		past := p.Cache == results.Direct
		_, known := r.Proven()
		switch {
		case p.Free == results.FreeLoading: // nothing is read, so nothing is proven
			unproven := func(w string) bool { return strings.Contains(w, "unproven") }
			if known || slices.ContainsFunc(r.Warnings, unproven) {
				t.Errorf("%s: %v, %q", r.Name, r.Proof, r.Warnings)
			}
			continue
		case past && (p.Free == results.PartRead || r.Status == results.Skipped):
			if r.Status != results.Skipped || r.Reason == "" {
				t.Errorf("%s: %s %q", r.Name, r.Status, r.Reason)
			}
			continue
		case r.Status != results.OK:
			t.Fatalf("%s: %s %s", r.Name, r.Status, r.Reason)
		}
		asked := results.As[results.PipelineProof](r.Proof).BytesAsked
		if known != past || past && (asked == nil || *asked <= 0) {
			t.Errorf("%s: proof %v", r.Name, r.Proof)
		}
		read := r.Metric("read")
		if reads := p.Free != results.PartRead; reads != (read != nil && len(read.Samples) > 0 && read.Median > 0) {
			t.Errorf("%s: read %+v", r.Name, read)
		}
		if read != nil && p.Workers == 1 && read.Median > r.Metric("step_time").Max {
			t.Errorf("%s: reading takes %g s of a step of %g", r.Name, read.Median, r.Metric("step_time").Max)
		}
	}
	env.Axes["disk"] = []string{"stream100"}
	for _, r := range benchtest.Run(t, Suite, env, 3) {
		p := paramsOf(&r)
		if p.Cache == results.Direct && p.Free != results.FreeLoading && r.Status != results.Skipped {
			t.Errorf("%s: an emulated disk past the page cache is %s", r.Name, r.Status)
		}
	}
}

// What one restart could not prove is proven by no later one.
func TestUnprovenInOneRestart(t *testing.T) {
	first := &pipelineRunner{doubt: new(string)}
	first.watch = pagecache.WatchReads(t.TempDir(), nil) // without /proc
	var res results.Result
	for range 2 {
		proof := &results.PipelineProof{}
		restart := *first
		restart.prove(&res, proof)
		if *proof.Proven || proof.Why == "" || len(res.Warnings) != 1 {
			t.Errorf("%v, %q", res.Proof, res.Warnings)
		}
	}
}

// What is measured for predictions reads past the cache where that is possible.
func TestColdCheckPoint(t *testing.T) {
	env := pipelineEnv(t, "sim:gen3x16")
	if env.Data.Images.Store != loader.Files {
		t.Fatal("want files")
	}
	for kind, want := range map[string]bool{results.DiskMemory: false, results.DiskSpinning: false, // half a minute
		results.DiskNVMe: pagecache.Controlled} {
		env.Data.Disk.Kind = kind
		past := func(p params) bool { return p.Cache == results.Direct }
		if got := slices.ContainsFunc(points(env), past); got != want {
			t.Errorf("a disk of kind %s is read past the cache: %v", kind, got)
		}
	}
}
