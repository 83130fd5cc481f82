package encode

import (
	"fmt"
	"strings"

	"dlbench/results"
)

// Note is something to say of a case, and of More others alike.
type Note struct {
	Kind string // Failed, Skipped, "warning", "error", "no <metric>"
	Name string // of the case
	Text string
	More int
}

// AddNote adds a line below the table, or one more case to the line that says the
// same.
func (t *Table) AddNote(kind, name, text string) {
	kind, text = results.Plain(kind), results.Plain(text)
	for i := range t.Notes {
		if n := &t.Notes[i]; n.Kind == kind && n.Text == text {
			n.More++
			return
		}
	}
	t.Notes = append(t.Notes, Note{Kind: kind, Name: results.Plain(name), Text: text})
}

// String returns "skipped: pcie/... and 3 more: no CUDA device".
func (n Note) String() string {
	s := n.Kind + ": " + n.Name
	if n.More > 0 {
		s += fmt.Sprintf(" and %d more", n.More)
	}
	return s + ": " + n.Text
}

// findingText is a finding as a sentence: "A9 (loading ahead) holds: ...".
func findingText(f results.Finding) string {
	s := results.Plain(f.Claim)
	if t := results.ClaimTitle(f.Claim); t != "" {
		s += " (" + t + ")"
	}
	s += " " + strings.ReplaceAll(results.Plain(f.Verdict), "-", " ")
	if len(f.Assumed) > 0 {
		s += " (assumed: " + results.Plain(strings.Join(f.Assumed, ", ")) + ")"
	}
	return s + ": " + results.Plain(f.Text)
}
