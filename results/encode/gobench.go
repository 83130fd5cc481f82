package encode

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"

	"dlbench/results"
)

// GoBench writes the samples of r in the Go benchmark format, for
// "benchstat -": one line a sample with the i-th sample of each metric of the
// case, the time first, under the names of go test -bench in package bench. procs
// is the GOMAXPROCS of the run, which follows the name unless it is below 2. Cases that
// failed or were skipped have no lines, nor have simulated ones unless they are asked for.
//
// The configuration tells what benchstat must not mix: the machine, the user's
// label and, as "assumed", what was no hardware. The versions of dlbench and of
// the driver are comments: as configuration they would keep benchstat from
// comparing one with the next. Which way a unit improves stands in Unit lines, except for
// a unit whose metrics disagree.
func GoBench(w io.Writer, r *results.Report, procs int, simulated bool) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# dlbench %s\n", results.Plain(r.Tool.Version))
	if r.Software.Driver != "" {
		fmt.Fprintf(&b, "# driver %s\n", results.Plain(r.Software.Driver))
	}
	var config []benchfmt.Config
	set := func(key, value string) {
		if value != "" {
			config = append(config, benchfmt.Config{Key: key, Value: []byte(results.Plain(value)), File: true})
		}
	}
	set("goos", r.Host.OS)
	set("goarch", r.Host.Arch)
	set("pkg", "dlbench/bench")
	set("cpu", r.Host.CPU.Model)
	set("label", r.Label)
	same := len(config)
	done := slices.DeleteFunc(slices.Clone(r.Results), func(r results.Result) bool { return r.Status != results.OK })
	cases := slices.DeleteFunc(slices.Clone(done), func(r results.Result) bool { return len(r.Assumed) > 0 && !simulated })
	if n := len(done) - len(cases); n > 0 {
		fmt.Fprintf(&b, "# %s left out: --simulated adds them\n", results.Plural(n, "simulated case"))
	}
	writeUnits(&b, cases)
	lines := benchfmt.NewWriter(&b)
	for _, res := range cases {
		config = config[:same]
		set("assumed", strings.Join(res.Assumed, " "))
		line := benchfmt.Result{Config: config, Name: benchfmt.Name("Suite/" + BenchName(res))}
		if procs > 1 {
			line.Name = fmt.Appendf(line.Name, "-%d", procs)
		}
		writeSamples(lines, line, BenchMetrics(res.Metrics, r.Config.Batch))
	}
	_, err := w.Write(b.Bytes())
	return err
}

// writeUnits says of each unit which way it improves. The format has one unit for
// one meaning: where metrics disagree, nothing is said.
func writeUnits(b *bytes.Buffer, cases []results.Result) {
	var all []results.Metric
	for _, res := range cases {
		all = append(all, BenchMetrics(res.Metrics, 1)...)
	}
	unitOf := func(m results.Metric) string {
		unit, _ := BenchUnit(m)
		return unit
	}
	for _, ms := range results.Grouped(all, unitOf) {
		better := ms[0].Better
		differs := func(m results.Metric) bool { return m.Better != better }
		if (better == results.Lower || better == results.Higher) && !slices.ContainsFunc(ms, differs) {
			fmt.Fprintf(b, "Unit %s better=%s\n", unitOf(ms[0]), better)
		}
	}
}

// BenchMetrics returns ms with the time of an operation first. An operation is a batch in
// cases that time one; in others it is an image, of which batches have so many, whatever
// the number of threads.
func BenchMetrics(ms []results.Metric, batch int) []results.Metric {
	isTime := func(m results.Metric) bool { return m.Name == "time" }
	if i := slices.IndexFunc(ms, isTime); i >= 0 {
		return slices.Concat(ms[i:i+1], ms[:i], ms[i+1:])
	}
	i := slices.IndexFunc(ms, func(m results.Metric) bool { return m.Name == "throughput" })
	if i < 0 {
		return ms
	}
	each := results.Metric{Name: "time", Unit: results.Seconds, Better: results.Lower, Median: 1 / ms[i].Median}
	for _, s := range ms[i].Samples {
		each.Samples = append(each.Samples, results.Sample{Value: 1 / s.Value, N: s.N * max(1, batch)})
	}
	return slices.Concat([]results.Metric{each}, ms)
}

// writeSamples writes a line for each sample of ms.
func writeSamples(w *benchfmt.Writer, line benchfmt.Result, ms []results.Metric) {
	for i := 0; ; i++ {
		line.Iters, line.Values = 0, nil
		for _, m := range ms {
			if i >= len(m.Samples) || !results.IsFinite(m.Samples[i].Value) {
				continue
			}
			line.Iters = cmp.Or(line.Iters, max(m.Samples[i].N, 1))
			unit, scale := BenchUnit(m)
			// 15 digits hide what the scaling rounds.
			value, _ := strconv.ParseFloat(strconv.FormatFloat(m.Samples[i].Value*scale, 'g', 15, 64), 64)
			line.Values = append(line.Values, benchfmt.Value{Value: value, Unit: unit})
		}
		if line.Iters == 0 {
			return
		}
		w.Write(&line) // into memory, which takes all
	}
}

// BenchName is the name of a case as a sub-benchmark, such as
// "pcie/device=sim:gen3x16/dir=h2d/mem=pinned/bytes=19440000": the suite and the
// parameters that are not implied, escaped as in the path of a URL. So is the last hyphen
// of a name that ends in a hyphen and digits, which would be taken for
// GOMAXPROCS. The name contains nothing that package testing rewrites.
func BenchName(res results.Result) string {
	name := url.PathEscape(res.Suite)
	for _, p := range res.Params {
		if !p.Implied {
			name += "/" + url.PathEscape(p.Key) + "=" + url.PathEscape(p.Text())
		}
	}
	rest := strings.TrimRight(name, "0123456789")
	if len(rest) < len(name) && strings.HasSuffix(rest, "-") {
		name = rest[:len(rest)-1] + "%2D" + name[len(rest):]
	}
	return name
}

// BenchUnit is the unit under which a metric stands in the Go benchmark format,
// and by what a value in base units is multiplied for it: "ns/op" for the time of an
// operation, "B/s" for the bandwidth, "images/s" for the throughput, for others the name
// with a unit that benchstat knows, as in "submit-ns", or without one.
func BenchUnit(m results.Metric) (unit string, scale float64) {
	if scale = 1; m.Unit == results.Seconds {
		scale = 1e9
	}
	units := map[string]string{results.Seconds: "-ns", results.Bytes: "-B", results.BytesPerSecond: "-B/s",
		results.PerSecond: "/s"}
	usual := map[string]string{"time-ns": "ns/op", "bandwidth-B/s": "B/s", "throughput/s": "images/s"}
	unit = strings.ReplaceAll(results.Words(m.Name, 0), " ", "-") + units[m.Unit]
	return cmp.Or(usual[unit], unit), scale
}
