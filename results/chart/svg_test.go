package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math"
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
	if err := c.Write(&b, SVG); err != nil {
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
			plain := slices.Contains([]string{"svg", "title", "style", "g", "path", "text"}, in)
			for _, a := range tok.Attr {
				plain = plain && !strings.HasPrefix(a.Name.Local, "on") && !strings.HasSuffix(a.Name.Local, "href")
			}
			if !plain {
				t.Errorf("%s: element %v", c.Name, tok)
			}
		case xml.EndElement:
			in = ""
		case xml.CharData:
			if in == "text" {
				texts = append(texts, string(tok))
			}
		}
	}
}

// TestGolden compares drawings with those that someone looked at. Numbers may
// differ a little, as processors round.
func TestGolden(t *testing.T) {
	for name, reports := range map[string][]*results.Report{
		"measured": {gpuReport("", 1, "gen4x16")},
		"nvme":     {nvmeReport("")},
		"cpu":      {preprocessReport("", workstation)},
		"gpu":      {gpuPipeReport("")},
		"model":    {verdictReport("")},
		"two":      {verdictReport("a"), verdictReport("b")},
		"loaders":  {loadersReport("")},
	} {
		charts := Charts(reports)
		if files, _ := filepath.Glob("testdata/" + name + "-[pdvl]*.svg"); len(files) != len(charts) {
			t.Errorf("%s: %d charts, want those of %q", name, len(charts), files)
		}
		for _, c := range charts {
			got, _ := svgOf(t, c)
			file := name + "-" + c.Name + ".svg"
			if d := difference(string(got), fileOf(t, file, string(got))); d != "" {
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
