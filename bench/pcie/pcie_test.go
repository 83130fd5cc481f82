package pcie

import (
	"context"
	"errors"
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

func names(cases []bench.Case) []string {
	var n []string
	for _, c := range cases {
		n = append(n, c.Params.Name("pcie"))
	}
	return n
}

func TestPcieCasesOverAnAssumedLink(t *testing.T) {
	env := benchtest.Env(benchtest.Sim(t, "sim:gen3x16"))
	cases, err := casesOf(env)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"pcie/device=host/dir=h2h/mem=pageable/bytes=19440000",
		"pcie/device=host/dir=h2h/mem=pageable/source=cold/bytes=19440000",
		"pcie/device=host/dir=h2h/mem=bounce/bytes=19440000",
		"pcie/device=host/dir=h2h/mem=bounce/source=cold/bytes=19440000",
		"pcie/device=sim:gen3x16/dir=h2d/mem=pinned/bytes=19440000",
		"pcie/device=sim:gen3x16/dir=h2d/mem=staged/bytes=19440000",
		"pcie/device=sim:gen3x16/dir=h2d/mem=pageable/bytes=19440000",
		"pcie/device=sim:gen3x16/dir=d2h/mem=pinned/bytes=19440000",
		"pcie/device=sim:gen3x16/dir=d2h/mem=pageable/bytes=19440000",
		"pcie/device=sim:gen3x16/dir=h2d/mem=pinned/dtype=float16/bytes=9720000",
		"pcie/device=sim:gen3x16/dir=h2d/mem=pinned/dtype=uint8/bytes=4860000",
	}
	if got := names(cases); !slices.Equal(got, want) {
		t.Errorf("cases\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, c := range cases {
		device := c.Params.Text("device")
		if assumed := slices.Contains(c.Assumed, "link"); assumed != (device != results.HostDevice) {
			t.Errorf("%s: assumed %v", c.Params.Name("pcie"), c.Assumed)
		}
		if d, s := c.Params.Text("dtype"), c.Params.Text("source"); d == "" || s == "" {
			t.Errorf("%s: implied parameters are missing: %v", c.Params.Name("pcie"), c.Params)
		}
	}
}

func TestPcieAxesExpand(t *testing.T) {
	for _, c := range []struct {
		axes map[string][]string
		want []string // of the device, in order
	}{
		{map[string][]string{"mem": {"registered"}, "dir": {"h2d"}, "dtype": {"float32"}}, []string{"h2d/mem=registered/bytes=19440000"}},
		{map[string][]string{"mem": {"pinned", "pageable"}, "dir": {"h2d"}, "dtype": {"uint8"}}, []string{
			"h2d/mem=pinned/dtype=uint8/bytes=4860000", "h2d/mem=pageable/dtype=uint8/bytes=4860000"}},
		{map[string][]string{"mem": {"pinned"}, "dir": {"h2d"}, "dtype": {"uint8", "float16"}}, []string{
			"h2d/mem=pinned/dtype=uint8/bytes=4860000", "h2d/mem=pinned/dtype=float16/bytes=9720000"}},
		{map[string][]string{"mem": {"pinned"}, "dir": {"d2h"}, "bytes": {"4KiB", "1MB"}, "dtype": {"float32"}}, []string{
			"d2h/mem=pinned/bytes=4096", "d2h/mem=pinned/bytes=1000000"}},
	} {
		env := benchtest.Env(benchtest.Sim(t, "sim:gen3x16"))
		env.Axes = c.axes
		if err := bench.CheckAxes([]bench.Suite{Suite}, env.Axes); err != nil {
			t.Fatal(err)
		}
		cases, err := casesOf(env)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, n := range names(cases) {
			if _, point, ok := strings.Cut(n, "pcie/device=sim:gen3x16/dir="); ok {
				got = append(got, point)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: %q, want %q", c.axes, got, c.want)
		}
	}
}

func TestBadAxesAreUsageErrors(t *testing.T) {
	for _, axes := range []map[string][]string{
		{"memory": {"pinned"}}, {"mem": {"pined"}}, {"mem": {}}, {"bytes": {"0"}}, {"bytes": {"-1"}}, {"bytes": {"many"}}, {"bytes": {"1.5KiB"}},
		{"bytes": {"99999999999999999999"}}, {"dtype": {"float64"}}, {"source": {""}}, {"dir": {"h2h"}},
	} {
		var u *bench.UsageError
		if err := bench.CheckAxes([]bench.Suite{Suite}, axes); !errors.As(err, &u) || u.Flag != "-a" || !strings.Contains(u.Want, "want") && !strings.Contains(u.Want, "no value") {
			t.Errorf("%v: %v, want a usage error that says what is allowed", axes, err)
		}
	}
}

// Over an assumed link on a clock without noise, every case must come to exactly
// what the rates say, in time and by kind of memory, or the suite's arithmetic of
// events, directions and bytes is wrong.
func TestCopiesOverAnAssumedLinkTakeTheirNominalTime(t *testing.T) {
	env := benchtest.Env(benchtest.Sim(t, "sim:gen3x8:gbps=4:pageable-gbps=2"))
	env.Batch.Images = 2 // 1 215 000 B: 303.75 us pinned, 607.5 us pageable
	cfg := benchtest.Config(3)
	cfg.Env = env
	cases, err := casesOf(env)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]*results.Result{}
	if err := bench.Measure(t.Context(), cfg, "pcie", cases, func(r results.Result) error { got[r.Name] = &r; return nil }); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{
		"dir=h2d/mem=pinned/bytes=1215000":              303.75e-6,
		"dir=d2h/mem=pinned/bytes=1215000":              303.75e-6,
		"dir=h2d/mem=pinned/dtype=float16/bytes=607500": 151.875e-6,
		"dir=h2d/mem=pinned/dtype=uint8/bytes=303750":   75.938e-6,
	} {
		r := got["pcie/device=sim:gen3x8:gbps=4:pageable-gbps=2/"+name]
		if r == nil || r.Status != results.OK {
			t.Errorf("%s: %+v", name, r)
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
		dir, mem string
		dtype    string
		link     theory.Link
		want     []string // names of the references to time
	}{
		{"h2d", "pinned", "float32", theory.Link{Gen: 3, Lanes: 16}, []string{"line-rate", "protocol-band", "published", "article-theory", "article-practice"}},
		{"h2d", "pageable", "float32", theory.Link{Gen: 3, Lanes: 4}, []string{"line-rate", "protocol-band", "article-theory", "article-practice"}},
		{"h2d", "pinned", "float16", theory.Link{Gen: 3, Lanes: 4}, []string{"line-rate", "protocol-band"}},
		{"d2h", "pinned", "float32", theory.Link{Gen: 3, Lanes: 16}, []string{"line-rate", "protocol-band"}},
		{"h2d", "pinned", "float32", theory.Link{Gen: 4, Lanes: 16}, []string{"line-rate", "protocol-band", "published"}},
		{"h2d", "pinned", "float32", theory.Link{Gen: 6, Lanes: 16}, []string{"line-rate"}},
	} {
		b := theory.ArticleBatch
		b.DType = c.dtype
		k := &copier{point: point{params: params{Dir: c.dir, Mem: c.mem, Bytes: b.Bytes()}, batch: b}}
		var got []string
		for _, r := range k.references(c.link) {
			if r.Metric == "time" {
				got = append(got, r.Name)
			}
			if r.Source == "" || (r.Value == nil) == (r.Lo == nil) || (r.Lo == nil) != (r.Hi == nil) || (r.Lo != nil && *r.Lo >= *r.Hi) {
				t.Errorf("%+v: reference %+v", c, r)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s %s %s over %s: %q, want %q", c.dir, c.mem, c.dtype, c.link, got, c.want)
		}
	}
}

func TestFasterThanTheLineIsAnError(t *testing.T) {
	k := &copier{point: point{params: params{Dir: "h2d", Mem: "pinned", Bytes: 19_440_000}, batch: theory.ArticleBatch}}
	l := theory.Link{Gen: 3, Lanes: 8}
	for _, c := range []struct {
		bandwidth float64
		status    string
	}{{7.8e9, results.OK}, {7.88e9, results.OK}, {10.2e9, results.Failed}} {
		r := results.Result{Status: results.OK, References: k.references(l), Metrics: []results.Metric{{Name: "bandwidth", Unit: "B/s", Median: c.bandwidth}}}
		failAboveLine(&r, l)
		if r.Status != c.status || (c.status == results.Failed) != strings.Contains(r.Reason, "faster than the line rate of Gen3 x8") {
			t.Errorf("%.2f GB/s over %s: %s %q", c.bandwidth/1e9, l, r.Status, r.Reason)
		}
	}
}

func TestLivenessOfTheLink(t *testing.T) {
	read := func(state string, gts float64, width int) results.Link {
		return results.Link{State: state, GTs: gts, Width: width, MaxGTs: 16, MaxWidth: 16, Narrow: "0000:65:00.0"}
	}
	known := results.LinkKnown
	for _, c := range []struct {
		name string
		read []results.Link
		want string // link, "" for unknown
		warn string // part of the warning, "" for none
	}{
		{"full speed", []results.Link{read(known, 16, 16), read(known, 16, 16)}, "gen4x16", ""},
		{"woke up late", []results.Link{read(known, 2.5, 16), read(known, 16, 16), read(known, 16, 16)}, "gen4x16", "changed while copying: 2 of 3"},
		{"stuck", []results.Link{read(known, 2.5, 16), read(known, 2.5, 16)}, "gen1x16", "slot allow Gen4 x16"},
		{"narrow", []results.Link{read(known, 16, 4)}, "gen4x4", "slot allow Gen4 x16"},
		{"unknown", []results.Link{read(results.LinkUnknown, 0, 0)}, "", "link unknown"},
		{"virtual", []results.Link{read(results.LinkVirtual, 2.5, 1)}, "", "link virtual"},
		{"none", nil, "", "link unknown"},
	} {
		var r results.Result
		l, ok := (&liveLink{read: c.read}).report(&r, &results.PCIeProof{})
		if ok != (c.want != "") || ok && l.String() != c.want {
			t.Errorf("%s: %s, %t; want %q", c.name, l, ok, c.want)
		}
		if w := strings.Join(r.Warnings, "; "); !strings.Contains(w, c.warn) || (c.warn == "") != (w == "") {
			t.Errorf("%s: warnings %q, want %q", c.name, w, c.warn)
		}
	}
}

func TestLateCopiesFailTheSelfCheck(t *testing.T) {
	k := &copier{point: point{params: params{Mem: "pinned", Bytes: 19_440_000}, info: benchtest.Sim(t, "sim:gen3x16").Info()}} // 1.54 ms: 15.4 us are 1 %
	sample := func(late int) {
		k.lateAt = append(k.lateAt, len(k.late))
		for i := range 4 {
			l := 2 * time.Microsecond
			if i < late {
				l = 20 * time.Microsecond
			}
			k.late = append(k.late, l)
		}
	}
	if err := k.Check(); err != nil {
		t.Errorf("nothing measured: %v", err)
	}
	for range 9 {
		sample(0)
	}
	sample(1)
	if err := k.Check(); err != nil {
		t.Errorf("1 of 40 late: %v", err)
	}
	sample(2)
	if err := k.Check(); err == nil {
		t.Error("3 of 44 late: no error, p95 is above 1 %")
	}
	for range bench.LateSamples {
		sample(0)
	}
	if err := k.Check(); err != nil {
		t.Errorf("a burst long ago: %v", err)
	}
}

func TestBatchThatDoesNotFitIsRefused(t *testing.T) {
	env := benchtest.Env(benchtest.Sim(t, "sim:gen3x4"))
	env.Batch.Images = 1000 // 607.5 MB
	env.Host.Memory.Available = 1 << 30
	_, err := casesOf(env)
	var u *bench.UsageError
	if !errors.As(err, &u) || u.Flag != "--batch" || !strings.Contains(u.Want, "this host has") {
		t.Errorf("host: %v", err)
	}
	env.Host.Memory.Available = 64 << 30
	if _, err := casesOf(env); err != nil {
		t.Errorf("enough memory: %v", err)
	}
	env.Devices = []cuda.Device{smallDevice{benchtest.Sim(t, "sim:gen3x4")}}
	if _, err := casesOf(env); !errors.As(err, &u) || !strings.Contains(u.Want, "sim:gen3x4 has 1.074 GB free") {
		t.Errorf("device: %v", err)
	}
}

// smallDevice has 1 GiB of memory.
type smallDevice struct{ cuda.Device }

func (d smallDevice) Info() cuda.Info {
	i := d.Device.Info()
	i.Free = 1 << 30
	return i
}

func TestWrongBytesAreFound(t *testing.T) {
	env := benchtest.Env(corrupting{benchtest.Sim(t, "sim:gen3x4")})
	env.Batch.Images = 1
	cases, err := casesOf(env)
	if err != nil {
		t.Fatal(err)
	}
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

// corrupting is a device whose copies lose a bit.
type corrupting struct{ cuda.Device }

func (d corrupting) Settle(b *cuda.Buffer) error {
	err := d.Device.Settle(b)
	if b.Host != nil {
		b.Host[len(b.Host)-1] ^= 1
	}
	return err
}
