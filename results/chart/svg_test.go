package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dlbench/results"
)

var update = flag.Bool("update", false, "write golden files")

// svgOf draws c and returns the document and its texts. It fails for anything
// that is no plain drawing.
func svgOf(t *testing.T, c Chart) (doc []byte, texts []string) {
	t.Helper()
	var b bytes.Buffer
	if err := c.Write(&b, Options{Format: SVG}); err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(bytes.NewReader(b.Bytes()))
	var in string
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return b.Bytes(), texts
		}
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			in = tok.Name.Local
			if !slices.Contains([]string{"svg", "title", "g", "path", "text"}, in) {
				t.Errorf("%s: element %s", c.Name, in)
			}
			for _, a := range tok.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || strings.HasSuffix(a.Name.Local, "href") {
					t.Errorf("%s: attribute %s of %s", c.Name, a.Name.Local, in)
				}
			}
		case xml.EndElement:
			in = ""
		case xml.CharData:
			if in == "text" {
				texts = append(texts, string(tok))
			}
		case xml.Comment:
			t.Errorf("%s: comment %s", c.Name, tok)
		}
	}
}

// count is how often s is a text.
func count(texts []string, s string) (n int) {
	for _, x := range texts {
		if x == s {
			n++
		}
	}
	return n
}

func TestSVGTexts(t *testing.T) {
	const (
		measured = "measured, whisker: 95 % interval of the median"
		assumed  = "assumed link: a paced stand-in, not a measurement"
		line     = "line rate of the link"
		band     = "protocol band: packets of 64 to 256 B"
		slip     = "article's theory (1 GiB/s a lane: 9 % faster than the line)"
		practice = "article's practice (its rule of thumb: twice the theory)"
		others   = "published by others for that link and memory"
	)
	for _, c := range []struct {
		name    string
		reports []*results.Report
		chart   int
		once    []string
		never   []string
	}{
		{"assumed", []*results.Report{simReport("")}, 0, []string{
			"Time to copy one batch to the GPU over an assumed link", "time per batch (ms)",
			measured, assumed, line, band, slip, practice, others,
			"Gen3 x4", "Gen3 x8", "Gen3 x16", "1.542 ms", "12.34 ms", "host memory copy",
			"AMD EPYC 7B13 · no GPU · 2026-11-30 UTC · dlbench v0.1.0 · batch 32x225x225x3 float32, 19.44 MB",
		}, nil},
		{"measured", []*results.Report{gpuReport("rig", 1, "gen4x16")}, 0, []string{
			"Time to copy one batch to the GPU", measured, line, band, others,
			"cuda:0 Fake GPU 0", "Gen4 x16", "registered", "staged", "0.7712 ms",
			"rig: AMD EPYC 7B13 · Fake GPU 0 · 2026-11-30 UTC · dlbench v0.1.0 · batch 32x225x225x3 float32, 19.44 MB",
		}, []string{assumed, slip, practice}},
		{"both", []*results.Report{simReport("laptop"), gpuReport("rig", 1, "gen3x16")}, 0, []string{
			"Time to copy one batch to the GPU, by machine, assumed where outlined", "measured", "assumed link: paced stand-ins, not a measurement",
			"95 % interval of the median", line, band, slip, practice, others, "pinned memory", "pinned memory, assumed link", "copy within main memory, pageable",
		}, nil},
		{"sweep", []*results.Report{gpuReport("", 2, "gen4x16")}, 1, []string{
			"Bandwidth of copies to the GPU by their size", "size of a copy (bytes)", "bandwidth (GB/s)",
			"4 KiB", "64 MiB", "cuda:0 Fake GPU 0, Gen4 x16", "cuda:1 Fake GPU 1, Gen4 x16", "pinned", "pageable",
			"95 % interval of the median", line, band, "Gen4 x16", "31.51 GB/s", "batch 19.44 MB",
		}, []string{assumed, "registered"}},
	} {
		charts, err := Charts(c.reports)
		if err != nil || len(charts) <= c.chart {
			t.Fatalf("%s: %d charts, %v", c.name, len(charts), err)
		}
		_, texts := svgOf(t, charts[c.chart])
		for _, s := range c.once {
			if n := count(texts, s); n != 1 {
				t.Errorf("%s: %q is there %d times, want once", c.name, s, n)
			}
		}
		for _, s := range c.never {
			if n := count(texts, s); n != 0 {
				t.Errorf("%s: %q is there", c.name, s)
			}
		}
	}
}

