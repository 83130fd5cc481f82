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
	"dlbench/bench/theory"
	"dlbench/cuda"
	"dlbench/loader"
	"dlbench/results"
)

func pipelineEnv(t *testing.T, specs ...string) bench.Env {
	t.Helper()
	env := benchtest.ImagesEnv(t, true)
	env.Step = bench.Step{Time: 2 * time.Millisecond, Given: true, Set: true}
	for _, s := range specs {
		env.Devices = append(env.Devices, benchtest.Sim(t, s))
	}
	return env
}

func pipelineNames(cases []bench.Case) []string {
	var n []string
	for _, c := range cases {
		n = append(n, strings.TrimPrefix(c.Params.Name("pipeline"), "pipeline/"))
	}
	return n
}

func TestPipelineCases(t *testing.T) {
	env := pipelineEnv(t, "sim:gen3x4", "sim:gen3x16")
	cases, err := pipelineCases(env)
	if err != nil {
		t.Fatal(err)
	}
	got := pipelineNames(cases)
	for _, want := range []string{
		"device=sim:gen3x4/mem=pinned/prefetch=0/workers=2/strategy=online/free=read+preprocess/step=2ms",
		"device=sim:gen3x16/mem=pinned/prefetch=1/workers=2/strategy=online/free=read+preprocess/step=2ms",
		"device=sim:gen3x16/mem=pinned/prefetch=2/workers=2/strategy=online/step=0s",
		"device=sim:gen3x16/mem=pinned/prefetch=2/workers=2/strategy=online/free=read+preprocess+copy/step=0s",
		"device=sim:gen3x16/mem=pinned/prefetch=1/workers=2/strategy=online/step=2ms",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no case %s in\n%s", want, strings.Join(got, "\n"))
		}
	}
	env.Alone = true // without what is measured for predictions alone
	alone, err := pipelineCases(env)
	half := func(name string) bool { return strings.Contains(name, "/cpus=") }
	if err != nil || len(alone) >= len(cases) || !slices.ContainsFunc(got, half) || slices.ContainsFunc(pipelineNames(alone), half) {
		t.Errorf("alone: %d of %d cases, %v:\n%s", len(alone), len(cases), err, strings.Join(pipelineNames(alone), "\n"))
	}
	env.Axes = map[string][]string{"prefetch": {"0", "2"}, "mem": {"pinned", "pageable"}, "workers": {"3"}}
	if cases, err = pipelineCases(env); err != nil || len(cases) != 2*2*2*2+2*2 {
		t.Errorf("with axes: %d cases, %v:\n%s", len(cases), err, strings.Join(pipelineNames(cases), "\n"))
	}
	for _, c := range cases {
		if c.Params.Int("workers") != 3 {
			t.Errorf("%s", c.Params.Name(""))
		}
	}
	for _, c := range cases { // what is assumed follows from what is there
		free, step := c.Params.Text("free"), c.Params.Text("step")
		want := []string{"link"}
		if step != "0s" {
			want = append(want, "step")
		}
		if !slices.Equal(c.Assumed, want) {
			t.Errorf("free %s, step %s: assumed %v", free, step, c.Assumed)
		}
	}
}

func TestPipelineRefusals(t *testing.T) {
	env := pipelineEnv(t, "sim:gen3x16")
	for axis, values := range map[string][]string{"prefetch": {"-1", "x", "5000"}, "free": {"all", "read+read", "read+nothing"}, "step": {"5", "-1s", "2h"}, "workers": {"0"}, "disk": {"floppy"}} {
		for _, v := range values {
			if err := bench.CheckAxes([]bench.Suite{Suite}, map[string][]string{axis: {v}}); err == nil {
				t.Errorf("%s=%s was taken", axis, v)
			}
		}
	}
	env.Host.Memory.Available = 10 * benchtest.SmallBatch.Bytes()
	env.Axes = map[string][]string{"prefetch": {"1000"}, "free": {results.FreeLoading}}
	var usage *bench.UsageError
	if _, err := pipelineCases(env); !errors.As(err, &usage) || usage.Value != "prefetch=1000" || !strings.Contains(usage.Want, "room for prefetch=4") {
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
		step, _ := time.ParseDuration(r.Params.Text("step"))
		if m := r.Metric("step_time"); m.Median < step.Seconds()*(1-1e-9) {
			t.Errorf("%s: a step of %v takes %v s", r.Name, step, m.Median)
		}
		u := r.Metric("utilisation")
		if step > 0 && (u == nil || u.Median <= 0 || u.Median > 1+1e-9) || step == 0 && u != nil {
			t.Errorf("%s: utilisation %+v", r.Name, u)
		}
		if r.Params.Text("prefetch") == "0" && r.Params.Text("free") == results.FreeLoading { // copy and step, one after the other
			link := benchtest.Sim(t, r.Params.Text("device")).Info()
			rate := link.Rates.Pinned
			if r.Params.Text("mem") == "pageable" {
				rate = link.Rates.Pageable
			}
			want := step.Seconds() + float64(env.Batch.Bytes())/rate
			if m := r.Metric("step_time"); m.Min < want*(1-1e-6) {
				t.Errorf("%s: %v s, but copy and step take %v s", r.Name, m.Min, want)
			}
		}
		if len(r.Series) != 2 || len(r.Series[0].T) == 0 || !slices.IsSorted(r.Series[0].T) {
			t.Errorf("%s: series %+v", r.Name, r.Series)
		}
	}
	claims := map[string]results.Finding{}
	for _, f := range pipelineFindings(env, rs) {
		claims[f.Claim] = f
	}
	for _, id := range []string{"feeds", "bound", "A2", "A3", "A5"} {
		if _, ok := claims[id]; !ok {
			t.Errorf("no finding %s", id)
		}
	}
	if f := claims["feeds"]; f.Value == nil || f.Verdict == results.NotMeasured {
		t.Errorf("%+v", f)
	}
	if f := claims["A3"]; f.Verdict == results.NotMeasured || !slices.Contains(f.Assumed, "link") {
		t.Errorf("%+v", f)
	}
}

