package encode

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"dlbench/results"
)

// GoBench writes the samples of r in the Go benchmark format, for
// "benchstat -": one line a sample with the i-th sample of each metric of the
// case, the time first, under the names of go test -bench in package bench. procs
// is the GOMAXPROCS of the run, which follows the name unless it is below 2.
//
// The configuration tells what benchstat must not mix: the machine, the user's
// label and, as "assumed", what was no hardware. The versions of dlbench and of
// the driver are comments: as configuration they would keep benchstat from
// comparing one with the next. Cases that failed or were skipped have no lines.
// Which way a unit improves stands in Unit lines, except for a unit whose metrics
// disagree.
func GoBench(w io.Writer, r *results.Report, procs int) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# dlbench %s\n", results.Plain(r.Tool.Version))
	if r.Software.Driver != "" {
		fmt.Fprintf(&b, "# driver %s\n", results.Plain(r.Software.Driver))
	}
	for _, c := range []struct{ key, value string }{
		{"goos", r.Host.OS},
		{"goarch", r.Host.Arch},
		{"pkg", "dlbench/bench"},
		{"cpu", r.Host.CPU.Model},
		{"label", r.Label},
	} {
		if c.value != "" {
			fmt.Fprintf(&b, "%s: %s\n", c.key, results.Plain(c.value))
		}
	}
	writeUnits(&b, r)
	suffix := ""
	if procs > 1 {
		suffix = "-" + strconv.Itoa(procs)
	}
	assumed := ""
	for i := range r.Results {
		res := &r.Results[i]
		if res.Status != results.OK {
			continue
		}
		if now := results.Plain(strings.Join(res.Assumed, " ")); now != assumed {
			fmt.Fprintf(&b, "assumed: %s\n", now) // without a value the key is deleted
			assumed = now
		}
		writeSamples(&b, "BenchmarkSuite/"+BenchName(*res)+suffix, leading(res.Metrics))
	}
	_, err := w.Write(b.Bytes())
	return err
}

// writeUnits says of each unit which way it improves. The format has one unit for
// one meaning: where metrics disagree, nothing is said.
func writeUnits(b *bytes.Buffer, r *results.Report) {
	var units []string
	better := map[string]string{}
	for _, res := range r.Results {
		if res.Status != results.OK {
			continue
		}
		for _, m := range res.Metrics {
			unit, _ := BenchUnit(m)
			if !slices.Contains(units, unit) {
				units = append(units, unit)
				better[unit] = m.Better
			} else if better[unit] != m.Better {
				better[unit] = ""
			}
		}
	}
	for _, unit := range units {
		if d := better[unit]; d == results.Lower || d == results.Higher {
			fmt.Fprintf(b, "Unit %s better=%s\n", unit, d)
		}
	}
}

// leading returns ms with the time first.
func leading(ms []results.Metric) (sorted []results.Metric) {
	for _, isTime := range []bool{true, false} {
		for _, m := range ms {
			if (m.Name == "time") == isTime {
				sorted = append(sorted, m)
			}
		}
	}
	return sorted
}

func writeSamples(b *bytes.Buffer, name string, ms []results.Metric) {
	lines := 0
	for _, m := range ms {
		lines = max(lines, len(m.Samples))
	}
	for i := range lines {
		n := 0
		var values bytes.Buffer
		for _, m := range ms {
			if i >= len(m.Samples) || !results.IsFinite(m.Samples[i].Value) {
				continue
			}
			n = cmp.Or(n, max(m.Samples[i].N, 1))
			unit, scale := BenchUnit(m)
			// 15 digits hide what the scaling rounds.
			fmt.Fprintf(&values, "\t%s %s", strconv.FormatFloat(m.Samples[i].Value*scale, 'g', 15, 64), unit)
		}
		if n > 0 {
			fmt.Fprintf(b, "%s\t%d%s\n", name, n, values.Bytes())
		}
	}
}

// BenchName is the name of a case as a sub-benchmark, such as
// "pcie/device=sim:gen3x16/dir=h2d/mem=pinned/bytes=19440000": the suite and the
// parameters that are not implied. Within a key or a value a slash, a percent
// sign, spaces and what does not print stand as %XX, and so does the last hyphen
// of a name that ends in a hyphen and digits, which would be taken for
// GOMAXPROCS. The name contains nothing that package testing rewrites.
func BenchName(res results.Result) string {
	parts := []string{benchEscape(res.Suite)}
	for _, p := range res.Params {
		if !p.Implied {
			parts = append(parts, benchEscape(p.Key)+"="+benchEscape(p.Text()))
		}
	}
	name := strings.Join(parts, "/")
	rest := strings.TrimRight(name, "0123456789")
	if len(rest) < len(name) && strings.HasSuffix(rest, "-") {
		name = rest[:len(rest)-1] + "%2D" + name[len(rest):]
	}
	return name
}

func benchEscape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == '/' || r == '%' || r == utf8.RuneError && n == 1 || unicode.IsSpace(r) || !unicode.IsPrint(r) {
			for _, c := range []byte(s[i : i+n]) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		} else {
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// BenchUnit is the unit under which a metric stands in the Go benchmark format,
// and by what a value in base units is multiplied for it: "ns/op" for the time,
// "B/s" for the bandwidth, "submit-ns/op" and "read-B/s" for others in seconds and
// bytes per second, and the metric's own name for the rest.
func BenchUnit(m results.Metric) (unit string, scale float64) {
	name := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return '-'
		}
		return r
	}, m.Name)
	switch {
	case m.Name == "time" && m.Unit == results.Seconds:
		return "ns/op", 1e9
	case m.Name == "bandwidth" && m.Unit == results.BytesPerSecond:
		return "B/s", 1
	case m.Unit == results.Seconds:
		return name + "-ns/op", 1e9
	case m.Unit == results.BytesPerSecond:
		return name + "-B/s", 1
	}
	return name, 1
}
