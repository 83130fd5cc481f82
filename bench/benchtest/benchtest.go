package benchtest

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"dlbench/bench"
	"dlbench/bench/pace"
	"dlbench/bench/theory"
	"dlbench/cuda"
	"dlbench/loader"
	"dlbench/results"
)

func Spec(t *testing.T, text string) theory.Device {
	t.Helper()
	s, err := theory.ParseDevice(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Data has a small set of files and one of raw records, whose bytes no reader
// decodes.
func Data(t *testing.T) *bench.Data {
	t.Helper()
	d := &bench.Data{Sets: map[string]*loader.Set{}}
	dir := t.TempDir()
	for i := range 40 {
		b := make([]byte, 3000+i)
		bench.Randomize(b, uint64(i))
		if err := os.MkdirAll(filepath.Join(dir, "files", fmt.Sprint(i%4)), 0o755); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, "files", fmt.Sprint(i%4), fmt.Sprintf("%02d.jpg", i))
		if err := os.WriteFile(name, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w, err := loader.CreateRecords(filepath.Join(dir, "records.raw"), loader.Raw,
		loader.Record{Images: 1, Height: 8, Width: 8, Channels: 3, DType: "uint8", Layout: "nhwc"})
	if err != nil {
		t.Fatal(err)
	}
	record := make([]byte, 8*8*3)
	for i := range 40 {
		bench.Randomize(record, uint64(i))
		if err := w.Append(record, []int32{int32(i % 4)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for store, path := range map[string]string{loader.Files: "files", loader.Raw: "records.raw"} {
		if d.Sets[store], err = loader.Open(filepath.Join(dir, path), loader.OpenOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// Sim is an assumed link on a clock that moves only when it is waited on.
func Sim(t *testing.T, text string) cuda.Device {
	t.Helper()
	s, err := theory.ParseDevice(text)
	if err != nil {
		t.Fatal(err)
	}
	return cuda.NewSim(s, &pace.Manual{})
}

func Env(devices ...cuda.Device) bench.Env {
	e := bench.Env{Devices: devices, Batch: theory.ArticleBatch, Root: "/nonexistent", Seed: 1}
	e.Host.CPU.LastCache = 64 << 10 // a small buffer empties it
	return e
}

// PipelineCase is a finished case of the suite.
func PipelineCase(device, prefetch, strategy, free, disk, step string, seconds float64) results.Result {
	ahead, _ := strconv.Atoi(prefetch)
	each, _ := time.ParseDuration(step)
	p, _ := results.ParamsOf(results.PipelineParams{Device: device, Mem: "pinned", Prefetch: ahead, Workers: 1,
		Strategy: strategy, Free: free, Disk: disk, Step: results.Duration(each)},
		func(string, string) bool { return false })
	m := func(name, unit string, v float64) results.Metric {
		m := results.Metric{Name: name, Unit: unit}
		for run := range 3 {
			for range 6 {
				m.Samples = append(m.Samples, results.Sample{Value: v, N: 1, Run: run})
			}
		}
		results.Summarize(&m, results.SummaryOptions{})
		return m
	}
	return results.Result{Suite: "pipeline", Name: p.Name("pipeline"), Params: p, Status: results.OK,
		Metrics: []results.Metric{m("step_time", results.Seconds, seconds),
			m("throughput", results.PerSecond, 32/seconds)}}
}

// JPEGs writes n small photographs into class folders.
func JPEGs(t *testing.T, dir string, n int) {
	t.Helper()
	for i := range n {
		img := image.NewRGBA(image.Rect(0, 0, 60+i%7, 50))
		for y := range 50 {
			for x := range img.Rect.Dx() {
				img.Set(x, y, color.RGBA{uint8(x*4 + i), uint8(y * 5), uint8(x * y), 255})
			}
		}
		var b bytes.Buffer
		if err := jpeg.Encode(&b, img, nil); err != nil {
			t.Fatal(err)
		}
		put := filepath.Join(dir, fmt.Sprint("class", i%3), fmt.Sprintf("%03d.jpg", i))
		if err := os.MkdirAll(filepath.Dir(put), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(put, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

var SmallBatch = theory.Batch{Images: 4, Height: 16, Width: 16, Channels: 3, DType: "float32"}

// ImagesEnv has files and, with raw, a store of records of the batch's shape.
func ImagesEnv(t *testing.T, raw bool) bench.Env {
	t.Helper()
	env := Env()
	env.Root, env.Batch = "/", SmallBatch
	env.Host.CPU.Usable = 2
	dir := t.TempDir()
	JPEGs(t, filepath.Join(dir, "files"), 20)
	env.Data = &bench.Data{Sets: map[string]*loader.Set{}, Path: dir}
	var err error
	if env.Data.Sets[loader.Files], err = loader.Open(filepath.Join(dir, "files"), loader.OpenOptions{}); err != nil {
		t.Fatal(err)
	}
	if raw {
		r := loader.Record{Images: 1, Height: 16, Width: 16, Channels: 3, DType: "float32", Layout: "nhwc"}
		w, err := loader.CreateRecords(filepath.Join(dir, "a.raw"), loader.Raw, r)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 12 {
			if err := w.Append(make([]byte, r.Bytes()), []int32{int32(i)}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if env.Data.Sets[loader.Raw], err = loader.Open(filepath.Join(dir, "a.raw"), loader.OpenOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := env.Data.Check(t.Context(), bench.Options{Batch: env.Batch, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	return env
}

// Config measures so many samples, quickly and on a machine that is called quiet.
func Config(samples int) bench.Config {
	return bench.Config{Rule: bench.Rule{Samples: samples, Target: math.Inf(1), Budget: time.Second, Timeout: 10 * time.Second, MinTime: time.Millisecond, MaxNoisy: 3, MaxCheck: 3},
		Spin: func() float64 { return 0 }}
}

// Measure runs cases and returns the last state of each result by name.
func Measure(t *testing.T, ctx context.Context, cfg bench.Config, cases ...bench.Case) (map[string]*results.Result, error) {
	t.Helper()
	got := map[string]*results.Result{}
	err := bench.Measure(ctx, cfg, "test", cases, func(r results.Result) error { got[r.Name] = &r; return nil })
	return got, err
}

// Run measures the cases of a suite with so many samples each, and returns the last state
// of each result in their order.
func Run(t *testing.T, s bench.Suite, env bench.Env, samples int) (rs []results.Result) {
	t.Helper()
	cases, err := s.Cases(env)
	if err != nil {
		t.Fatal(err)
	}
	cfg := bench.Config{Env: env, Rule: bench.Rule{Samples: samples, Exact: true, Timeout: time.Minute}, Visit: samples,
		Spin: func() float64 { return 0 }}
	if err := bench.Measure(t.Context(), cfg, s.Name, cases, func(r results.Result) error {
		if i := slices.IndexFunc(rs, func(o results.Result) bool { return o.Name == r.Name }); i >= 0 {
			rs[i] = r
		} else {
			rs = append(rs, r)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return rs
}

func Around(x, share float64) [3]float64 { return [3]float64{x, x * (1 - share), x * (1 + share)} }

const BatchBytes = 19_440_000
