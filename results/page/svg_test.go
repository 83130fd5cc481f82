package page

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestInline(t *testing.T) {
	const (
		head = `<svg role="img" aria-labelledby="chart-7-title" aria-describedby="chart-7-text" viewBox="0 0 6 4">` +
			"\n"
		doc = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 6 4" role="presentation" onload="alert(1)">`
	)
	for _, c := range []struct{ name, svg, want, err string }{
		{"declaration, title and comment go",
			`<?xml version="1.0"?><!-- c -->` + doc +
				`<title>T</title><g id="a"><path d="M0,0L1,1"/></g></svg>`, head +
				`<g><path d="M0,0L1,1"></path></g></svg>`, ""},
		{"styles are classes", doc +
			`<path d="M0,0" style="fill:#FFFFFF;font-style:normal"/><text x="1" style="fill:#FFFFFF">a</text><text style="font-family:'Liberation Sans',Arial">b</text></svg>`,
			head + `<path d="M0,0" class="d0"></path><text x="1" class="d0">a</text><text class="d1">b</text></svg>`,
			""},
		{"styles that name something go",
			doc + `<path style="fill:url(http://x/);behavior:url(x);position:fixed;stroke:\75rl(x)" d="M0,0"/></svg>`,
			head + `<path d="M0,0"></path></svg>`, ""},
		{"attributes that are no numbers go",
			doc + `<path d="M0,0&quot;&gt;" onclick="x" transform="scale(1, -1)" href="x"/></svg>`, head +
				`<path transform="scale(1, -1)"></path></svg>`, ""},
		{"text stays text", doc + `<text>&lt;script&gt; &amp;amp; &quot;</text></svg>`,
			head + `<text>&lt;script&gt; &amp;amp; &#34;</text></svg>`, ""},
		{"script", doc + `<script>alert(1)</script></svg>`, "", `it has a "script" in it`},
		{"foreign", doc + `<foreignObject><p/></foreignObject></svg>`, "", `it has a "foreignObject" in it`},
		{"use", doc + `<use href="#x"/></svg>`, "", `it has a "use" in it`},
		{"page", `<html></html>`, "", `it is a "html"`},
		{"empty", ``, "", "it is empty"},
		{"cut off", doc + `<g>`, "", "unexpected EOF"},
	} {
		var styles classes
		got, _, err := inline([]byte(c.svg), 7, &styles)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: error %v, want %q", c.name, err, c.err)
			}
			continue
		}
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n%s, want\n%s", c.name, err, got, c.want)
		}
		if strings.Contains(c.want, "d1") &&
			styles.css() != ".d0{fill:#FFFFFF}\n.d1{font-family:'Liberation Sans',Arial}\n" {
			t.Errorf("%s: styles %q", c.name, styles.css())
		}
	}
}

// TestInlineKeepsDrawings holds what is inlined against what was drawn.
func TestInlineKeepsDrawings(t *testing.T) {
	files, _ := filepath.Glob("../chart/testdata/*.svg")
	if len(files) == 0 {
		t.Fatal("no drawings")
	}
	for _, f := range files {
		svg, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var styles classes
		got, texts, err := inline(svg, 1, &styles)
		if err != nil {
			t.Errorf("%s: %v", f, err)
			continue
		}
		for _, tag := range []string{"<path ", "<text ", "<g", "transform=", "d=\""} {
			if n, want := strings.Count(string(got), tag), strings.Count(string(svg), tag); n != want {
				t.Errorf("%s: %d of %q, want %d", f, n, tag, want)
			}
		}
		if n := strings.Count(string(got), `class="`); n != strings.Count(string(svg), `style="`) {
			t.Errorf("%s: %d classes for the styles", f, n)
		}
		if len(texts) != strings.Count(string(svg), "<text ") {
			t.Errorf("%s: %d texts", f, len(texts))
		}
	}
}

// FuzzInline: whatever comes in, nothing but a drawing comes out.
func FuzzInline(f *testing.F) {
	f.Add([]byte(`<svg viewBox="0 0 1 1"><g transform="scale(1)"><path d="M0,0" style="fill:#FFF"/><text x="1">a</text></g></svg>`))
	f.Add([]byte(`<svg><title>a</title><script/></svg>`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		var c classes
		svg, _, err := inline(doc, 1, &c)
		if err != nil {
			return
		}
		if css := c.css(); strings.ContainsAny(css, `<>\()@"`) {
			t.Errorf("styles %q", css)
		}
		d := xml.NewDecoder(strings.NewReader(string(svg)))
		for {
			tok, err := d.Token()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				t.Fatalf("%v in %q", err, svg)
			}
			if e, ok := tok.(xml.StartElement); ok && e.Name.Local != "svg" && !slices.Contains(drawn, e.Name.Local) {
				t.Errorf("element %s in %q", e.Name.Local, svg)
			}
		}
	})
}
