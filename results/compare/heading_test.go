package compare

import (
	"slices"
	"testing"
)

// Columns that are called alike would let a reader take better for worse.
func TestHeadingsTellSidesApart(t *testing.T) {
	for _, test := range []struct{ labels, want []string }{
		{[]string{"old", "new"}, []string{"old", "new"}},
		{[]string{"a label of twenty-one", "b"}, []string{"a label of twenty-o…", "b"}},
		{[]string{"server-room-3-node-7-before", "server-room-3-node-7-after"}, []string{"…oom-3-node-7-before", "…room-3-node-7-after"}},
		{[]string{"server-room-3-node-7-before-the-latest-update", "server-room-3-node-8-before-the-latest-update"}, []string{"1 server-room-3-nod…", "2 server-room-3-nod…"}},
		{[]string{"a\x1b", "a"}, []string{"1 a", "2 a"}},
	} {
		var sides []Side
		for _, l := range test.labels {
			sides = append(sides, Side{Label: l})
		}
		if got := headings(sides); !slices.Equal(got, test.want) {
			t.Errorf("headings of %q are %q, want %q", test.labels, got, test.want)
		}
	}
}
