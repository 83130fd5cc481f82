package results

import (
	"fmt"
	"strings"
	"unicode"
)

// note is something to say of a case, and how many more it is true of.
type note struct {
	kind, name, text string
	more             int
}

// note adds a line below the table, or one more case to the line that says the
// same.
func (t *table) note(kind, name, text string) {
	for i := range t.notes {
		if n := &t.notes[i]; n.kind == kind && n.text == text {
			n.more++
			return
		}
	}
	t.notes = append(t.notes, note{kind: kind, name: name, text: text})
}

// String returns "skipped: pcie/... and 3 more: no CUDA device".
func (n note) String() string {
	s := plain(n.kind) + ": " + plain(n.name)
	if n.more > 0 {
		s += fmt.Sprintf(" and %d more", n.more)
	}
	return s + ": " + plain(n.text)
}

// findingText is a finding as a sentence: "A9 (loading ahead) holds: ...".
func findingText(f Finding) string {
	s := plain(f.Claim)
	if t := ClaimTitle(f.Claim); t != "" {
		s += " (" + t + ")"
	}
	s += " " + strings.ReplaceAll(plain(f.Verdict), "-", " ")
	if len(f.Assumed) > 0 {
		s += " (assumed: " + plain(strings.Join(f.Assumed, ", ")) + ")"
	}
	return s + ": " + plain(f.Text)
}

// plain makes one line of s that a terminal may print: line breaks and tabs
// become spaces, and other control and formatting characters, with which a
// report could move the cursor or turn text around, are dropped.
func plain(s string) string {
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
