package bench

import (
	"slices"
	"strings"
)

// Want says which words are known, and which of them word may have been meant as: "want disk,
// pcie; did you mean disk?".
func Want(word string, known []string) string {
	return "want " + strings.Join(known, ", ") + DidYouMean(word, known)
}

// DidYouMean is "; did you mean disk?", "" where no known word is like this one.
func DidYouMean(word string, known []string) string {
	most := 1 // edits
	if len(word) > 3 {
		most = 2
	}
	meant := ""
	sorted := func(s string) string { return string(slices.Sorted(slices.Values([]byte(s)))) }
	lower := strings.ToLower(word)
	for _, k := range known {
		other := strings.ToLower(k)
		d := edits(lower, other)
		if len(lower) > 1 && strings.HasPrefix(other, lower) || len(other) > 1 && strings.HasPrefix(lower, other) {
			d = 0
		}
		if sorted(lower) == sorted(other) { // letters that changed places
			d = min(d, 1)
		}
		if d <= most && d < max(len(lower), len(other)) {
			meant, most = k, d-1
		}
	}
	if meant == "" {
		return ""
	}
	return "; did you mean " + meant + "?"
}

// edits is how many letters must be put in, left out or replaced to make one word of the other.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := before
			if a[i] != b[j] {
				replaced++
			}
			before = row[j+1]
			row[j+1] = min(replaced, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
