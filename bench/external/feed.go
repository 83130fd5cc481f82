package external

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"dlbench/bench"
	"dlbench/loader"
	"dlbench/loader/transform"
	"dlbench/results"
)

// Feed is dlbench's own loader as a process like those it is compared with: it delivers
// batches until stdin ends, and writes a record of each to out.
func Feed(ctx context.Context, getenv func(string) string, stdin io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() {
		io.Copy(io.Discard, stdin)
		stop(errStopped)
	}()
	err := feed(ctx, getenv, json.NewEncoder(out))
	if context.Cause(ctx) == errStopped {
		return nil
	}
	if err != nil {
		json.NewEncoder(out).Encode(record{Error: results.OneLine(err), MaxBytes: errors.Is(err, loader.ErrMostBytes)})
	}
	return err
}

// Records is where this process writes its records, as its environment says.
func Records(getenv func(string) string) (io.WriteCloser, error) {
	fd, err := strconv.Atoi(getenv("DLBENCH_FD"))
	if err != nil {
		return nil, errors.New("feed is started by dlbench run --loader, which reads what it writes")
	}
	return os.NewFile(uintptr(fd), "records"), nil
}

// errStopped says that whoever started the loader has it end.
var errStopped = errors.New("stopped")

// feedPrefetch is how many batches are made ahead, as many as the pipeline suite has.
const feedPrefetch = 2

func feed(ctx context.Context, getenv func(string) string, out *json.Encoder) error {
	var s settings
	if err := json.Unmarshal([]byte(getenv("DLBENCH_SETTINGS")), &s); err != nil {
		return fmt.Errorf("DLBENCH_SETTINGS: %w", err)
	}
	s.Path = getenv("DLBENCH_PATH")
	set, err := bench.OpenSet(ctx, s.Path, bench.RemoteOptions{MaxBytes: s.MaxBytes, Part: true})
	if err != nil {
		return err
	}
	memory := bench.MemoryFor(bench.PicturesBeside)
	workers := bench.NewWorkers(max(1, s.Workers), bench.WorkerOptions{Set: set, Strategy: results.Online,
		Preprocess: loader.PreprocessOptions{Seed: s.Seed, Memory: memory, Sample: transform.Options{
			Height: s.Batch.Height, Width: s.Batch.Width, DType: s.Batch.DType, Layout: results.NHWC}}})
	prefetch := feedPrefetch
	if s.Workers == 0 {
		prefetch = 0
	}
	defer bench.WithProcessors(s.Workers + 2)()
	order := loader.Order{Shuffle: set.Store == loader.Files, Seed: s.Seed}
	p, err := loader.NewPipeline(ctx, set, set.Plan(order, s.Batch.Images), newMemorySink(prefetch, s),
		loader.PipelineOptions{Prefetch: prefetch, Workers: s.Workers, Part: bench.SamplesAtATime,
			Thread: workers.Thread, Work: workers.Work,
			Missing: workers.Missing})
	if err != nil {
		return err
	}
	defer p.Stop()
	hello := record{Protocol: Protocol, Time: monotonic(), PID: os.Getpid(), Loader: "dlbench's own loader",
		Software: map[string]string{"decoder": loader.DecoderName(workers.Kind())}}
	if err := out.Encode(hello); err != nil {
		return err
	}
	var free time.Duration // when the step that is worked on ends, since start
	start := time.Now()
	var bad, owed int64 // samples that could not be made, and those that no batch lacks yet
	for ctx.Err() == nil {
		time.Sleep(free - time.Since(start))
		enter := monotonic()
		if _, err := p.Step(); err != nil {
			return err
		}
		free = time.Since(start) + s.Step
		now := workers.Bad()
		owed, bad = owed+now-bad, now
		if owed > int64((prefetch+2)*s.Batch.Images) {
			return fmt.Errorf("cannot read its data: %d images in succession failed: dlbench dataset check %s", owed, s.Path)
		}
		missing := min(owed, int64(s.Batch.Images-1)) // of those ahead, too: the next batches lack the rest
		owed -= missing
		r := record{Enter: &enter, Leave: monotonic(), Images: int64(s.Batch.Images) - missing, Bytes: s.Batch.Bytes()}
		if set.Remote != nil {
			r.Network = set.Remote.Stats().Bytes
		}
		if err := out.Encode(r); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// memorySink takes batches and does nothing with them: a loader.Sink.
type memorySink struct{ slots [][]byte }

func newMemorySink(prefetch int, s settings) *memorySink {
	m := &memorySink{}
	for range loader.Slots(prefetch) {
		m.slots = append(m.slots, make([]byte, s.Batch.Bytes()))
	}
	return m
}

func (m *memorySink) Slots() [][]byte  { return m.slots }
func (m *memorySink) Submit(int) error { return nil }
func (m *memorySink) Copied(int) error { return nil }
func (m *memorySink) Done() error      { return nil }