// A pipeline over a manual clock: serial steps are copy and step together, overlapped
// ones the longer of the two, whatever the machine does.
func TestDeviceSinkTimes(t *testing.T) {
	spec, err := cuda.ParseSpec("sim:gen3x4")
	if err != nil {
		t.Fatal(err)
	}
	const bytes = 1 << 20
	for _, prefetch := range []int{0, 2} {
		for _, step := range []time.Duration{0, 100 * time.Microsecond, 5 * time.Millisecond} {
			clock := &pace.Manual{}
			d := cuda.NewSim(spec, clock)
			var times []stepTimes
			sink, err := newDeviceSink(d, sinkOptions{mem: "pinned", bytes: bytes, depth: loader.Slots(prefetch), step: step,
				ended: func(t stepTimes) { times = append(times, t) }})
			if err != nil {
				t.Fatal(err)
			}
			p, err := loader.NewPipeline(t.Context(), nil, nil, sink, loader.PipelineOptions{Null: true, Prefetch: prefetch})
			if err != nil {
				t.Fatal(err)
			}
			for range 20 {
				if _, err := p.Step(); err != nil {
					t.Fatal(err)
				}
			}
			if prefetch == 0 { // a pause is no part of the next step
				clock.Advance(time.Second)
				if err := sink.restart(); err != nil {
					t.Fatal(err)
				}
				if _, err := p.Step(); err != nil {
					t.Fatal(err)
				}
			}
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
			copyTime := pace.Length(bytes, d.Info().Rates.Pinned)
			want := copyTime + step
			if prefetch > 0 {
				want = max(copyTime, step)
			}
			if len(times) < 20 {
				t.Fatalf("%d steps of 20", len(times))
			}
			for i, s := range times[5:] {
				if s.Step != i+5 || s.Busy != step || s.Since < want-time.Microsecond || s.Since > want+time.Microsecond {
					t.Errorf("prefetch %d, step %v: step %d took %v since the last, busy %v; want %v", prefetch, step, s.Step, s.Since, s.Busy, want)
				}
			}
			if err := sink.close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestDeviceSinkAllocatesNothing(t *testing.T) {
	spec, err := cuda.ParseSpec("sim:gen3x4")
	if err != nil {
		t.Fatal(err)
	}
	for _, mem := range []string{"pinned", "pageable", results.Staged} {
		for _, prefetch := range []int{0, 2} {
			sink, err := newDeviceSink(cuda.NewSim(spec, &pace.Manual{}),
				sinkOptions{mem: mem, bytes: 1 << 12, depth: loader.Slots(prefetch), step: time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			p, err := loader.NewPipeline(t.Context(), nil, nil, sink, loader.PipelineOptions{Null: true, Prefetch: prefetch})
			if err != nil {
				t.Fatal(err)
			}
			if n := testing.AllocsPerRun(100, func() {
				if _, err := p.Step(); err != nil {
					t.Fatal(err)
				}
			}); n != 0 {
				t.Errorf("%s, prefetch %d: %v allocations a batch", mem, prefetch, n)
			}
			if err := errors.Join(p.Close(), sink.close()); err != nil {
				t.Error(err)
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
	failed := 0
	for _, r := range rs {
		if r.Status == results.Failed {
			failed++
			if !strings.Contains(r.Reason, "batch") && !strings.Contains(r.Reason, "not run") {
				t.Errorf("%s: %s", r.Name, r.Reason)
			}
		}
	}
	if failed == 0 {
		t.Errorf("nothing failed: %+v", rs)
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
// beside the load of the step: what is measured was loaded under it.
func TestStepsUnderLoad(t *testing.T) {
	env := pipelineEnv(t, "sim:gen3x16")
	env.Step.CPU = 1
	env.Axes = map[string][]string{"step": {"0s"}, "prefetch": {"2"}, "free": {results.FreeNothing}}
	cases, err := pipelineCases(env)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := cases[0].Open(t.Context(), env)
	if err != nil {
		t.Fatal(err)
	}
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
		if err := r.Sample(t.Context(), 4, rec); err != nil {
			t.Fatal(err)
		}
		if discarded := r.sink.timed - before - 4; paused && discarded < r.Prefetch+1 {
			t.Errorf("%d steps after a pause are not measured, want %d", discarded, r.Prefetch+1)
		}
	}
	r.sink.o.ended = ended // closing takes the last steps
	if steps < 3*4 || r.loaded {
		t.Errorf("%d steps, load %v", steps, r.loaded)
	}
}

func TestUnderLoad(t *testing.T) {
	for _, threads := range []int{0, 2} {
		r := &pipelineRunner{env: bench.Env{Step: bench.Step{CPU: threads}}}
		used, err := r.runUnderLoad(t.Context(), func() bool { return true })
		if err != nil || used < 0 || used > time.Minute || threads == 0 && used != 0 {
			t.Errorf("%d threads used %v, %v", threads, used, err)
		}
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
