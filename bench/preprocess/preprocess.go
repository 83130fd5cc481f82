package preprocess

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"dlbench/bench"
	"dlbench/bench/theory"
	"dlbench/loader"
	"dlbench/loader/decode"
	"dlbench/loader/transform"
	"dlbench/results"
)

// Suite is the suite.
var Suite = bench.Suite{
	Name:   "preprocess",
	Doc:    "how many images a second the CPU decodes, crops and normalises, by threads and decoder",
	Axes:   bench.OldInfo(preprocessAxes),
	Cases:  preprocessCases,
	Derive: preprocessFindings,
	Data:   true,
	Decode: true,
	Share:  18 * time.Second,
	Quick:  4 * time.Second,
}

var preprocessAxes = []bench.OldAxis{
	{Name: "threads", Doc: "that read, decode and transform, each on a CPU of its own as far as there are any: physical cores first", Parse: bench.ParseThreads},
	{Name: "decoder", Doc: "of JPEG: libjpeg-turbo as it is installed, or Go's; auto takes the former where it is", Values: decode.Kinds},
	{Name: "strategy", Doc: "images prepared for each batch, or read as tensors that were prepared before", Values: []string{results.Online, results.Offline}},
	{Name: "layout", Doc: "of the batch", Values: []string{results.NHWC, results.NCHW}, Default: results.NHWC},
	{Name: "dtype", Doc: "of the batch; uint8 is not normalised", Values: []string{"float32", "float16", "uint8"}},
	{Name: "antialias", Doc: "as torchvision and Pillow resize; off is OpenCV's bilinear", Values: []string{results.On, results.Off}, Default: results.On},
	{Name: "clock", Doc: "GHz that the CPUs are held to while measuring (root, where the clock can be set; restored afterwards)", Parse: parseClock},
}

func parseClock(s string) (any, error) {
	ghz, err := strconv.ParseFloat(s, 64)
	if err != nil || !(ghz >= 0.1 && ghz <= 20) {
		return nil, errors.New("want a clock in GHz, from 0.1 to 20")
	}
	return ghz, nil
}

// threadCounts are those that show how throughput grows: up to eight, with the
// number of cores and that of all CPUs.
func threadCounts(all, cores int, quick bool) []int {
	counts := []int{1, cores, all}
	for _, n := range []int{2, 4, 8, 16, 32, 3, 6, 12, 24, 64, 48, 96, 128, 192, 256} {
		if n < all && len(counts) < 10 && !slices.Contains(counts, n) && (!quick || len(counts) < 4) {
			counts = append(counts, n)
		}
	}
	slices.Sort(counts)
	counts = slices.Compact(counts)
	for len(counts) > 8 { // drop the middle one of the closest three
		drop, least := 1, 1e9
		for i := 1; i < len(counts)-1; i++ {
			if gap := float64(counts[i+1]) / float64(counts[i-1]); counts[i] != cores && gap < least {
				drop, least = i, gap
			}
		}
		counts = slices.Delete(counts, drop, drop+1)
	}
	return counts
}

func preprocessPoints(env bench.Env) []map[string]string {
	var points []map[string]string
	add := func(threads int, more map[string]string) {
		p := map[string]string{"threads": strconv.Itoa(threads), "strategy": results.Online, "decoder": decode.Auto,
			"layout": results.NHWC, "dtype": env.Batch.DType, "antialias": results.On}
		if len(env.Axes["clock"]) > 0 {
			p["clock"] = env.Axes["clock"][0]
		}
		maps.Copy(p, more)
		points = append(points, p)
	}
	all, cores := bench.UsableThreads(env)
	counts := threadCounts(all, cores, env.Quick)
	if env.Data.Images != nil {
		for _, n := range counts {
			add(n, nil)
		}
		if !env.Quick {
			if _, err := decode.Library(); err == nil {
				add(1, map[string]string{"decoder": decode.Go})
			}
			add(1, map[string]string{"layout": results.NCHW})
			add(1, map[string]string{"antialias": results.Off})
			if env.Batch.DType != "uint8" {
				add(1, map[string]string{"dtype": "uint8"})
			}
		}
	}
	if env.Data.Sets[loader.Raw] != nil {
		for _, n := range slices.Compact([]int{1, all}) {
			add(n, map[string]string{"strategy": results.Offline})
		}
	}
	if len(points) == 0 { // a tensor store: say so
		add(1, nil)
	}
	return points
}

