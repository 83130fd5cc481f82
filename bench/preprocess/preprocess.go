// Package preprocess is the suite of preprocessing: images a second of one thread and of
// several, next to a control that scales as far as the machine does.
package preprocess

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"dlbench/bench"
	"dlbench/bench/hostmem"
	"dlbench/bench/theory"
	"dlbench/loader"
	"dlbench/loader/decode"
	"dlbench/loader/transform"
	"dlbench/results"
)

var Suite = bench.Suite{
	Name:   "preprocess",
	Doc:    "how many images a second the CPU decodes, crops and normalises, by threads and decoder",
	Axes:   axes.Info(),
	Cases:  preprocessCases,
	Claims: claims,
	Data:   true,
	Decode: true,
	Share:  18 * time.Second,
	Quick:  4 * time.Second,
}

type params = results.PreprocessParams

var axes = bench.Axes[params]{
	{Name: "threads", Set: bench.Count(func(p *params) *int { return &p.Threads }, "threads", 1, results.MostThreads),
		Doc: "number of threads, each on its own CPU while there are enough: physical cores first"},
	{Name: "decoder", Set: bench.Text(func(p *params) *string { return &p.Decoder }), Values: decode.Kinds,
		Doc: "JPEG decoder: turbo (libjpeg-turbo, if installed) or go (Go's own); auto takes turbo if it can"},
	{Name: "strategy", Set: bench.Text(func(p *params) *string { return &p.Strategy }),
		Values: []string{results.Online, results.Offline},
		Doc:    "online: prepare images for each batch; offline: read tensors prepared before"},
	{Name: "layout", Set: bench.Text(func(p *params) *string { return &p.Layout }),
		Values: []string{results.NHWC, results.NCHW}, Default: results.NHWC, Doc: "order of the batch"},
	{Name: "dtype", Set: bench.Text(func(p *params) *string { return &p.DType }), Values: theory.DTypes,
		Doc: "element type of the batch; uint8 is not normalised"},
	{Name: "antialias", Set: bench.Text(func(p *params) *string { return &p.Antialias }),
		Values: []string{results.On, results.Off}, Default: results.On,
		Doc: "on: resize as torchvision and Pillow do; off: OpenCV's bilinear"},
	{Name: "clock", Set: setClock,
		Doc: "CPU clock in GHz while measuring (needs root and cpufreq; restored afterwards)"},
}

func setClock(p *params, text string) error {
	ghz, err := strconv.ParseFloat(text, 64)
	if err != nil || !(ghz >= 0.1 && ghz <= 20) {
		return errors.New("want a clock in GHz, from 0.1 to 20")
	}
	p.Clock = ghz
	return nil
}

// threadCounts are those that show how throughput grows: up to eight, with the
// number of cores and that of all CPUs.
func threadCounts(all, cores int, quick bool) []int {
	most := 8
	if quick {
		most = 4
	}
	counts := results.AppendNew([]int{1}, cores, all)
	for _, n := range []int{2, 4, 8, 16, 32, 3, 6, 12, 24} {
		if n < all && len(counts) < most {
			counts = results.AppendNew(counts, n)
		}
	}
	return slices.Sorted(slices.Values(counts))
}

// points are the curated points, of which some may be the same: that makes one case.
func points(env bench.Env) (all []params) {
	base := params{Threads: 1, Strategy: results.Online, Decoder: decode.Auto, Layout: results.NHWC,
		DType: env.Batch.DType, Antialias: results.On}
	add := bench.Variants(&all, &base)
	usable, cores := bench.UsableThreads(env)
	if env.Data.Images != nil {
		for _, n := range threadCounts(usable, cores, env.Quick) {
			add(func(p *params) { p.Threads = n })
		}
		if !env.Quick {
			add(func(p *params) { p.Decoder = decode.Go })
			add(func(p *params) { p.Layout = results.NCHW })
			add(func(p *params) { p.Antialias = results.Off })
			add(func(p *params) { p.DType = "uint8" })
		}
	}
	if env.Data.Sets[loader.Raw] != nil {
		for _, n := range []int{1, usable} {
			add(func(p *params) { p.Threads, p.Strategy = n, results.Offline })
		}
	}
	if len(all) == 0 { // a tensor store: say so
		add(func(*params) {})
	}
	return all
}

