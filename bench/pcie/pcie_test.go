package pcie

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"dlbench/bench"
	"dlbench/bench/benchtest"
	"dlbench/bench/theory"
	"dlbench/cuda"
	"dlbench/results"
)

func TestCasesOverAnAssumedLink(t *testing.T) {
	const host, device = "pcie/device=host/dir=h2h/", "pcie/device=sim:gen3x16/dir="
	const uint8s = device + "h2d/mem=pinned/dtype=uint8/bytes=4860000"
	for _, c := range []struct {
		axes map[string][]string // that the user gives
		want []string
	}{
		{nil, []string{
			host + "mem=pageable/bytes=19440000", host + "mem=pageable/source=cold/bytes=19440000",
			host + "mem=bounce/bytes=19440000", host + "mem=bounce/source=cold/bytes=19440000",
			device + "h2d/mem=pinned/bytes=19440000", device + "h2d/mem=staged/bytes=19440000",
			device + "h2d/mem=pageable/bytes=19440000", device + "d2h/mem=pinned/bytes=19440000",
			device + "d2h/mem=pageable/bytes=19440000", device + "h2d/mem=pinned/dtype=float16/bytes=9720000",
			uint8s}},
		{map[string][]string{"mem": {"registered"}, "dir": {"h2d"}, "dtype": {"float32"}},
			[]string{device + "h2d/mem=registered/bytes=19440000"}},
		{map[string][]string{"mem": {"pinned", "pageable"}, "dir": {"h2d"}, "dtype": {"uint8"}}, []string{
			uint8s, device + "h2d/mem=pageable/dtype=uint8/bytes=4860000"}},
		{map[string][]string{"mem": {"pinned"}, "dir": {"h2d"}, "dtype": {"uint8", "float16"}}, []string{
			uint8s, device + "h2d/mem=pinned/dtype=float16/bytes=9720000"}},
		{map[string][]string{"mem": {"pinned"}, "dir": {"d2h"}, "bytes": {"4KiB", "1MB"}, "dtype": {"float32"}},
			[]string{device + "d2h/mem=pinned/bytes=4096", device + "d2h/mem=pinned/bytes=1000000"}},
	} {
		env := benchtest.Env(benchtest.Sim(t, "sim:gen3x16"))
		env.Axes = c.axes
		benchtest.Must(t, bench.CheckAxes([]bench.Suite{Suite}, env.Axes))
		cases := benchtest.Cases(t, Suite, env)
		var got []string
		for _, x := range cases {
			name, p := x.Params.Name("pcie"), results.As[params](x.Params)
			if c.axes == nil || p.Device != results.HostDevice {
				got = append(got, name)
			}
			if assumed := slices.Contains(x.Assumed, "link"); assumed != (p.Device != results.HostDevice) {
				t.Errorf("%s: assumed %v", name, x.Assumed)
			}
			if p.DType == "" || p.Source == "" {
				t.Errorf("%s: implied parameters are missing: %v", name, x.Params)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: cases\n%s\nwant\n%s", c.axes, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// Nothing copies in the background of an assumed link, nor of a single GPU.
func TestConcurrentCasesThatCannotRun(t *testing.T) {
	env := benchtest.Env(benchtest.Sim(t, "sim:gen3x16"))
	env.Axes = map[string][]string{"concurrent": {results.ConcurrentOpposite}, "dir": {results.H2D}, "mem": {"pinned"}}
	cases := benchtest.Cases(t, Suite, env)
	last := cases[len(cases)-1]
	if last.Device == "" || !strings.Contains(last.Skip, "part of the simulation") {
		t.Errorf("%+v", last)
	}
	env.Devices = []cuda.Device{gpu(0)}
	env.Axes["concurrent"], env.Axes["mem"] = []string{results.ConcurrentDevices}, []string{"pinned", "pageable"}
	cases = benchtest.Cases(t, Suite, env)
	for _, c := range cases {
		if c.Device != "" && c.Skip == "" {
			t.Errorf("%s can run", c.Params.Name("pcie"))
		}
	}
}

func TestBadAxesAreUsageErrors(t *testing.T) {
	for _, c := range [][]string{ // an axis and its values
		{"memory", "pinned"}, {"mem", "pined"}, {"mem"}, {"bytes", "0"}, {"bytes", "-1"}, {"bytes", "many"},
		{"bytes", "1.5KiB"}, {"bytes", "99999999999999999999"}, {"dtype", "float64"}, {"source", ""}, {"dir", "h2h"},
	} {
		var u *bench.UsageError
		err := bench.CheckAxes([]bench.Suite{Suite}, map[string][]string{c[0]: c[1:]})
		if !errors.As(err, &u) || u.Flag != "-a" ||
			!strings.Contains(u.Want, "want") && !strings.Contains(u.Want, "no value") {
			t.Errorf("%q: %v, want a usage error that says what is allowed", c, err)
		}
	}
}

// Over an assumed link on a clock without noise, every case must come to exactly
// what the rates say, in time and by kind of memory, or the suite's arithmetic of
// events, directions and bytes is wrong.
func TestCopiesOverAnAssumedLinkTakeTheirNominalTime(t *testing.T) {
	env := benchtest.Env(benchtest.Sim(t, "sim:gen3x8:gbps=4:pageable-gbps=2"))
	env.Batch.Images = 2 // 1 215 000 B: 303.75 us pinned, 607.5 us pageable
	got := map[string]results.Result{}
	for _, r := range benchtest.Run(t, Suite, env, 3) {
		got[r.Name] = r
	}
	for name, want := range map[string]float64{
		"dir=h2d/mem=pinned/bytes=1215000":              303.75e-6,
		"dir=d2h/mem=pinned/bytes=1215000":              303.75e-6,
		"dir=h2d/mem=pinned/dtype=float16/bytes=607500": 151.875e-6,
		"dir=h2d/mem=pinned/dtype=uint8/bytes=303750":   75.938e-6,
	} {
		r := got["pcie/device=sim:gen3x8:gbps=4:pageable-gbps=2/"+name]
		if wantResult(t, r, results.OK); r.Status != results.OK {
			continue
		}
		m := r.Metric("time")
		if math.Abs(m.Median-want) > 2e-9 || m.Lo != nil {
			t.Errorf("%s: %v s, want %v and no interval", name, m.Median, want)
		}
		if b := r.Metric("bandwidth").Median; math.Abs(b-4e9) > 1e6 {
			t.Errorf("%s: %v B/s, want %v", name, b, 4e9)
		}
		if l := r.Metric("lateness"); l == nil || l.Max != 0 {
			t.Errorf("%s: lateness %+v on a clock that is never late", name, l)
		}
		line := r.Reference("line-rate", "bandwidth")
		if line == nil || math.Abs(*line.Value-7.877e9) > 1e6 {
			t.Errorf("%s: line rate %+v", name, line)
		}
	}
}

func TestReferencesOfTheArticlesBatch(t *testing.T) {
	for _, c := range []struct {
		dir, mem, dtype, link string
		want                  string // names of the references to time
	}{
		{"h2d", "pinned", "float32", "gen3x16", "line-rate protocol-band published article-theory article-practice"},
		{"h2d", "pageable", "float32", "gen3x4", "line-rate protocol-band article-theory article-practice"},
		{"h2d", "pinned", "float16", "gen3x4", "line-rate protocol-band"},
		{"d2h", "pinned", "float32", "gen3x16", "line-rate protocol-band"},
		{"h2d", "pinned", "float32", "gen4x16", "line-rate protocol-band published"},
		{"h2d", "pinned", "float32", "gen6x16", "line-rate"},
	} {
		link, err := theory.ParseLink(c.link)
		benchtest.Must(t, err)
		b := theory.ArticleBatch
		b.DType = c.dtype
		k := &copier{point: point{params: params{Dir: c.dir, Mem: c.mem, Bytes: b.Bytes()}, batch: b}}
		var got []string
		for _, r := range k.references(link) {
			if r.Metric == "time" {
				got = append(got, r.Name)
			}
			if r.Source == "" || (r.Value == nil) == (r.Lo == nil) || (r.Lo == nil) != (r.Hi == nil) ||
				(r.Lo != nil && *r.Lo >= *r.Hi) {
				t.Errorf("%+v: reference %+v", c, r)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func TestFasterThanTheLineIsAnError(t *testing.T) {
	for bandwidth, status := range map[float64]string{7.8e9: results.OK, 7.88e9: results.OK, 10.2e9: results.Failed} {
		r := results.Result{Status: results.OK, References: make([]results.Reference, 1),
			Metrics: []results.Metric{{Name: "bandwidth", Unit: "B/s", Median: bandwidth}}}
		failAboveLine(&r, theory.Link{Gen: 3, Lanes: 8})
		why := ""
		if status == results.Failed {
			why = "faster than the line rate of Gen3 x8"
		}
		wantResult(t, r, status, why)
		if (r.References == nil) != (status == results.Failed) || (r.Reason == "") != (why == "") {
			t.Errorf("%.2f GB/s: %+v", bandwidth/1e9, r)
		}
	}
}

func TestLateCopiesFailTheSelfCheck(t *testing.T) {
	k := &copier{point: point{params: params{Mem: "pinned", Bytes: 19_440_000}}}
	k.info.Rates.Pinned = 12.6e9 // 1.54 ms: 15.4 us are 1 %
	if err := k.Check(); err != nil {
		t.Errorf("nothing measured: %v", err)
	}
	for _, c := range []struct {
		what          string
		samples, late int // samples of 4 copies each, late ones in the last
		fails         bool
	}{
		{"1 of 40 late", 10, 1, false},
		{"3 of 44 late, p95 is above 1 %", 1, 2, true},
		{"a burst long ago", bench.LateSamples, 0, false},
	} {
		for i := range c.samples {
			sample := slices.Repeat([]time.Duration{2 * time.Microsecond}, 4)
			for j := range c.late {
				if i == c.samples-1 {
					sample[j] = 20 * time.Microsecond
				}
			}
			k.late = append(k.late, sample)
		}
		if err := k.Check(); (err != nil) != c.fails {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}

// A device without memory for the batch is left out with its reason, and so is the host; the
// others are measured. Without room for any device that was named the run is refused.
func TestWithoutMemory(t *testing.T) {
	small, large := benchtest.Sim(t, "sim:gen3x4").Info(), benchtest.Sim(t, "sim:gen3x8").Info()
	small.Free, large.Free = 1<<30, 8<<30
	for _, c := range []struct {
		name    string
		free    int64 // of the host
		named   bool
		devices []cuda.Info
		skipped map[string]string // by device, the reason
		refused string
	}{
		{"room", 64 << 30, true, []cuda.Info{large}, nil, ""},
		{"one device of two", 64 << 30, true, []cuda.Info{small, large},
			map[string]string{"sim:gen3x4": "sim:gen3x4 has 1.074 GB free"}, ""},
		{"the host", 1 << 30, false, []cuda.Info{large}, map[string]string{
			results.HostDevice: "this cgroup (memory.high) has", "sim:gen3x8": "this cgroup (memory.high) has"}, ""},
		{"the host, for a device that was named", 1 << 30, true, []cuda.Info{large}, map[string]string{
			results.HostDevice: "", "sim:gen3x8": ""}, "this cgroup (memory.high) has"},
		{"a device that was named", 64 << 30, true, []cuda.Info{small}, map[string]string{"sim:gen3x4": ""},
			"sim:gen3x4 has 1.074 GB free"},
		{"any device", 64 << 30, false, []cuda.Info{small}, map[string]string{"sim:gen3x4": "has 1.074 GB free"}, ""},
	} {
		env := benchtest.Env()
		for _, info := range c.devices {
			env.Devices = append(env.Devices, tampered{info: &info})
		}
		env.Batch.Images, env.Named = 1000, c.named // 607.5 MB
		env.Host.Memory.Available, env.Host.Memory.BoundBy = c.free, "memory.high"
		cases, err := casesOf(env)
		var u *bench.UsageError
		if (err == nil) != (c.refused == "") || err != nil &&
			(!errors.As(err, &u) || u.Flag != "--batch" || !strings.Contains(u.Want, c.refused)) {
			t.Errorf("%s: %v", c.name, err)
		}
		for _, x := range cases {
			device := x.Params.Text("device")
			why, skipped := c.skipped[device]
			if p := results.As[params](x.Params); p.Bytes < env.Batch.Bytes() {
				continue // which may fit
			}
			if skipped && !strings.Contains(x.Skip, why) || !skipped && strings.Contains(x.Skip, " free, enough for ") {
				t.Errorf("%s: %s is skipped: %q", c.name, x.Params.Name("pcie"), x.Skip)
			}
		}
	}
}

// Where the buffer that evicts caches does not fit, cold sources alone are left out.
func TestWithoutMemoryToEvict(t *testing.T) {
	env := benchtest.Env(benchtest.Sim(t, "sim:gen3x16"))
	env.Batch.Images, env.Quick = 4, true
	env.Host.CPU.LastCache, env.Host.Memory.Available = 300<<20, 256<<20
	cases := benchtest.Cases(t, Suite, env)
	for _, c := range cases {
		cold := c.Params.Text("source") == results.SourceCold
		if cold != strings.Contains(c.Skip, "evicts the last-level cache") || !cold && c.Skip != "" {
			t.Errorf("%s: %q", c.Params.Name("pcie"), c.Skip)
		}
	}
}

// A case takes no kind of memory but its own, nor copies through another, so that a kind
// that fails or hangs fails itself alone.
func TestModesDoNotNeedEachOther(t *testing.T) {
	for mem, own := range map[string][]cuda.Kind{"pinned": {cuda.Pinned}, "registered": {cuda.Registered},
		"pageable": {cuda.Pageable}, results.Staged: {cuda.Pinned, cuda.Pageable}} {
		for _, dir := range []string{results.H2D, results.D2H} {
			if mem == results.Staged && dir == results.D2H {
				continue
			}
			d := tampered{Device: benchtest.Sim(t, "sim:gen3x16"), alloc: func(k cuda.Kind) error {
				if k != cuda.OnDevice && !slices.Contains(own, k) {
					return fmt.Errorf("memory of kind %v", k)
				}
				return nil
			}}
			k := opened(t, d, params{Dir: dir, Mem: mem})
			if err := k.Sample(t.Context(), 1, &bench.Recorder{}); err != nil {
				t.Errorf("%s %s: %v", dir, mem, err)
			}
		}
	}
}

func TestWrongBytesAreFound(t *testing.T) {
	env := benchtest.Env(tampered{Device: benchtest.Sim(t, "sim:gen3x4"), settled: func(b *cuda.Buffer) {
		if b.Host != nil {
			b.Host[len(b.Host)-1] ^= 1
		}
	}})
	env.Batch.Images = 1
	cases := benchtest.Cases(t, Suite, env)
	for _, c := range cases {
		if c.Device == "" {
			continue
		}
		r, err := c.Open(context.Background(), env)
		if err == nil {
			r.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "other bytes arrived") {
			t.Errorf("%s: error %v", c.Params.Name("pcie"), err)
		}
	}
}
