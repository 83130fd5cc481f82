package encode

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"dlbench/results"
)

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
