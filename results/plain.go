package results

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Plain makes one line of s that a terminal may print and XML may hold: line breaks
// and tabs become spaces, and other control, formatting and invisible characters, with
// which a report could move the cursor or turn text around, are dropped.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsGraphic(r):
			return r
		case unicode.IsSpace(r):
			return ' '
		}
		return -1
	}, s)
}

// Words is Plain with single spaces, cut to n characters.
func Words(s string, n int) string { return Clip(strings.Join(strings.Fields(Plain(s)), " "), n) }

// Clip cuts s to n characters, the last of which is an ellipsis then; 0 is no limit.
func Clip(s string, n int) string {
	if n <= 0 || utf8.RuneCountInString(s) <= n {
		return s
	}
	return strings.TrimRight(string([]rune(s)[:n-1]), " ") + "…"
}

// Plural is "1 sample" or "3 samples".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