// What a report says is text, never markup, and cannot break the document.
func TestSVGOfHostileReport(t *testing.T) {
	nasty := "</text><script>alert(1)</script>\x00\x1b[31m\xff\u202e\ufffe\r\n&amp;]]>\"'font-family:Liberation Sans;"
	var reports []*results.Report
	for range 2 {
		r := gpuReport(nasty, 2, "gen4x16")
		r.Host.CPU.Model, r.Tool.Version = nasty, nasty
		for i := range r.Host.GPUs {
			r.Host.GPUs[i].Name = nasty
		}
		for i := range r.Results {
			p := &r.Results[i].Params
			if p.Text("device") == "cuda:1" {
				*p = p.With("device", nasty)
			}
			if p.Text("mem") == "pageable" {
				*p = p.With("mem", nasty)
			}
		}
		reports = append(reports, r)
	}
	charts, err := Charts(reports)
	if err != nil || len(charts) < 2 {
		t.Fatalf("%d charts, %v", len(charts), err)
	}
	for _, c := range charts {
		doc, texts := svgOf(t, c)
		if bytes.Contains(doc, []byte("<script")) {
			t.Errorf("%s: a script element", c.Name)
		}
		if !slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, "</text><scri") }) {
			t.Errorf("%s: the label is not drawn: %q", c.Name, texts)
		}
		if strings.ContainsAny(string(doc), "\x00\x1b\u202e\ufffe") {
			t.Errorf("%s: characters that are not to be drawn", c.Name)
		}
	}
}

// TestGolden compares drawings with those that someone looked at. Numbers may
// differ a little, as processors round.
func TestGolden(t *testing.T) {
	for name, reports := range map[string][]*results.Report{
		"assumed":  {simReport("")},
		"measured": {gpuReport("", 1, "gen4x16")},
		"nvme":     {nvmeReport("")},
		"hdd":      {hddReport("", "hdd")},
		"cpu":      {preprocessReport("", workstation)},
		"sim":      {simPipeReport("")},
		"gpu":      {gpuPipeReport("")},
		"model":    {verdictReport("")},
		"two":      fleet(3)[1:],
	} {
		charts, err := Charts(reports)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range charts {
			file := filepath.Join("testdata", name+"-"+c.Name+".svg")
			got, _ := svgOf(t, c)
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if d := difference(string(got), string(want)); d != "" {
				t.Errorf("%s: %s; look at the new picture, then run go test -update", file, d)
			}
		}
	}
}

var figures = regexp.MustCompile(`[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?`)

// difference is "" when documents are equal but for 0.05 in their numbers.
func difference(got, want string) string {
	have, need := strings.Split(got, "\n"), strings.Split(want, "\n")
	if len(have) != len(need) {
		return strconv.Itoa(len(have)) + " lines, want " + strconv.Itoa(len(need))
	}
	for i := range have {
		a, b := figures.FindAllString(have[i], -1), figures.FindAllString(need[i], -1)
		same := len(a) == len(b) && figures.ReplaceAllString(have[i], "#") == figures.ReplaceAllString(need[i], "#")
		for j := range min(len(a), len(b)) {
			x, _ := strconv.ParseFloat(a[j], 64)
			y, _ := strconv.ParseFloat(b[j], 64)
			same = same && math.Abs(x-y) <= 0.05
		}
		if !same {
			return "line " + strconv.Itoa(i+1) + ": " + have[i] + "; want " + need[i]
		}
	}
	return ""
}

func TestDifference(t *testing.T) {
	const doc = `<path d="M10,20.5" style="fill:#0072B2"/>`
	for _, same := range []string{doc, strings.Replace(doc, "20.5", "20.52", 1)} {
		if d := difference(same, doc); d != "" {
			t.Errorf("%s: %s", same, d)
		}
	}
	for _, other := range []string{strings.Replace(doc, "20.5", "20.6", 1), strings.Replace(doc, "B2", "B3", 1), strings.Replace(doc, "fill", "line", 1), doc + "\n"} {
		if difference(other, doc) == "" {
			t.Errorf("%s passes for %s", other, doc)
		}
	}
}
