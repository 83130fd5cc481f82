package loader

// Part returns n batches of p from batch i on, from the start again each time p ends.
// It panics when p has none.
func (p *Plan) Part(i, n int) *Plan {
	from := i % p.Len() * p.batch
	if to := from + n*p.batch; to <= len(p.order) {
		return &Plan{p.order[from:to:to], p.batch}
	}
	order := make([]int32, 0, n*p.batch)
	for len(order) < n*p.batch {
		order = append(order, p.order[from:min(len(p.order), from+n*p.batch-len(order))]...)
		from = 0
	}
	return &Plan{order, p.batch}
}
