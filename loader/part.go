package loader

// Part returns the n batches of p from batch i on, from the start again where p ends,
// n at most Len.
func (p *Plan) Part(i, n int) *Plan {
	from := i % p.Len() * p.batch
	to := from + n*p.batch
	if to <= len(p.order) {
		return &Plan{p.order[from:to:to], p.batch}
	}
	order := append(append([]int32(nil), p.order[from:]...), p.order[:to-len(p.order)]...)
	return &Plan{order, p.batch}
}
