package chart

import (
	"image/color"
	"slices"
	"sort"
	"strings"
	"unicode"

	stdfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"dlbench/results"
)

// maxRunes bounds a text from a report before its width is measured.
const maxRunes = 200

// clean makes a text from a report fit to draw.
func clean(s string) string { return results.Words(s, maxRunes) }

// letters returns the style of text that is size pixels high, aligned left.
func letters(size float64, c color.Color) text.Style {
	return text.Style{
		Color:   c,
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Length(size) * px},
		Handler: plot.DefaultTextHandler,
	}
}

func bold(s text.Style) text.Style {
	s.Font.Weight = stdfont.WeightBold
	return s
}

func aligned(s text.Style, x text.XAlignment) text.Style {
	s.XAlign = x
	return s
}

// lineHeight is the distance of two lines of text.
func lineHeight(s text.Style) vg.Length { return 1.3 * s.Font.Size }

// width of s in that style. A character that the font lacks counts as one em: a
// viewer takes it from another font, in which it may be that wide.
func width(sty text.Style, s string) vg.Length {
	face := sty.Handler.Cache().Lookup(sty.Font, sty.Font.Size)
	w := face.Width(s)
	for _, r := range s {
		if lacks(face, r) {
			w += sty.Font.Size - face.Width(string(r))
		}
	}
	return w
}

// lacks reports whether the font has no picture of r.
func lacks(face font.Face, r rune) bool {
	if r <= unicode.MaxASCII {
		return false
	}
	i, err := face.Face.GlyphIndex(nil, r)
	return err == nil && i == 0
}

// fit shortens s with an ellipsis to what is at most that wide.
func fit(sty text.Style, s string, most vg.Length) string {
	if width(sty, s) <= most {
		return s
	}
	r := []rune(s)
	short := func(n int) string { return strings.TrimRight(string(r[:n]), " ") + "…" }
	n := sort.Search(len(r), func(n int) bool { return width(sty, short(n)) > most })
	return short(max(n-1, 0))
}

// wrap joins parts with sep into lines at most max wide; a part that is wider is
// shortened.
func wrap(sty text.Style, parts []string, sep string, max vg.Length) []string {
	var lines []string
	for _, p := range parts {
		p = fit(sty, p, max)
		if n := len(lines); n > 0 && width(sty, lines[n-1]+sep+p) <= max {
			lines[n-1] += sep + p
		} else {
			lines = append(lines, p)
		}
	}
	return lines
}

// write draws s on the baseline y; x is its left end, middle or right end as the
// style says. It returns the rectangle that it covers.
func write(c draw.Canvas, sty text.Style, x, y vg.Length, s string) vg.Rectangle {
	r := covers(sty, x, y, s)
	face := sty.Handler.Cache().Lookup(sty.Font, sty.Font.Size)
	c.SetColor(sty.Color)
	c.FillString(face, vg.Point{X: r.Min.X, Y: y}, s)
	return r
}

// covers returns the rectangle in which write would draw.
func covers(sty text.Style, x, y vg.Length, s string) vg.Rectangle {
	w, e := width(sty, s), sty.FontExtents()
	x += vg.Length(sty.XAlign) * w
	return vg.Rectangle{Min: vg.Point{X: x, Y: y - e.Descent}, Max: vg.Point{X: x + w, Y: y + e.Ascent}}
}

// apart moves ascending positions to be at least gap from each other, within lo and hi
// as far as there is room.
func apart(at []vg.Length, gap, lo, hi vg.Length) []vg.Length {
	to := slices.Clone(at)
	for i := range to {
		to[i] = max(to[i], lo)
		if i > 0 {
			to[i] = max(to[i], to[i-1]+gap)
		}
	}
	for i := len(to) - 1; i >= 0; i-- {
		if to[i] > hi {
			to[i] = hi
		}
		hi = to[i] - gap
	}
	return to
}
