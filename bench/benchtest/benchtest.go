// Package benchtest holds what tests of several suites share: data, environments, checks.
package benchtest

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dlbench/bench"
	"dlbench/bench/pace"
	"dlbench/bench/theory"
	"dlbench/cuda"
	"dlbench/loader"
	"dlbench/results"
)

// Must ends a test that cannot go on after an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Spec is a device as --device names it.
func Spec(t *testing.T, text string) theory.Device {
	t.Helper()
	s, err := theory.ParseDevice(text)
	Must(t, err)
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
		Write(t, filepath.Join(dir, "files", fmt.Sprint(i%4), fmt.Sprintf("%02d.jpg", i)), string(b))
	}
	d.Sets[loader.Files] = open(t, filepath.Join(dir, "files"))
	d.Sets[loader.Raw] = records(t, dir, 40,
		loader.Record{Batch: theory.Batch{Images: 1, Height: 8, Width: 8, Channels: 3, DType: "uint8"}, Layout: "nhwc"})
	return d
}

// Write writes a file, in a folder that need not be there.
func Write(t *testing.T, path, data string) {
	t.Helper()
	Must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(data), 0o644)))
}

func open(t *testing.T, path string) *loader.Set {
	t.Helper()
	set, err := loader.Open(path, "")
	Must(t, err)
	return set
}

// records has n records in a folder, of random bytes or, of floats, zeros.
func records(t *testing.T, dir string, n int, r loader.Record) *loader.Set {
	t.Helper()
	path := filepath.Join(dir, "records.raw")
	w, err := loader.CreateRecords(path, loader.Raw, r)
	Must(t, err)
	data := make([]byte, r.Bytes())
	for i := range n {
		if r.DType == "uint8" {
			bench.Randomize(data, uint64(i))
		}
		Must(t, w.Append(data, []int32{int32(i % 4)}))
	}
	Must(t, w.Close())
	return open(t, path)
}

// Sim is a simulated link on a clock that moves only when it is waited on.
func Sim(t *testing.T, text string) cuda.Device {
	t.Helper()
	return cuda.NewSim(Spec(t, text), &pace.Manual{})
}

// Env has devices and no data.
func Env(devices ...cuda.Device) bench.Env {
	e := bench.Env{Options: bench.Options{Batch: theory.ArticleBatch, Root: "/nonexistent", Seed: 1}, Devices: devices}
	e.Host.CPU.LastCache = 64 << 10 // a small buffer empties it
	return e
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
		Must(t, jpeg.Encode(&b, img, nil))
		Write(t, filepath.Join(dir, fmt.Sprint("class", i%3), fmt.Sprintf("%03d.jpg", i)), b.String())
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
	sets := map[string]*loader.Set{loader.Files: open(t, filepath.Join(dir, "files"))}
	env.Data = &bench.Data{Sets: sets, Path: dir}
	if raw {
		sets[loader.Raw] = records(t, dir, 12,
			loader.Record{Batch: theory.Batch{Images: 1, Height: 16, Width: 16, Channels: 3, DType: "float32"}, Layout: "nhwc"})
	}
	Must(t, env.Data.Check(t.Context(), bench.Options{Batch: env.Batch, Seed: 1}))
	return env
}

// Config measures so many samples, quickly and on a machine that is called quiet.
func Config(samples int) bench.Config {
	rule := bench.Rule{Samples: samples, Target: math.Inf(1), Budget: time.Second, Timeout: 10 * time.Second,
		MinTime: time.Millisecond, MaxNoisy: 3, MaxCheck: 3}
	return bench.Config{Rule: rule, Spin: func() float64 { return 0 }}
}

// Measure runs cases and returns the last state of each result by name.
func Measure(t *testing.T, cfg bench.Config, cases ...bench.Case) map[string]*results.Result {
	t.Helper()
	return measure(t, "test", cfg, cases)
}

func measure(t *testing.T, suite string, cfg bench.Config, cases []bench.Case) map[string]*results.Result {
	t.Helper()
	got := map[string]*results.Result{}
	keep := func(r results.Result) error {
		got[r.Name] = &r
		return nil
	}
	Must(t, bench.Measure(t.Context(), cfg, suite, cases, keep))
	return got
}

// Cases are those of a suite.
func Cases(t *testing.T, s bench.Suite, env bench.Env) []bench.Case {
	t.Helper()
	cases, err := s.Cases(env)
	Must(t, err)
	return cases
}

// Named are the cases of a suite, and their names without that of the suite.
func Named(t *testing.T, s bench.Suite, env bench.Env) (names []string, cases []bench.Case) {
	t.Helper()
	cases = Cases(t, s, env)
	for _, c := range cases {
		names = append(names, strings.TrimPrefix(c.Params.Name(s.Name), s.Name+"/"))
	}
	return names, cases
}

// Finding is that on a claim, the zero one where there is none.
func Finding(fs []results.Finding, claim string) (f results.Finding) {
	if i := slices.IndexFunc(fs, func(f results.Finding) bool { return f.Claim == claim }); i >= 0 {
		f = fs[i]
	}
	return f
}

// WantFinding checks the verdict and parts of the text.
func WantFinding(t *testing.T, f results.Finding, verdict string, parts ...string) {
	t.Helper()
	for _, part := range append(parts, "") {
		if f.Verdict != verdict || !strings.Contains(f.Text, part) {
			t.Errorf("%s: %+v, want %s and %q", f.Claim, f, verdict, part)
		}
	}
}

// Says checks that a text has a part, and is empty where that is.
func Says(t *testing.T, name, text, part string) {
	t.Helper()
	if !strings.Contains(text, part) || (part == "") != (text == "") {
		t.Errorf("%s: %q, want %q", name, text, part)
	}
}

// Run measures the cases of a suite with so many samples each, and returns the last state
// of each result in their order.
func Run(t *testing.T, s bench.Suite, env bench.Env, samples int) (rs []results.Result) {
	t.Helper()
	cases := Cases(t, s, env)
	cfg := bench.Config{Env: env, Rule: bench.Rule{Samples: samples, Exact: true, Timeout: time.Minute}, Visit: samples,
		Spin: func() float64 { return 0 }}
	got := measure(t, s.Name, cfg, cases)
	for _, c := range cases {
		rs = append(rs, *got[c.Params.Name(s.Name)])
	}
	return rs
}

func Around(x, share float64) [3]float64 { return [3]float64{x, x * (1 - share), x * (1 + share)} }

const BatchBytes = 19_440_000
