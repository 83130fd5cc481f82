package loader

import (
	"slices"
	"testing"
)

func TestPart(t *testing.T) {
	p := &Plan{[]int32{0, 1, 2, 3, 4, 5}, 2}
	for _, c := range []struct {
		i, n int
		want []int32
	}{
		{0, 1, []int32{0, 1}},
		{1, 2, []int32{2, 3, 4, 5}},
		{2, 2, []int32{4, 5, 0, 1}},
		{5, 1, []int32{4, 5}}, // the third again
		{1, 7, []int32{2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 0, 1, 2, 3}},
		{0, 0, nil},
	} {
		part := p.Part(c.i, c.n)
		var got []int32
		for b := range part.Len() {
			got = append(got, part.Batch(b)...)
		}
		if part.Len() != c.n || !slices.Equal(got, c.want) {
			t.Errorf("Part(%d, %d): %d batches %v, want %v", c.i, c.n, part.Len(), got, c.want)
		}
	}
	if !slices.Equal(p.order, []int32{0, 1, 2, 3, 4, 5}) {
		t.Errorf("the plan has become %v", p.order)
	}
}
