package results

import (
	"fmt"
	"strings"
	"unicode"
)

// Plain makes one line of s that a terminal may print: line breaks and tabs
// become spaces, and other control and formatting characters, with which a
// report could move the cursor or turn text around, are dropped.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r' || r == '\u2028' || r == '\u2029':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, s)
}

// Plural is "1 sample" or "3 samples".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
