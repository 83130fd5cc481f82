package chart

import (
	"image/color"
	"slices"
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

// short makes a name from a report fit to stand next to others.
func short(s string) string { return results.Words(s, 36) }

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
	all := []rune(s)
	for n := len(all); width(sty, s) > most && n > 0; {
		n--
		s = strings.TrimRight(string(all[:n]), " ") + "…"
	}
	return s
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

// write draws s from x on, on the baseline y.
func write(c draw.Canvas, sty text.Style, x, y vg.Length, s string) {
	c.SetColor(sty.Color)
	c.FillString(sty.Handler.Cache().Lookup(sty.Font, sty.Font.Size), vg.Point{X: x, Y: y}, s)
}

// apart moves ascending positions to be at least gap from each other, within lo and hi
// as far as there is room.
func apart(at []vg.Length, gap, lo, hi vg.Length) []vg.Length {
	to := slices.Clone(at)
	for i := range to {
		to[i] = max(to[i], lo)
		lo = to[i] + gap
	}
	for i := len(to) - 1; i >= 0; i-- {
		to[i] = min(to[i], hi)
		hi = to[i] - gap
	}
	return to
}
