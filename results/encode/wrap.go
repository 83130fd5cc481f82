package encode

import (
	"io"
	"strings"
	"unicode/utf8"
)

// Wrap writes text in lines of at most width characters, the second and later
// ones indented by two. Words that are longer are broken.
func Wrap(w io.StringWriter, text string, width int) {
	column := 0
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case width > 0 && column+1+n > width:
			w.WriteString("\n  ")
			column = 2
		default:
			w.WriteString(" ")
			column++
		}
		for width > 0 && column+n > width {
			runes := []rune(word)
			w.WriteString(string(runes[:width-column]) + "\n  ")
			word = string(runes[width-column:])
			n, column = utf8.RuneCountInString(word), 2
		}
		w.WriteString(word)
		column += n
	}
	w.WriteString("\n")
}