func preprocessCases(env bench.Env) ([]bench.Case, error) {
	var cases []bench.Case
	seen := map[string]bool{}
	shared := &preparation{}
	for _, p := range bench.Expand(preprocessAxes, preprocessPoints(env), env.Axes) {
		if p["decoder"] == decode.Auto {
			p["decoder"] = decode.Turbo
			if _, err := decode.Library(); err != nil {
				p["decoder"] = decode.Go
			}
		}
		if p["strategy"] == results.Offline {
			delete(p, "decoder")
			delete(p, "antialias")
		}
		if key := fmt.Sprint(p); seen[key] {
			continue
		} else {
			seen[key] = true
		}
		c, err := preprocessCase(env, p, shared)
		if err != nil {
			return nil, err
		}
		cases = append(cases, c)
	}
	if err := shared.fits(env); err != nil {
		return nil, err
	}
	return cases, nil
}

// Metrics of the preprocess suite.
var (
	metricControl    = bench.MetricDef{Name: "control", Unit: results.PerSecond, Better: results.Higher}
	metricCPUImage   = bench.MetricDef{Name: "cpu", Unit: results.Seconds, Better: results.Lower}
	metricRead       = bench.MetricDef{Name: "read", Unit: results.Seconds, Better: results.Lower}
	metricDecode     = bench.MetricDef{Name: "decode", Unit: results.Seconds, Better: results.Lower}
	metricResample   = bench.MetricDef{Name: "resample", Unit: results.Seconds, Better: results.Lower}
	metricCollate    = bench.MetricDef{Name: "collate", Unit: results.Seconds, Better: results.Lower}
	preprocessMetric = []bench.MetricDef{bench.MetricImages, metricControl, metricCPUImage, metricRead, metricDecode, metricResample, metricCollate}
)

func preprocessCase(env bench.Env, point map[string]string, shared *preparation) (bench.Case, error) {
	axes := slices.Clone(preprocessAxes)
	for i := range axes {
		if axes[i].Name == "dtype" {
			axes[i].Default = env.Batch.DType
		}
	}
	p, err := bench.Params(axes, point)
	if err != nil {
		return bench.Case{}, err
	}
	c := bench.Case{Params: p, Group: p.Text("strategy"), Metrics: preprocessMetric}
	for _, d := range theory.Demands {
		rate := d.Rate()
		c.References = append(c.References, results.Reference{Name: results.DemandPrefix + d.Name, Metric: "throughput", Value: &rate, Source: d.Source})
	}
	r := &preprocessRunner{env: env, shared: shared, threads: int(p.Int("threads")), offline: point["strategy"] == results.Offline, batch: env.Batch}
	r.batch.DType = point["dtype"]
	if text := p.Text("clock"); text != "" {
		ghz, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return bench.Case{}, err
		}
		r.clock = ghz * 1e9
	}
	r.o = loader.PreprocessOptions{Decoder: point["decoder"], Seed: env.Seed, Sample: transform.Options{
		Height: env.Batch.Height, Width: env.Batch.Width, DType: r.batch.DType, Layout: p.Text("layout"), NoAntialias: point["antialias"] == results.Off}}
	if c.Skip = r.unable(); c.Skip == "" {
		shared.need(r.depth(), r.batch.Bytes(), r.threads, controlImages*(r.batch.Bytes()/int64(r.batch.Images)+bench.ImageBytes))
	}
	c.Open = func(ctx context.Context, env bench.Env) (bench.Runner, error) {
		fresh := *r
		if err := fresh.open(ctx); err != nil {
			return nil, errors.Join(err, fresh.Close())
		}
		return &fresh, nil
	}
	return c, nil
}

// unable says why a case cannot run here, "" if it can.
func (r *preprocessRunner) unable() string {
	set := r.env.Data.Images
	if r.offline {
		set = r.env.Data.Sets[loader.Raw]
	}
	switch {
	case set == nil && r.offline:
		return "the data given has no raw store: dlbench dataset pack makes one of images"
	case set == nil:
		return "the data given holds no image files to decode"
	case set.Plan(loader.Order{}, r.batch.Images).Len() < 1:
		return fmt.Sprintf("%d good samples are less than one batch of %d", len(set.Samples), r.batch.Images)
	case r.batch.Channels != 3:
		return fmt.Sprintf("images have 3 channels, not %d", r.batch.Channels)
	}
	if r.offline {
		return loader.CanPrepare(set.Record, r.o.Sample)
	}
	if r.o.Decoder == decode.Turbo {
		if _, err := decode.Library(); err != nil {
			return err.Error()
		}
	}
	return ""
}
