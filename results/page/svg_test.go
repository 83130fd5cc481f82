package page

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// svgOf is a document as package chart writes it.
func svgOf(body string) []byte {
	return fmt.Appendf(nil, `<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40" viewBox="0 0 60 40" role="img">
<title>x</title>
%s</svg>
`, body)
}

func TestInline(t *testing.T) {
	var styles classes
	got, texts := inline(svgOf(`<g><path d="M0,0" style="fill:#FFFFFF" />
<text x="1"
	style="font-family:'Liberation Sans',Arial">&lt;script&gt; &#39;</text><path style="fill:#FFFFFF" /></g>
`), 7, &styles)
	want := `<svg role="img" aria-labelledby="chart-7-title" aria-describedby="chart-7-text" ` +
		`width="60" height="40" viewBox="0 0 60 40">
<g><path d="M0,0" class="d0" />
<text x="1" class="d1">&lt;script&gt; &#39;</text><path class="d0" /></g>
</svg>
`
	if string(got) != want || !slices.Equal(texts, []string{"<script> '"}) {
		t.Errorf("have %s\nwith %q, want %s", got, texts, want)
	}
	if have := styles.css(); have != ".d0{fill:#FFFFFF}\n.d1{font-family:'Liberation Sans',Arial}\n" {
		t.Errorf("styles %q", have)
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
		got, texts := inline(svg, 1, &styles)
		for tag, now := range map[string]string{"<path ": "<path ", "<text ": "<text ", "<g": "<g",
			"transform=": "transform=", ` d="`: ` d="`, `style="`: `class="`, "<svg ": `<svg role="img" aria-`} {
			if n, want := strings.Count(string(got), now), strings.Count(string(svg), tag); n != want {
				t.Errorf("%s: %d of %q, want %d", f, n, now, want)
			}
		}
		if strings.Contains(string(got), "<?xml") || strings.Contains(string(got), "<title") ||
			len(texts) != strings.Count(string(svg), "<text ") {
			t.Errorf("%s: %d texts in %.80s", f, len(texts), got)
		}
	}
}
