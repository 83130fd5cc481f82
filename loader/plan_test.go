package loader

import (
	"fmt"
	"slices"
	"testing"
)

func flat(p *Plan) []int32 {
	var all []int32
	for i := range p.Len() {
		all = append(all, p.Batch(i)...)
	}
	return all
}

func count(n int) []int32 {
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// fakeSet has n samples in shards of the sizes given.
func fakeSet(kind string, shards ...int) *Set {
	s := &Set{Store: kind}
	for f, n := range shards {
		s.Files = append(s.Files, File{})
		for range n {
			s.Samples = append(s.Samples, Sample{File: int32(f)})
		}
	}
	return s
}

func TestPlanLength(t *testing.T) {
	for _, tt := range []struct {
		store           string
		n, batch        int
		batches, inEach int
	}{
		{Files, 10, 3, 3, 3}, {Files, 9, 3, 3, 3}, {Files, 2, 3, 0, 0}, {Files, 5, 1, 5, 1}, {Files, 5, 0, 0, 0},
		{Tensor, 4, 32, 4, 1}, {Tensor, 4, 0, 4, 1},
	} {
		p := fakeSet(tt.store, tt.n).Plan(Order{}, tt.batch)
		if p.Len() != tt.batches {
			t.Errorf("%+v: %d batches", tt, p.Len())
			continue
		}
		for i := range p.Len() {
			if b := p.Batch(i); len(b) != tt.inEach {
				t.Errorf("%+v: batch %d is %v", tt, i, b)
			}
		}
		if got := flat(p); !slices.Equal(got, count(tt.n)[:len(got)]) {
			t.Errorf("%+v: in order, but %v", tt, got)
		}
	}
}

func TestPlanShuffles(t *testing.T) {
	s := fakeSet(Raw, 1000)
	seen := map[string]Order{}
	for seed := range uint64(16) {
		o := Order{true, seed}
		p := flat(s.Plan(o, 10))
		if !slices.Equal(p, flat(s.Plan(o, 10))) {
			t.Fatalf("%+v: two plans differ", o)
		}
		key := fmt.Sprint(p[:20])
		if other, ok := seen[key]; ok {
			t.Errorf("%+v is the plan of %+v", o, other)
		}
		seen[key] = o
		slices.Sort(p)
		if !slices.Equal(p, count(1000)) {
			t.Fatalf("%+v: not each sample once", o)
		}
	}
}

// A plan is part of what makes a result comparable between machines and versions.
func TestPlanStays(t *testing.T) {
	got := flat(fakeSet(Files, 12).Plan(Order{Shuffle: true, Seed: 1}, 4))
	if want := []int32{5, 6, 8, 1, 2, 9, 3, 4, 10, 11, 0, 7}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestPlanOfShards(t *testing.T) {
	s := fakeSet(Tar, 3, 1, 4, 2, 5)
	differs := false
	for seed := range uint64(8) {
		p := flat(s.Plan(Order{Shuffle: true, Seed: seed}, 1))
		for i := 1; i < len(p); i++ {
			if s.Samples[p[i]].File == s.Samples[p[i-1]].File && p[i] != p[i-1]+1 {
				t.Fatalf("seed %d: %v is not in order within shards", seed, p)
			}
		}
		differs = differs || !slices.Equal(p, count(15))
		slices.Sort(p)
		if !slices.Equal(p, count(15)) {
			t.Fatalf("seed %d: not each sample once", seed)
		}
	}
	if !differs {
		t.Error("shards are never shuffled")
	}
}

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
		if got := flat(part); part.Len() != c.n || !slices.Equal(got, c.want) {
			t.Errorf("Part(%d, %d): %d batches %v, want %v", c.i, c.n, part.Len(), got, c.want)
		}
	}
	if !slices.Equal(p.order, []int32{0, 1, 2, 3, 4, 5}) {
		t.Errorf("the plan has become %v", p.order)
	}
}
