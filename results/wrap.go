package results

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// clip cuts a line to width characters.
func clip(line string, width int) string {
	if width <= 0 || utf8.RuneCountInString(line) <= width {
		return line
	}
	return string([]rune(line)[:width-1]) + "…"
}

// wrap writes text in lines of at most width characters, the second and later
// ones indented by two. Words that are longer are broken.
func wrap(b *bytes.Buffer, text string, width int) {
	column := 0
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case width > 0 && column+1+n > width:
			b.WriteString("\n  ")
			column = 2
		default:
			b.WriteByte(' ')
			column++
		}
		for width > 0 && column+n > width {
			runes := []rune(word)
			b.WriteString(string(runes[:width-column]) + "\n  ")
			word = string(runes[width-column:])
			n, column = utf8.RuneCountInString(word), 2
		}
		b.WriteString(word)
		column += n
	}
	b.WriteByte('\n')
}
