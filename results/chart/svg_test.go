package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dlbench/results"
	"dlbench/results/golden"
)

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
			doc, _ := svgOf(t, c)
			golden.CheckLines(t, "testdata/"+name+"-"+c.Name+".svg", doc, alike)
		}
	}
}

var figures = regexp.MustCompile(`[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?`)

// alike reports whether lines are equal but for 0.05 in their numbers.
func alike(have, want string) bool {
	a, b := figures.FindAllString(have, -1), figures.FindAllString(want, -1)
	same := len(a) == len(b) && figures.ReplaceAllString(have, "#") == figures.ReplaceAllString(want, "#")
	for i := range min(len(a), len(b)) {
		x, _ := strconv.ParseFloat(a[i], 64)
		y, _ := strconv.ParseFloat(b[i], 64)
		same = same && math.Abs(x-y) <= 0.05
	}
	return same
}
