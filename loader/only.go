package loader

import "slices"

// Without is s without some of its samples, given in their order; labels of a tensor
// store go with them.
func (s *Set) Without(samples []int32) *Set {
	t := *s
	t.Samples, t.Labels, t.Bytes = nil, nil, 0
	images := s.images()
	for i, x := range s.Samples {
		if _, found := slices.BinarySearch(samples, int32(i)); found {
			continue
		}
		t.Samples = append(t.Samples, x)
		t.Bytes += x.Len
		if at := i * images; s.Store == Tensor && at+images <= len(s.Labels) {
			t.Labels = append(t.Labels, s.Labels[at:at+images]...)
		}
	}
	return &t
}

// Only is s with these of its samples alone, in this order. Not for tensor stores with
// labels.
func (s *Set) Only(samples []int32) *Set {
	t := *s
	t.Samples, t.Labels, t.Bytes = make([]Sample, len(samples)), nil, 0
	for i, k := range samples {
		t.Samples[i] = s.Samples[k]
		t.Bytes += s.Samples[k].Len
	}
	return &t
}