func preprocessCases(env bench.Env) ([]bench.Case, error) {
	all, err := axes.Expand(points(env), env.Axes)
	if err != nil {
		return nil, err
	}
	for i := range all {
		p := &all[i]
		if p.Decoder == decode.Auto {
			p.Decoder = decode.Turbo
			if _, err := decode.Library(); err != nil {
				p.Decoder = decode.Go
			}
		}
		if p.Strategy == results.Offline {
			p.Decoder, p.Antialias = "", ""
		}
	}
	memory := &batchMemory{}
	cases, err := bench.CasesOf(all, func(p params) (bench.Case, error) { return preprocessCase(env, p, memory) })
	return cases, cmp.Or(err, memory.fits(env))
}

var preprocessMetrics = []bench.MetricDef{
	bench.MetricImages,
	{Name: "control", Unit: results.PerSecond, Better: results.Higher},
	{Name: "cpu", Unit: results.Seconds, Better: results.Lower},
	{Name: "read", Unit: results.Seconds, Better: results.Lower},
	{Name: "decode", Unit: results.Seconds, Better: results.Lower},
	{Name: "resample", Unit: results.Seconds, Better: results.Lower},
	{Name: "collate", Unit: results.Seconds, Better: results.Lower},
}

func preprocessCase(env bench.Env, p params, memory *batchMemory) (bench.Case, error) {
	list, err := axes.Params(p, map[string]string{"dtype": env.Batch.DType})
	if err != nil {
		return bench.Case{}, err
	}
	c := bench.Case{Params: list, Group: p.Strategy, Metrics: preprocessMetrics, References: bench.Demands()}
	r := &preprocessRunner{params: p, env: env, memory: memory, batch: env.Batch, set: env.Data.Source(p.Strategy),
		stop: func() {}}
	r.batch.DType = p.DType
	r.o = loader.PreprocessOptions{Memory: env.Data.Memory, Decoder: p.Decoder, Seed: env.Seed, Sample: transform.Options{
		Height: env.Batch.Height, Width: env.Batch.Width, DType: p.DType, Layout: p.Layout,
		NoAntialias: p.Antialias == results.Off}}
	if c.Skip = env.Data.Unable(p.Strategy, r.batch, r.o); c.Skip == "" {
		memory.need(int64(r.depth())*r.batch.Bytes(), int64(r.Threads)*controlImages*(r.sampleBytes()+bench.ImageBytes))
	}
	c.Open = bench.OpenCopy(*r)
	return c, nil
}

// batchMemory is the memory for batches that the cases of the suite share, since only one
// works at a time.
type batchMemory struct {
	mutex sync.Mutex
	bytes int64 // of all batches of a case, the most that one needs
	extra int64 // that the controls of all cases take besides
	users int
	all   []byte
	free  func() error
}

// need notes what a case will ask for: bytes for its batches, and what its control keeps
// for itself.
func (m *batchMemory) need(batches, control int64) {
	m.bytes = max(m.bytes, batches)
	m.extra += control
}

// fits refuses batches for which there is no memory.
func (m *batchMemory) fits(env bench.Env) error {
	need := m.bytes + m.extra
	if env.Fits(need) {
		return nil
	}
	room := max(0, int64(float64(env.Host.Memory.Available/2)/float64(need)*float64(env.Batch.Images)))
	return env.TooLarge("--batch", strconv.Itoa(env.Batch.Images), "batches in the making, and those of the control,",
		need, fmt.Sprintf("batches of %d", room))
}

// get returns the memory that all cases work in.
func (m *batchMemory) get() (all []byte, err error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.all == nil {
		if m.all, _, m.free, err = hostmem.Buffer(int(m.bytes)); err != nil {
			return nil, err
		}
	}
	m.users++
	return m.all, nil
}

// put gives back what get returned.
func (m *batchMemory) put() error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.users--; m.users > 0 {
		return nil
	}
	m.all = nil
	return m.free()
}
